//! Endpoints in the memory of others that have ended.

use crate::tcp::{Config, Connection, HostClock, Output, ProfileName, Random};
use crate::units::{Duration, Instant};

/// A client that has written, read and closed, with its last segments still on their way.
fn used(config: &Config, out: &mut Output) -> Connection {
    let (host, mut now) = (HostClock::default(), Instant::ZERO);
    let mut client = Connection::connect(now, config, host, out);
    let syn = out.segments.pop().expect("a SYN");
    let mut server = Connection::accept(now, config, host, &syn, out);
    for _ in 0..8 {
        now += Duration::from_millis(50);
        std::mem::take(out).segments.iter().for_each(|segment| client.on_segment(now, segment, out));
        client.write(now, 2000, out);
        std::mem::take(out).segments.iter().for_each(|segment| server.on_segment(now, segment, out));
        server.write(now, 5000, out);
    }
    client.close(now, out);
    client
}

#[test]
fn an_endpoint_in_used_memory_is_as_one_in_new_memory() {
    for name in [ProfileName::Bsd44Lite, ProfileName::Linux, ProfileName::LinuxClassic] {
        let config = Config {
            profile: name.profile(),
            mss: 1460,
            send_buffer: None,
            receive_buffer: None,
            random: Random::default(),
        };
        let (host, now, mut out) = (HostClock::default(), Instant::from_nanos(7), Output::default());
        let [first, second] = [(); 2].map(|()| used(&config, &mut out));
        out = Output::default();
        let client = Connection::connect(now, &config, host, &mut out);
        let syn = out.segments.pop().expect("a SYN");
        let again = Connection::open(Some(first), now, config.clone(), host, None, &mut out);
        assert_eq!(out.segments.pop(), Some(syn));
        assert_eq!(format!("{again:?}"), format!("{client:?}"));
        let server = Connection::accept(now, &config, host, &syn, &mut out);
        let answer = out.segments.pop();
        let again = Connection::open(Some(second), now, config.clone(), host, Some(&syn), &mut out);
        assert_eq!(out.segments.pop(), answer);
        assert_eq!(format!("{again:?}"), format!("{server:?}"));
    }
}

#[test]
fn the_memory_of_another_stack_is_not_used() {
    let config = |name: ProfileName| Config {
        profile: name.profile(),
        mss: 1460,
        send_buffer: None,
        receive_buffer: None,
        random: Random::default(),
    };
    let (host, now, mut out) = (HostClock::default(), Instant::ZERO, Output::default());
    let bsd = Connection::connect(now, &config(ProfileName::Bsd44Lite), host, &mut out);
    let linux = Connection::open(Some(bsd), now, config(ProfileName::Linux), host, None, &mut out);
    assert!(matches!(linux, Connection::Linux(_)));
}
