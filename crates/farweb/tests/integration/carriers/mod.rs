//! Any chain of carriers over any path: every byte of every message arrives exactly once on every leg, every request ends
//! once, no packet is lost track of, and connections are within their limits.

mod chain;
mod lost;
mod snapshot;
mod wire;

use std::collections::{BTreeMap, BTreeSet};

use farweb::record::{Failure, NULL_CODE, NULL_INT, Status};
use farweb::world::Direction;
use proptest::prelude::*;

use crate::run::{Tables, check_failures, codes, ints};
use chain::{Carrier, Chain, Era, Leg, Path, Run, chain};
use wire::{Wire, listen};

type Checked = Result<(), TestCaseError>;

/// The row of a request on a leg, by column.
struct Row<'t> {
    tables: &'t Tables,
    place: usize,
}

impl Row<'_> {
    /// The value in `column`, unless it is null.
    fn get(&self, column: &str) -> Option<i64> {
        Some(ints(self.tables, "exchanges", column)[self.place]).filter(|value| *value != NULL_INT)
    }
}

/// A run, its rows by request and leg, and its connections as the wire shows them.
struct Seen<'c> {
    chain: &'c Chain,
    run: Run,
    wires: BTreeMap<i64, Wire>,
    /// Place of the row of a request on a leg. The last one if it was sent again on a leg before.
    rows: BTreeMap<(i64, i64), usize>,
}

impl<'c> Seen<'c> {
    fn new(chain: &'c Chain) -> Result<Self, TestCaseError> {
        let run = chain.run()?;
        let wires = listen(&run.tables);
        let requests = ints(&run.tables, "exchanges", "request").iter().copied();
        let legs = ints(&run.tables, "exchanges", "leg").iter().copied();
        let rows = requests.zip(legs).enumerate().map(|(place, row)| (row, place)).collect();
        Ok(Self { chain, run, wires, rows })
    }

