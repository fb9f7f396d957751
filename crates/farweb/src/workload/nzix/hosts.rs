//! Hosts of the family: what their systems advertise, how far away and how slow they are.
//!
//! MSS and window belong together: a system has a rule for its window, and some rules depend on the MSS. The properties
//! of a host follow from its number alone: it is the same on every day.
//!
//! Sources: OpenBSD `etc/pf.os` and the fingerprints of p0f 2 for windows by system; the NZ–US study (CNDS 2001) for 1480 B
//! as the most common MSS. The share of each system is chosen, after the servers that surveys of 1997 counted.

use super::Parameters;
use super::parameters::LONGEST;
use crate::rng::{LogNormal, RandomStream, RandomStreams};
use crate::units::{BitRate, Duration};

/// Rule of a system for the window that it advertises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Window {
    /// This many bytes, whatever the MSS.
    Fixed(u64),
    /// This many bytes, rounded up to whole segments, as 4.4BSD does (`tcp_input.c`, `tcp_mss`).
    RoundedUp(u64),
    /// This many segments.
    Segments(u64),
}

/// Servers of one kind.
struct System {
    /// Share of all hosts, in percent.
    percent: u64,
    window: Window,
    /// Of a hundred such hosts, those that advertise 512 B or 536 B to a host off their network. The others have their
    /// Ethernet's.
    small: (u64, u64),
}

/// Systems of servers. 4.4BSD advertises 512 B (`tcp_mssdflt`) to hosts off its network unless configured otherwise, SunOS 4
/// and others 536 B (RFC 1122, section 4.2.2.6).
const SYSTEMS: [System; 12] = [
    System { percent: 27, window: Window::Segments(6), small: (0, 5) }, // Solaris 2.6: 8760 B for 1460 B
    System { percent: 6, window: Window::Segments(17), small: (0, 5) }, // Solaris 2.5: 24820 B
    System { percent: 4, window: Window::Segments(23), small: (0, 5) }, // Solaris 2.5.1: 33580 B
    System { percent: 15, window: Window::Fixed(8192), small: (0, 10) }, // Windows NT 4
    System { percent: 10, window: Window::Fixed(4096), small: (0, 50) }, // SunOS 4.1
    System { percent: 8, window: Window::RoundedUp(16_384), small: (50, 0) }, // FreeBSD 2, NetBSD, BSD/OS 2
    System { percent: 4, window: Window::RoundedUp(8192), small: (50, 0) }, // BSD/OS 3
    System { percent: 10, window: Window::Fixed(32_736), small: (0, 5) }, // Linux 2.0
    System { percent: 6, window: Window::RoundedUp(32_768), small: (0, 20) }, // Digital Unix 4, HP-UX 10
    System { percent: 6, window: Window::Fixed(61_440), small: (10, 10) }, // IRIX 6
    System { percent: 3, window: Window::Fixed(16_384), small: (100, 0) }, // AIX 4
    System { percent: 1, window: Window::Fixed(6144), small: (0, 50) }, // NetWare
];

/// MSS that hosts on an Ethernet advertise: its 1500 B less the headers of IP and TCP.
const ETHERNET: u16 = 1460;

/// MSS that they advertise when they forget the header of TCP. The study took it for hosts that advertised none.
const ETHERNET_WITHOUT_IP: u16 = 1480;

/// An origin server of the family.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Server {
    /// Largest segment that it accepts, in bytes.
    pub(super) mss: u16,
    /// Largest window that it advertises, in bytes.
    pub(super) window: u64,
    /// Round trip to the far end of the cable.
    pub(super) round_trip: Duration,
    /// Time that it thinks about a request, median.
    pub(super) thinking: Duration,
    /// Rate of its responses up to the far end of the cable, median, in bit/s.
    pub(super) rate: f64,
}

