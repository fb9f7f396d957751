//! Hosts of the family: what their systems advertise, how far away and how slow they are.
//!
//! MSS and window belong together: a system has a way to come to its window, and some ways depend on the MSS. A host has its
//! properties by its number alone, so it is the same on every day that it is asked.
//!
//! Sources: OpenBSD `etc/pf.os` and the fingerprints of p0f 2 for windows by system; the NZ–US study (CNDS 2001) for 1480 B
//! as the most common MSS. How many hosts had which system is chosen, after the servers that surveys of 1997 counted.

use super::Parameters;
use super::parameters::LONGEST;
use crate::rng::{LogNormal, RandomStream, RandomStreams};
use crate::units::{BitRate, Duration};

/// Rule by which a system comes to the window that it advertises.
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
    /// Of a hundred such hosts, those that advertise 512 B or 536 B to a host off their network; the others what their Ethernet
    /// carries.
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

/// MSS that they advertise when they forget the header of TCP; the study took it for hosts that advertised none.
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
        let system = system(random.below(100));
        let mss = mss(system, random, parameters);
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

/// The system of the host at `percent` of all, counted from 0.
fn system(percent: u64) -> &'static System {
    let mut below = 0;
    SYSTEMS
        .iter()
        .find(|system| {
            below += system.percent;
            percent < below
        })
        .expect("shares add up to a hundred")
}

fn mss(system: &System, random: &mut RandomStream, parameters: &Parameters) -> u16 {
    let (silent, of_hundred) = (random.happens(parameters.silent_share), random.below(100));
    let forgets = random.happens(parameters.mss_1480_share);
    match system.small {
        _ if silent => ETHERNET_WITHOUT_IP,
        (small, _) if of_hundred < small => 512,
        (small, other) if of_hundred < small + other => 536,
        _ if forgets => ETHERNET_WITHOUT_IP,
        _ => ETHERNET,
    }
}

/// A number whose logarithm has mean 0 and standard deviation `sigma`.
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
        assert_eq!(system(0).window, Window::Segments(6));
        assert_eq!(system(26).window, Window::Segments(6));
        assert_eq!(system(27).window, Window::Segments(17));
        assert_eq!(system(99).window, Window::Fixed(6144));
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