    fn row(&self, request: i64, leg: usize) -> Option<Row<'_>> {
        let place = *self.rows.get(&(request, leg as i64))?;
        Some(Row { tables: &self.run.tables, place })
    }

    fn connections(&self, column: &str) -> &[i64] {
        ints(&self.run.tables, "connections", column)
    }

    /// The rows of the connections of a leg.
    fn of_leg(&self, leg: usize) -> impl Iterator<Item = usize> {
        self.connections("leg").iter().enumerate().filter(move |row| *row.1 == leg as i64).map(|row| row.0)
    }

    /// The sum of `of` over both directions' halves of all connections of a leg.
    fn halves(&self, leg: usize, direction: Direction, of: impl Fn(&wire::Half) -> u64) -> u64 {
        let numbers = self.of_leg(leg).map(|row| self.connections("connection")[row]);
        numbers
            .filter_map(|number| self.wires.get(&number))
            .map(|wire| of(&wire.halves[direction as usize]))
            .sum()
    }

    fn is_done(&self) -> bool {
        codes(&self.run.tables, "requests", "status").iter().all(|status| *status == Status::Done as i32)
    }

    fn resent(&self) -> i64 {
        ints(&self.run.tables, "exchanges", "resent").iter().sum()
    }

    /// Every request ends once, and has one row on each leg that it reached.
    fn check_requests(&self) -> Checked {
        let asked = self.chain.requests.len();
        let progress = &self.run.progress;
        prop_assert_eq!(progress.requests_started, asked as u64);
        prop_assert_eq!(progress.requests_finished + progress.requests_failed, asked as u64);
        let requests: BTreeSet<_> = ints(&self.run.tables, "requests", "request").iter().copied().collect();
        prop_assert_eq!(requests.len(), asked);
        prop_assert_eq!(ints(&self.run.tables, "requests", "request").len(), asked);
        let done = codes(&self.run.tables, "requests", "status").iter();
        let done = done.filter(|status| **status == Status::Done as i32).count();
        prop_assert_eq!(progress.requests_finished, done as u64);
        check_failures(&self.run.tables)?;
        if self.resent() == 0 {
            prop_assert_eq!(self.rows.len(), ints(&self.run.tables, "exchanges", "request").len());
        }
        for request in 0..asked as i64 {
            prop_assert!(self.row(request, 0).is_some(), "request {} has no row on the first leg", request);
        }
        Ok(())
    }

    /// The times of a request on its legs are in causal order.
    fn check_times(&self) -> Checked {
        let tables = &self.run.tables;
        for (place, request) in ints(tables, "requests", "request").iter().copied().enumerate() {
            let of_request =
                |column| Some(ints(tables, "requests", column)[place]).filter(|at| *at != NULL_INT);
            let is_done = codes(tables, "requests", "status")[place] == Status::Done as i32;
            let mut below: Option<Row<'_>> = None;
            for leg in 0..self.chain.legs.len() {
                let Some(row) = self.row(request, leg) else {
                    prop_assert!(!is_done, "request {} is done and not on leg {}", request, leg);
                    break;
                };
                let times: Vec<_> =
                    ["start_ns", "connect_ns", "requested_ns", "ready_first_ns", "ready_last_ns"]
                        .iter()
                        .map(|column| row.get(column))
                        .collect();
                prop_assert!(
                    times.iter().flatten().is_sorted(),
                    "request {} on leg {}: {:?}",
                    request,
                    leg,
                    times
                );
                let (ready, sent) = (row.get("ready_last_ns"), row.get("sent_last_ns"));
                let (first, end) = (row.get("first_byte_ns"), row.get("end_ns"));
                prop_assert!(sent.is_none_or(|sent| ready.is_some_and(|ready| ready <= sent)));
                prop_assert!(end.is_none_or(|end| first.is_some_and(|first| first <= end)));
                prop_assert!(end.is_none_or(|end| sent.is_some_and(|sent| sent <= end)));
                if is_done {
                    prop_assert!(times.iter().all(Option::is_some) && end.is_some(), "request {}", request);
                }
                match &below {
                    None => {
                        prop_assert_eq!(row.get("start_ns"), of_request("start_ns"));
                        prop_assert_eq!(first, of_request("first_byte_ns"));
                        prop_assert_eq!(end, of_request("end_ns"));
                        let carried = row.get("connection_down").or(row.get("connection_up"));
                        prop_assert_eq!(carried, of_request("connection"));
                    }
                    // A request that is sent again has several rows on the legs above.
                    Some(_) if self.resent() > 0 => {}
                    Some(below) => {
                        prop_assert_eq!(row.get("start_ns"), below.get("requested_ns"));
                        prop_assert_eq!(first, below.get("ready_first_ns"));
                        prop_assert_eq!(end, below.get("ready_last_ns"));
                    }
                }
                below = Some(row);
            }
        }
        Ok(())
    }

    /// A connection that belongs to a host carries requests to that host only. On the last leg each belongs to one.
    fn check_hosts(&self) -> Checked {
        let of_request = codes(&self.run.tables, "requests", "host");
        let of_connection = codes(&self.run.tables, "connections", "host");
        let place = |table, column, number| {
            ints(&self.run.tables, table, column)
                .iter()
                .position(|other| *other == number)
                .expect("it has a row")
        };
        for (request, leg) in self.rows.keys().copied() {
            let row = self.row(request, leg as usize).expect("listed");
            let Some(connection) = row.get("connection_up") else {
                continue;
            };
            let host = of_connection[place("connections", "connection", connection)];
            let is_last = leg as usize + 1 == self.chain.legs.len();
            prop_assert!(host != NULL_CODE || !is_last, "connection {} is for nobody", connection);
            let wanted = of_request[place("requests", "request", request)];
            prop_assert!(
                host == NULL_CODE || host == wanted,
                "request {} on connection {}",
                request,
                connection
            );
        }
        Ok(())
    }

    /// Packets into each link = packets out + drops, and they came from the leg's ends or from the link before.
    fn check_packets(&self) -> Checked {
        let packets = |link: usize, direction| {
            let found =
                self.run.links.iter().find(|totals| totals.link == link && totals.direction == direction);
            let stats = found.expect("every link has totals").stats;
            (stats.packets, stats.packets + stats.drops())
        };
        let mut first = 0;
        for (leg, own) in self.chain.legs.iter().enumerate() {
            let last = first + own.links.len() - 1;
            for (direction, column) in [(Direction::Up, "segments_up"), (Direction::Down, "segments_down")] {
                let sent: i64 = self.of_leg(leg).map(|row| self.connections(column)[row]).sum();
                let mut order: Vec<usize> = (first..=last).collect();
                if direction == Direction::Down {
                    order.reverse();
                }
                let mut given = sent as u64;
                for link in order {
                    let (out, reached) = packets(link, direction);
                    prop_assert_eq!(reached, given, "{:?} into link {}", direction, link);
                    given = out;
                }
            }
            first = last + 1;
        }
        let hops: u64 = self.run.links.iter().map(|totals| totals.stats.packets).sum();
        prop_assert_eq!(self.run.progress.packet_hops, hops);
        Ok(())
    }

    /// If every request was answered and none sent again, each leg carried exactly the messages and the framing of its rule,
    /// and all of it arrived.
    fn check_bytes(&self, path: Path) -> Checked {
        for wire in self.wires.values() {
            prop_assert!(wire.halves.iter().all(|half| half.arrived <= half.sent));
        }
        if !self.is_done() || self.resent() > 0 {
            return Ok(());
        }
        let up: u64 = self.chain.requests.iter().map(|ask| ask.request).sum();
        let down: u64 = self.chain.requests.iter().map(|ask| ask.response).sum();
        for leg in 0..self.chain.legs.len() {
            if !self.chain.legs[leg].is_counted() {
                continue;
            }
            self.check_arrival(leg, Direction::Up)?;
            self.check_arrival(leg, Direction::Down)?;
            let requests = self.halves(leg, Direction::Up, |half| half.sent);
            match self.chain.legs[leg].carrier {
                // SYN, a header and FIN for each.
                Carrier::WebMux { .. } => {
                    prop_assert!(
                        requests >= up + 16 * self.chain.requests.len() as u64,
                        "{} of {} B up",
                        requests,
                        up
                    );
                }
                _ => prop_assert_eq!(requests, up, "up on leg {}", leg),
            }
            let sent = self.halves(leg, Direction::Down, |half| half.sent);
            prop_assert!(sent >= down, "{} of {} B on leg {}", sent, down, leg);
            self.check_framing(path, leg, down, sent - down)?;
        }
        Ok(())
    }

    /// All bytes sent on each connection of a leg arrived. Exception: the client end of W3C MUX closes its socket when no
    /// session is open, as Jigsaw does. It resets the connection if a grant of the other end comes after that (RFC 1122,
    /// section 4.2.2.13), and gives it up if all copies of a segment are lost, unnoticed by the other end. Only frames
    /// behind the last payload are lost then.
    fn check_arrival(&self, leg: usize, direction: Direction) -> Checked {
        let is_mux = matches!(self.chain.legs[leg].carrier, Carrier::WebMux { .. });
        for row in self.of_leg(leg) {
            let number = self.connections("connection")[row];
            let Some(wire) = self.wires.get(&number) else {
                continue;
            };
            let half = &wire.halves[direction as usize];
            let is_cut = wire.is_reset || self.connections("close_ns")[row] == NULL_INT;
            let owed = if is_mux && is_cut { self.payload_end(number, direction) } else { half.sent };
            prop_assert!(
                half.arrived >= owed,
                "{} of {} B {:?} on connection {} of leg {}",
                half.arrived,
                owed,
                direction,
                number,
                leg
            );
        }
        Ok(())
    }

    /// Bytes of a direction of a connection with W3C MUX up to the end of its last payload. A fragment has a header of 4 B.
    fn payload_end(&self, connection: i64, direction: Direction) -> u64 {
        let column = |name| ints(&self.run.tables, "frames", name);
        let (numbers, seqs, data) = (column("connection"), column("seq"), column("data_bytes"));
        let directions = codes(&self.run.tables, "frames", "direction");
        let with_payload = (0..numbers.len()).filter(|row| {
            numbers[*row] == connection && directions[*row] == direction as i32 && data[*row] > 0
        });
        with_payload.map(|row| (seqs[row] - 1 + 4 + data[row]) as u64).max().unwrap_or(0)
    }

    /// Checks that the carrier of a leg adds `framing` bytes to `payload`.
    fn check_framing(&self, path: Path, leg: usize, payload: u64, framing: u64) -> Checked {
        if let Carrier::WebMux { .. } = &self.chain.legs[leg].carrier {
            // A header for each response, and a FIN.
            prop_assert!(framing >= 8 * self.chain.requests.len() as u64, "{} on leg {}", framing, leg);
            return Ok(());
        }
        let Carrier::Mux { overhead, .. } = &self.chain.legs[leg].carrier else {
            prop_assert_eq!(framing, 0, "on leg {}", leg);
            return Ok(());
        };
        let share = match *overhead {
            "none" => Some(0),
            "2 %" => Some(payload * 2 / 100),
            "0.01 %" => Some(payload / 10_000),
            _ => None,
        };
        if let Some(share) = share {
            prop_assert_eq!(framing, share, "on leg {}", leg);
            return Ok(());
        }
        let each = match *overhead {
            "7 B" => 7,
            "20 B" => 20,
            other => panic!("{other} has no rule here"),
        };
        let segments = self.halves(leg + 1, Direction::Down, |half| half.news);
        let is_plain = self.chain.legs[leg + 1].is_bare();
        let least = (self.chain.requests.len() as u64).max(payload.div_ceil(1460));
        let reads_at_once = !self.chain.legs[leg + 1].application.contains("wake");
        match (path, is_plain) {
            // Each segment is read when it comes, and is of one response.
            (Path::Smooth, true) if reads_at_once => {
                prop_assert_eq!(framing, each * segments, "on leg {}", leg);
            }
            // What fills a gap, or comes while the reader wakes, is read with what stood behind it, and counts as the full
            // segments that it would fill.
            (_, true) => prop_assert!((each * least..=each * segments).contains(&framing)),
            // A segment of a mux may have parts of several responses.
            (_, false) => prop_assert!(framing >= each * least),
        }
        prop_assert!(framing.is_multiple_of(each));
        Ok(())
    }

    /// Connections carry as many requests as their carrier allows, and are there as long as the counts of the leg say.
    fn check_connections(&self, path: Path) -> Checked {
        let end = self.run.progress.now.as_nanos() as i64;
        for (leg, Leg { carrier, .. }) in self.chain.legs.iter().enumerate() {
            let (mut open, mut busy, mut carried) = (0, 0, 0);
            for row in self.of_leg(leg) {
                let column = |name| self.connections(name)[row];
                let closed = Some(column("close_ns")).filter(|at| *at != NULL_INT).unwrap_or(end);
                let life = closed - column("open_ns");
                prop_assert!((0..=life).contains(&column("busy_ns")), "{} of {}", column("busy_ns"), life);
                match carrier {
                    Carrier::Http10 { .. } => {
                        prop_assert!(column("requests") == 1 && column("requests_max") == 1);
                    }
                    Carrier::Http11 { .. } => {
                        prop_assert!(column("requests") >= 1 && column("requests_max") == 1);
                    }
                    Carrier::Mux { .. } | Carrier::WebMux { .. } | Carrier::Http2 { .. } => {
                        prop_assert!(column("requests_max") <= column("requests"));
                    }
                }
                open += life;
                busy += column("busy_ns");
                carried += column("requests");
            }
            let stats = &self.run.measured.legs[leg];
            prop_assert_eq!(
                (stats.open.nanos, stats.busy.nanos),
                (open as u128, busy as u128),
                "leg {}",
                leg
            );
            if path == Path::Smooth {
                self.check_numbers(leg, carrier, carried)?;
            }
        }
        Ok(())
    }

    /// Number of connections of a leg without failures.
    fn check_numbers(&self, leg: usize, carrier: &Carrier, carried: i64) -> Checked {
        let asked = self.chain.requests.len() as i64;
        let rows: Vec<usize> = self.of_leg(leg).collect();
        match carrier {
            Carrier::Http10 { .. } if self.resent() == 0 => prop_assert_eq!(rows.len() as i64, asked),
            Carrier::Http10 { .. } => prop_assert!(rows.len() as i64 >= asked),
            Carrier::Mux { connections, .. } | Carrier::Http2 { connections, is_fixed: true, .. } => {
                prop_assert_eq!(rows.len(), *connections as usize);
            }
            // One that is being closed may overlap with the next.
            Carrier::Http2 { .. } => {
                prop_assert_eq!(carried, asked);
                prop_assert!(rows.iter().all(|row| self.connections("requests")[*row] >= 1));
            }
            Carrier::WebMux { .. } => {
                let hosts: BTreeSet<_> =
                    rows.iter().map(|row| codes(&self.run.tables, "connections", "host")[*row]).collect();
                prop_assert_eq!(rows.len(), hosts.len(), "a connection to each host");
            }
            Carrier::Http11 { per_host, total, .. } => {
                prop_assert!(carried >= asked);
                prop_assert!(total.is_none_or(|most| self.most_at_once(&rows) <= most as usize));
                let mut by_host: BTreeMap<i32, Vec<usize>> = BTreeMap::new();
                for row in rows {
                    let host = codes(&self.run.tables, "connections", "host")[row];
                    by_host.entry(host).or_default().push(row);
                }
                for rows in by_host.values() {
                    prop_assert!(per_host.is_none_or(|most| self.most_at_once(rows) <= most as usize));
                }
            }
        }
        Ok(())
    }

    /// Largest number of these connections at once, from the first SYN to their end at the client.
    fn most_at_once(&self, rows: &[usize]) -> usize {
        let mut changes = Vec::new();
        for row in rows {
            changes.push((self.connections("open_ns")[*row], 1));
            let wire = &self.wires[&self.connections("connection")[*row]];
            changes.extend(wire.ends_at.map(|at| (at, -1)));
        }
        // An end at an instant makes room for a beginning at the same instant.
        changes.sort_unstable();
        let mut now = 0_isize;
        let counts = changes.iter().map(|(_, change)| {
            now += change;
            now
        });
        counts.max().unwrap_or(0) as usize
    }

    fn check(&self, path: Path) -> Checked {
        self.check_requests()?;
        self.check_times()?;
        self.check_hosts()?;
        self.check_packets()?;
        self.check_bytes(path)?;
        self.check_connections(path)
    }
}