impl Server {
    /// The host with this number.
    pub(super) fn new(number: u64, streams: &RandomStreams, parameters: &Parameters) -> Self {
        let random = &mut streams.stream("nzix host", number);
        // A draw in whole percents, and the place within the percent.
        let within = &mut streams.stream("nzix host, parts of percents", number);
        let system = system(random.below(100) as f64 + within.uniform(), parameters.small_window_share);
        let mss = mss(system, random, within.uniform(), parameters);
        let window = match system.window {
            Window::Fixed(bytes) => bytes,
            Window::RoundedUp(bytes) => bytes.next_multiple_of(u64::from(mss)),
            Window::Segments(segments) => segments * u64::from(mss),
        };
        let (nearest, farthest) = (parameters.us_round_trip_min, parameters.us_round_trip_max);
        let round_trip = nearest + scaled(farthest - nearest, random.uniform());
        let thinking = scaled(parameters.server_median, spread(parameters.server_host_sigma, random));
        let rate = bits(parameters.us_rate) * spread(parameters.us_rate_host_sigma, random);
        Self { mss, window, round_trip, thinking, rate }
    }
}

/// The system of the host at `percent` of all, where `small_windows` of them have small windows.
fn system(percent: f64, small_windows: f64) -> &'static System {
    let mut below = 0.0;
    SYSTEMS
        .iter()
        .find(|system| {
            below += 100.0 * system.share(small_windows);
            percent < below
        })
        .unwrap_or(&SYSTEMS[0]) // shares that add up to a little less than a hundred
}

impl System {
    /// Its share of all hosts, where `small_windows` of them have small windows.
    fn share(&self, small_windows: f64) -> f64 {
        let alike = |other: &&Self| other.has_small_window() == self.has_small_window();
        let percent: u64 = SYSTEMS.iter().filter(alike).map(|system| system.percent).sum();
        let share = if self.has_small_window() { small_windows } else { 1.0 - small_windows };
        share * self.percent as f64 / percent as f64
    }

    /// True when its window is at most 8760 B, six segments of an Ethernet.
    const fn has_small_window(&self) -> bool {
        match self.window {
            Window::Fixed(bytes) | Window::RoundedUp(bytes) => bytes <= 8760,
            Window::Segments(segments) => segments <= 6,
        }
    }

    /// Shares of 512 B and 536 B among its hosts, if `parameters` give the share of all: more or fewer of every system.
    fn small_mss(&self, parameters: &Parameters) -> [f64; 2] {
        let of_hundred = |system: &Self| system.small.0 + system.small.1;
        let share = |system: &Self| system.share(parameters.small_window_share);
        let all: f64 = SYSTEMS.iter().map(|each| share(each) * of_hundred(each) as f64 / 100.0).sum();
        let (own, wanted) = (of_hundred(self) as f64 / 100.0, parameters.small_mss_share);
        let small =
            if wanted <= all { own * wanted / all } else { 1.0 - (1.0 - own) * (1.0 - wanted) / (1.0 - all) };
        // Systems that have none otherwise take the value of RFC 1122.
        let bsd = if own > 0.0 { self.small.0 as f64 / 100.0 / own } else { 0.0 };
        [small * bsd, small * (1.0 - bsd)]
    }
}

/// MSS of a host: `part` of a percent places it among its system's.
fn mss(system: &System, random: &mut RandomStream, part: f64, parameters: &Parameters) -> u16 {
    let (silent, percent) = (random.happens(parameters.silent_share), random.below(100) as f64 + part);
    let forgets = random.happens(parameters.mss_1480_share);
    let [bsd, other] = system.small_mss(parameters).map(|share| 100.0 * share);
    match percent {
        _ if silent => ETHERNET_WITHOUT_IP,
        percent if percent < bsd => 512,
        percent if percent < bsd + other => 536,
        _ if forgets => ETHERNET_WITHOUT_IP,
        _ => ETHERNET,
    }
}

