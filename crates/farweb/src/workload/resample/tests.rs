use super::*;
use crate::units::Instant;

const SECOND: u64 = 1_000_000_000;

/// Clients that ask three times each, a second apart.
fn asked(clients: u64) -> impl RequestSource {
    struct Asked(std::vec::IntoIter<(u64, u64)>);
    impl RequestSource for Asked {
        fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
            Ok(self.0.next().map(|(start, client)| Request {
                response_bytes: client + 1,
                client: ClientId::new(client),
                ..Request::bare(Instant::from_nanos(start), directory.host("a"))
            }))
        }
    }
    let rows = (0..3).flat_map(|time| (0..clients).map(move |client| (time * SECOND, client)));
    Asked(rows.collect::<Vec<_>>().into_iter())
}

/// Starts of the requests, by client of the log and client of the run.
fn drawn(clients: u64, window: Duration, seed: u64) -> Vec<(u64, ClientId, u64)> {
    let mut source = ResampledClients::new(asked(clients), window, RandomStreams::new(seed));
    let (mut directory, mut found) = (Directory::default(), Vec::new());
    while let Some(request) = source.next_request(&mut directory).unwrap() {
        found.push((request.response_bytes - 1, request.client.unwrap(), request.start.as_nanos()));
    }
    assert!(found.is_sorted_by_key(|(.., start)| *start));
    found
}

#[test]
fn a_client_comes_whole_or_not_at_all_and_doubles_ask_the_same_later() {
    let window = Duration::from_secs(37);
    let mut found = drawn(2000, window, 1);
    found.sort_unstable();
    for asked in found.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1)) {
        let starts: Vec<u64> = asked.iter().map(|(.., start)| *start).collect();
        let later = starts[0];
        assert_eq!(starts, [later, later + SECOND, later + 2 * SECOND], "all of it, by one time");
        let is_itself = asked[0].1 == ClientId::new(asked[0].0).unwrap();
        assert!(if is_itself { later == 0 } else { later < window.as_nanos() });
    }
}

/// Poisson's with mean 1: shares of clients that occur 0, 1, 2 and 3 times, within five standard deviations.
#[test]
fn clients_occur_as_often_as_drawing_with_replacement_has_it() {
    let clients = 20_000;
    let mut times = vec![0; clients as usize];
    for (client, ..) in drawn(clients, Duration::ZERO, 5) {
        times[client as usize] += 1;
    }
    for (number, share) in [(0, 0.367_879_f64), (1, 0.367_879), (2, 0.183_940), (3, 0.061_313)] {
        let found = times.iter().filter(|times| **times == 3 * number).count() as f64;
        let (mean, deviation) = (clients as f64 * share, (clients as f64 * share * (1.0 - share)).sqrt());
        assert!((found - mean).abs() < 5.0 * deviation, "{number}: {found}, {mean} expected");
    }
}

#[test]
fn a_seed_draws_the_same_and_another_others() {
    let window = Duration::from_secs(37);
    assert_eq!(drawn(100, window, 3), drawn(100, window, 3));
    assert_ne!(drawn(100, window, 3), drawn(100, window, 4));
}

#[test]
fn a_request_without_a_client_is_refused() {
    struct Unnamed;
    impl RequestSource for Unnamed {
        fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
            Ok(Some(Request::bare(Instant::ZERO, directory.host("a"))))
        }
    }
    let mut source = ResampledClients::new(Unnamed, Duration::ZERO, RandomStreams::new(1));
    let error = source.next_request(&mut Directory::default()).unwrap_err().to_string();
    assert!(
        error
            .starts_with("workload.resample: clients are to be drawn, and request 1 of the table names none")
    );
}