/// A quarter of the usual number of cases: a case is a run of up to half a million events.
fn few() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases / 4, max_shrink_iters: 400, ..usual }
}

proptest! {
    #![proptest_config(few())]

    #[test]
    fn on_a_smooth_path_every_byte_arrives_once_through_any_chain(chain in chain(Path::Smooth, Era::Plain)) {
        let seen = Seen::new(&chain)?;
        prop_assert!(seen.is_done(), "a request failed where nothing is lost");
        seen.check(Path::Smooth)?;
    }

    #[test]
    fn on_a_rough_path_nothing_is_lost_track_of_through_any_chain(chain in chain(Path::Rough, Era::Plain)) {
        Seen::new(&chain)?.check(Path::Rough)?;
    }

    #[test]
    fn on_a_smooth_path_every_request_ends_through_any_chain_with_http2_and_tls(
        chain in chain(Path::Smooth, Era::Modern),
    ) {
        let seen = Seen::new(&chain)?;
        prop_assert!(seen.is_done(), "a request failed where nothing is lost");
        seen.check(Path::Smooth)?;
    }

    #[test]
    fn on_a_rough_path_nothing_is_lost_track_of_with_http2_and_tls(chain in chain(Path::Rough, Era::Modern)) {
        Seen::new(&chain)?.check(Path::Rough)?;
    }

    #[test]
    fn no_request_lasts_longer_than_its_client_waits(
        chain in chain(Path::Rough, Era::Modern),
        patience in prop::sample::select(vec![1, 150, 700, 3000, 20_000]),
    ) {
        let mut chain = chain;
        chain.patience = Some(patience);
        let seen = Seen::new(&chain)?;
        seen.check_requests()?;
        seen.check_times()?;
        seen.check_packets()?;
        seen.check_connections(Path::Rough)?;
        let [starts, ends, failed] = ["start_ns", "end_ns", "failed_ns"].map(|column| ints(&seen.run.tables, "requests", column));
        for ((start, end), failed) in starts.iter().zip(ends).zip(failed) {
            prop_assert!(end.max(failed) - start <= patience as i64 * 1_000_000);
        }
        let causes = codes(&seen.run.tables, "requests", "failure");
        prop_assert!(causes.iter().all(|cause| *cause != Failure::RunEnded as i32), "each ended before the run");
    }

    #[test]
    fn one_seed_gives_one_result_through_any_chain(chain in chain(Path::Rough, Era::Modern)) {
        let (one, two) = (chain.run()?, chain.run()?);
        prop_assert_eq!(one.tables, two.tables);
        prop_assert_eq!(one.progress, two.progress);
    }
}