/// A log-normal number with mean 0 and standard deviation `sigma` of its logarithm.
pub(super) fn spread(sigma: f64, random: &mut RandomStream) -> f64 {
    LogNormal::from_mu_sigma(0.0, sigma).expect("checked").sample(random)
}

/// `span` times `factor`, at most the longest time there is.
pub(super) fn scaled(span: Duration, factor: f64) -> Duration {
    Duration::from_secs_f64(span.as_secs_f64() * factor).map_or(LONGEST, |long| long.min(LONGEST))
}

const fn bits(rate: BitRate) -> f64 {
    rate.as_bps() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_a_hundred() {
        assert_eq!(SYSTEMS.iter().map(|system| system.percent).sum::<u64>(), 100);
        assert!(SYSTEMS.iter().all(|system| system.small.0 + system.small.1 <= 100));
        let window = |percent| system(percent, 0.57).window;
        assert_eq!([0.0, 26.9].map(window), [Window::Segments(6); 2]);
        assert_eq!([27.1, 99.9].map(window), [Window::Segments(17), Window::Fixed(6144)]);
        assert_eq!(
            [0.0, 99.9].map(|percent| system(percent, 0.0).window),
            [Window::Segments(17), Window::Fixed(16_384)]
        );
    }

    #[test]
    fn a_host_is_the_same_whenever_it_is_asked() {
        let (streams, parameters) = (RandomStreams::new(1), Parameters::default());
        assert_eq!(Server::new(7, &streams, &parameters), Server::new(7, &streams, &parameters));
        assert_ne!(Server::new(7, &streams, &parameters), Server::new(8, &streams, &parameters));
        assert_ne!(
            Server::new(7, &streams, &parameters),
            Server::new(7, &RandomStreams::new(2), &parameters)
        );
    }

    /// The table's shares by default, and the wanted ones otherwise.
    #[test]
    fn shares_of_small_segments_and_windows_are_those_wanted() {
        let streams = RandomStreams::new(2);
        for (mss, window) in [(0.2075, 0.57), (0.05, 0.57), (0.4, 0.7), (0.3, 0.3), (1.0, 0.0), (0.0, 1.0)] {
            let parameters = Parameters {
                small_mss_share: mss,
                small_window_share: window,
                silent_share: 0.0,
                ..Parameters::default()
            };
            let all: Vec<_> = (0..20_000).map(|number| Server::new(number, &streams, &parameters)).collect();
            let share =
                |is: fn(&Server) -> bool| all.iter().filter(|each| is(each)).count() as f64 / 20_000.0;
            assert!((share(|each| each.mss < 1460) - mss).abs() < 0.02, "{mss}");
            assert!((share(|each| each.window <= 8880) - window).abs() < 0.02, "{window}");
        }
    }

    #[test]
    fn windows_belong_to_the_mss() {
        let (streams, parameters) = (RandomStreams::new(1), Parameters::default());
        let all = (0..20_000).map(|number| Server::new(number, &streams, &parameters));
        let fixed = [4096, 6144, 8192, 16_384, 32_736, 61_440];
        let share = |count: usize| count as f64 / 20_000.0;
        let (mut by_mss, mut rounded) = (std::collections::BTreeMap::new(), 0);
        for server in all {
            *by_mss.entry(server.mss).or_insert(0_usize) += 1;
            if !fixed.contains(&server.window) {
                assert_eq!(server.window % u64::from(server.mss), 0, "{server:?}");
                rounded += 1;
            }
        }
        assert_eq!(by_mss.keys().copied().collect::<Vec<_>>(), [512, 536, 1460, 1480]);
        assert_eq!(by_mss.iter().max_by_key(|(_, count)| **count).unwrap().0, &1480, "the most common");
        assert!((share(by_mss[&1480]) - 0.46).abs() < 0.02, "{by_mss:?}");
        assert!((share(rounded) - 0.49).abs() < 0.02, "{}", share(rounded));
    }
}
