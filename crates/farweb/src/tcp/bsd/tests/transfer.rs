//! Loss-free transfers over a pipe of fixed delay, against closed forms.

use crate::tcp::tests::pipe::{Application, End, Fate, Pipe, Sent};
use crate::tcp::*;
use crate::units::{Duration, Instant};

const DELAY: Duration = Duration::from_millis(60);
const RTT: Duration = Duration::from_millis(120);
const MSS: u64 = 1460;

fn config(profile: bsd::Profile) -> Config {
    Config {
        profile: profile.into(),
        mss: 1460,
        send_buffer: Some(32767),
        receive_buffer: Some(32767),
        random: Random::default(),
    }
}

fn unharmed(_: &Sent, _: Option<&Connection>) -> Fate {
    vec![Duration::ZERO]
}

/// The client sends `bytes`, then the server closes too. Gives all segments sent.
fn upload(profile: bsd::Profile, bytes: u64) -> Vec<Sent> {
    let applications = [Application::new(vec![bytes]), Application::answering(vec![])];
    let ends = [config(profile), config(profile)].map(|config| (config, HostClock::default()));
    let mut pipe = Pipe::new(DELAY, ends, applications, unharmed);
    pipe.run(|_| {});
    assert_eq!(pipe.applications[End::Server as usize].received, bytes);
    for application in &pipe.applications {
        assert_eq!(application.reason, Some(CloseReason::Finished));
    }
    assert_eq!(pipe.end(End::Client).retransmits() + pipe.end(End::Server).retransmits(), 0);
    pipe.sent
}

/// Departure times of the client's data segments.
fn data_times(sent: &[Sent]) -> Vec<Instant> {
    let data = sent.iter().filter(|sent| sent.from == End::Client && sent.segment.len > 0);
    data.map(|sent| sent.at).collect()
}

/// RFC 2001, section 1.
#[test]
fn slow_start_doubles_when_every_segment_is_acknowledged() {
    let profile = bsd::Profile { delayed_ack: false, ..bsd::Profile::bsd44_lite() };
    for segments in [1, 2, 3, 4, 7, 8, 15, 16, 31] {
        let times = data_times(&upload(profile, segments * MSS));
        // Round k of 1, 2, 4 … segments begins k round trips after the SYN. All of a round leaves at once.
        let rounds = u64::from((segments + 1).next_power_of_two().ilog2());
        assert_eq!(times.len() as u64, segments);
        assert_eq!(*times.last().unwrap(), Instant::ZERO + RTT * rounds, "{segments} segments");
    }
}

/// RFC 793, section 3.7.
#[test]
fn a_buffer_of_32767_bytes_keeps_22_segments_in_flight() {
    let times = data_times(&upload(bsd::Profile::bsd44_lite(), 1000 * MSS));
    let steady = &times[500..980];
    for (at, later) in steady.iter().zip(&steady[22..]) {
        assert_eq!(*later, *at + RTT);
    }
}

/// RFC 2001, section 1; RFC 1122, section 4.2.3.2.
#[test]
fn flights_grow_by_half_when_every_second_segment_is_acknowledged() {
    // An ACK for two segments lets three go. The first segment waits for the fast tick. Of three segments one waits for the
    // first of the next flight. So a flight of 3 brings 1 and then 2 ACKs, one of 9 brings 4, and the one of 12 then 6.
    let times = data_times(&upload(bsd::Profile::bsd44_lite(), 54 * MSS));
    let flights: Vec<usize> = times.chunk_by(|one, next| one == next).map(<[Instant]>::len).collect();
    assert_eq!(flights, [1, 2, 3, 3, 6, 9, 12, 18]);
    let starts: Vec<Instant> = times.chunk_by(|one, next| one == next).map(|flight| flight[0]).collect();
    // Acknowledged at the fast tick of 200 ms, 60 ms away. From there on a round trip apart.
    assert_eq!(starts[..2], [Instant::ZERO + RTT, Instant::ZERO + Duration::from_millis(260)]);
    assert!(starts[1..].windows(2).all(|pair| pair[1] == pair[0] + RTT));
}
