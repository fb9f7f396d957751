//! Requests of the cases, as iterators, and the one place that turns them into the core's requests.

use std::io::Read;

use farweb::rng::{Exponential, LogNormal, Pareto, RandomStream, RandomStreams};
use farweb::units::{Duration, Instant};
use farweb::workload::{Caching, Directory, Method, OriginTime, Request, RequestSource, WorkloadError};

/// A request of a case. The other fields are the same for all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) start: Instant,
    pub(crate) response_bytes: u64,
    /// Time that the origin takes.
    pub(crate) server: Option<Duration>,
    /// Node that serves it. The last when left out.
    pub(crate) source: Option<&'static str>,
}

/// The requests of a case, in order.
pub(crate) struct Requests(pub(crate) Box<dyn Iterator<Item = Asked>>);

impl RequestSource for Requests {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        Ok(self.0.next().map(|asked| Request {
            start: asked.start,
            host: directory.host("server"),
            request_bytes: 300,
            response_bytes: asked.response_bytes,
            server: asked.server.map_or(OriginTime::NONE, OriginTime::new),
            source: asked.source.map(|source| directory.sources.symbol(source)),
            tag: None,
            day: None,
            client: None,
            method: Method::Get,
            caching: Caching::Store,
            tls: None,
            object: None,
        }))
    }
}

/// Mean size of the responses of [`web`], in bytes.
pub(crate) const WEB_MEAN_BYTES: f64 = 12_000.0;

/// Web requests by a Poisson process of `rate` a second for `length_s` seconds.
///
/// Sizes have a lognormal body and a Pareto tail, ProWGen's of 2002 with a tail that gives a mean of 12 kB.
pub(crate) fn web(rate: f64, length_s: f64, seed: u64) -> Requests {
    let mut random = RandomStreams::new(seed).stream("web load", 0);
    let gap = Exponential::new(1.0 / rate).expect("a mean above zero");
    let body = LogNormal::from_mu_sigma(8.2317, 1.1153).expect("a deviation above zero");
    let tail = Pareto::bounded(10_000.0, 1.54, 20e6).expect("a shape above zero");
    let size = move |random: &mut RandomStream| {
        let size = if random.happens(0.22) { tail.sample(random) } else { body.sample(random) };
        (size as u64).max(100)
    };
    let mut now_s = 0.0;
    Requests(Box::new(std::iter::from_fn(move || {
        now_s += gap.sample(&mut random);
        (now_s <= length_s).then(|| Asked {
            start: at(now_s),
            response_bytes: size(&mut random),
            server: None,
            source: None,
        })
    })))
}

/// `count` requests for `response_bytes` each, `gap_s` apart.
pub(crate) fn equal(count: u32, response_bytes: u64, gap_s: f64, server: Option<Duration>) -> Requests {
    Requests(Box::new((0..count).map(move |number| Asked {
        start: at(f64::from(number) * gap_s),
        response_bytes,
        server,
        source: None,
    })))
}

/// The 5,000 transfers of the example of a cache hierarchy, `times` times one after the other.
pub(crate) fn hierarchy(times: u64) -> Requests {
    const PACKED: &[u8] = include_bytes!("../../../../examples/cache-hierarchy.csv.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(PACKED).read_to_string(&mut text).expect("a gzip file of text");
    let rows: Vec<Asked> = text.lines().skip(1).map(transfer).collect();
    let length = rows.last().expect("transfers").start - Instant::ZERO;
    Requests(Box::new((0..times).flat_map(move |turn| {
        let shift = Duration::from_nanos(turn * length.as_nanos());
        rows.clone().into_iter().map(move |row| Asked { start: row.start + shift, ..row })
    })))
}

/// A row of the example: `start_s,host,request_bytes,response_bytes,source`.
fn transfer(line: &str) -> Asked {
    let fields: Vec<&str> = line.split(',').collect();
    let [start_s, _, _, bytes, source] = fields[..] else { panic!("five columns in {line}") };
    let nodes = ["child", "parent", "server"];
    Asked {
        start: at(start_s.parse().expect("a time")),
        response_bytes: bytes.parse().expect("a size"),
        server: None,
        source: nodes.into_iter().find(|node| *node == source),
    }
}

fn at(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds).expect("within the range of times")
}
