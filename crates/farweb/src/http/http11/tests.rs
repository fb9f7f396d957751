//! The pool by examples, and against a list of connections that is searched anew for every decision.

use proptest::prelude::*;

use super::*;

fn pool(per_host: Option<u32>, total: Option<u32>) -> Pool<u32, char> {
    Pool::new(Limits { per_host, total })
}

fn at(secs: u64) -> Instant {
    Instant::from_nanos(secs * 1_000_000_000)
}

/// Asks for a connection that is opened at once, as number `connection`.
fn open(pool: &mut Pool<u32, char>, host: u32, connection: u32) {
    assert_eq!(pool.ask(host, '?'), Answer::Open);
    pool.opened(host, connection);
}

#[test]
fn without_limits_a_request_uses_an_idle_connection_to_its_host_or_opens_one() {
    let mut pool = pool(None, None);
    open(&mut pool, 0, 1);
    assert_eq!(pool.ask(0, 'b'), Answer::Open, "the first is busy");
    pool.opened(0, 2);
    assert_eq!(pool.idle(1, at(1)), Next::Idle);
    assert_eq!(pool.ask(7, 'c'), Answer::Open, "the first goes to another host");
    pool.opened(7, 3);
    assert_eq!(pool.idle_since(1), Some(at(1)));
    assert_eq!(pool.ask(0, 'd'), Answer::Use(1));
    assert_eq!(pool.idle_since(1), None);
}

#[test]
fn the_connection_used_last_is_taken_first() {
    let mut pool = pool(None, None);
    for connection in 1..=3 {
        open(&mut pool, 0, connection);
    }
    for (connection, secs) in [(2, 1), (3, 2), (1, 2)] {
        assert_eq!(pool.idle(connection, at(secs)), Next::Idle);
    }
    let taken: Vec<_> = (0..3).map(|_| pool.ask(0, 'x')).collect();
    assert_eq!(taken, [Answer::Use(1), Answer::Use(3), Answer::Use(2)]);
}

#[test]
fn at_the_limit_of_a_host_requests_wait_in_their_order() {
    let mut pool = pool(Some(2), None);
    open(&mut pool, 0, 1);
    open(&mut pool, 0, 2);
    assert_eq!(pool.ask(0, 'a'), Answer::Wait);
    assert_eq!(pool.ask(0, 'b'), Answer::Wait);
    open(&mut pool, 5, 3);
    assert_eq!(pool.idle(2, at(1)), Next::Use('a'), "the connection does not lie idle");
    assert_eq!(pool.idle_since(2), None);
    assert_eq!(pool.gone(1), Some('b'), "a place within the limit is as good");
    pool.opened(0, 4);
    assert_eq!(pool.ask(0, 'c'), Answer::Wait);
    assert_eq!(pool.idle(3, at(2)), Next::Idle, "of no use to the other host");
}

#[test]
fn at_the_limit_of_all_hosts_the_longest_idle_connection_is_closed() {
    let mut pool = pool(None, Some(3));
    for (host, connection) in [(0, 1), (1, 2), (2, 3)] {
        open(&mut pool, host, connection);
    }
    assert_eq!(pool.idle(2, at(1)), Next::Idle);
    assert_eq!(pool.idle(1, at(1)), Next::Idle);
    assert_eq!(pool.ask(3, 'a'), Answer::CloseFirst(2), "it was there before the other, in the same instant");
    pool.opened(3, 4);
    assert_eq!(pool.gone(2), None, "its end makes no room: it was not counted any more");
    assert_eq!(pool.ask(1, 'b'), Answer::CloseFirst(1), "the connection to its host is gone");
    pool.opened(1, 5);
    assert_eq!(pool.ask(9, 'c'), Answer::Wait, "nothing is idle");
    assert_eq!(pool.idle(3, at(2)), Next::CloseFirst('c'));
    assert_eq!(pool.idle_since(3), None);
}

#[test]
fn who_came_first_is_served_first_whatever_its_host() {
    let mut pool = pool(None, Some(1));
    open(&mut pool, 0, 1);
    for (host, who) in [(1, 'a'), (0, 'b'), (1, 'c')] {
        assert_eq!(pool.ask(host, who), Answer::Wait);
    }
    assert_eq!(pool.idle(1, at(1)), Next::CloseFirst('a'));
    pool.opened(1, 2);
    assert_eq!(pool.gone(2), Some('b'));
    pool.opened(0, 3);
    assert_eq!(pool.idle(3, at(2)), Next::CloseFirst('c'));
}

#[test]
fn the_limit_of_a_host_holds_within_that_of_all() {
    let mut pool = pool(Some(1), Some(2));
    open(&mut pool, 0, 1);
    open(&mut pool, 1, 2);
    assert_eq!(pool.ask(0, 'a'), Answer::Wait);
    assert_eq!(pool.ask(2, 'b'), Answer::Wait);
    assert_eq!(pool.idle(2, at(1)), Next::CloseFirst('b'), "the first may not open another to its host");
    pool.opened(2, 3);
    assert_eq!(pool.gone(1), Some('a'));
}

#[test]
fn a_request_that_has_left_is_not_served() {
    let mut pool = pool(Some(1), None);
    open(&mut pool, 0, 1);
    assert_eq!(pool.ask(0, 'a'), Answer::Wait);
    assert_eq!(pool.ask(0, 'b'), Answer::Wait);
    assert!(pool.leave(0, 'a'));
    assert!(!pool.leave(0, 'a'));
    assert!(!pool.leave(3, 'b'), "it waits for another host");
    assert_eq!(pool.idle(1, at(1)), Next::Use('b'));
    assert_eq!(pool.idle(1, at(2)), Next::Idle);
}

#[test]
#[should_panic(expected = "nobody was allowed to open")]
fn a_connection_is_opened_only_when_the_pool_says_so() {
    pool(None, None).opened(0, 1);
}

#[test]
#[should_panic(expected = "idle already")]
fn a_connection_becomes_idle_once() {
    let mut pool = pool(None, None);
    open(&mut pool, 0, 1);
    pool.idle(1, at(1));
    pool.idle(1, at(2));
}

/// A pool as one would explain it.
#[derive(Debug, Default)]
struct Naive {
    limits: Limits,
    /// Name, host, and when it became idle.
    connections: Vec<(u32, u32, Option<u64>)>,
    /// Host and name, in their order.
    waiting: Vec<(u32, u32)>,
}

impl Naive {
    fn has_room(&self, host: u32) -> bool {
        let to_host = self.connections.iter().filter(|connection| connection.1 == host).count();
        self.limits.per_host.is_none_or(|most| to_host < most as usize)
    }

    fn has_room_in_all(&self) -> bool {
        self.limits.total.is_none_or(|most| self.connections.len() < most as usize)
    }

    fn find(&self, name: u32) -> usize {
        self.connections.iter().position(|connection| connection.0 == name).unwrap()
    }

    fn ask(&mut self, host: u32, who: u32) -> Answer<u32> {
        let idle =
            self.connections.iter().filter_map(|(name, to, since)| Some((since.as_ref()?, *to, *name)));
        if let Some((_, _, last)) = idle.clone().filter(|(_, to, _)| *to == host).max() {
            let place = self.find(last);
            self.connections[place].2 = None;
            return Answer::Use(last);
        }
        if self.has_room(host) && self.has_room_in_all() {
            return Answer::Open;
        }
        let longest = idle.min().map(|(_, _, name)| name);
        if let Some(longest) = longest.filter(|_| self.has_room(host)) {
            let place = self.find(longest);
            self.connections.remove(place);
            return Answer::CloseFirst(longest);
        }
        self.waiting.push((host, who));
        Answer::Wait
    }

    fn idle(&mut self, name: u32, now: u64) -> Next<u32> {
        let place = self.find(name);
        let host = self.connections[place].1;
        let full = !self.has_room_in_all();
        let served = self.waiting.iter().position(|(to, _)| *to == host || full && self.has_room(*to));
        let Some(served) = served else {
            self.connections[place].2 = Some(now);
            return Next::Idle;
        };
        let (to, who) = self.waiting.remove(served);
        if to == host {
            return Next::Use(who);
        }
        self.connections.remove(place);
        Next::CloseFirst(who)
    }

    fn gone(&mut self, name: u32) -> Option<u32> {
        let place = self.find(name);
        self.connections.remove(place);
        let served = self.waiting.iter().position(|(to, _)| self.has_room(*to) && self.has_room_in_all())?;
        Some(self.waiting.remove(served).1)
    }

    /// No request waits for a connection that is there.
    fn check(&self) -> Result<(), TestCaseError> {
        prop_assert!(self.limits.total.is_none_or(|most| self.connections.len() <= most as usize));
        for (_, host, _) in &self.connections {
            let to_host = self.connections.iter().filter(|connection| connection.1 == *host).count();
            prop_assert!(self.limits.per_host.is_none_or(|most| to_host <= most as usize));
        }
        for (host, who) in &self.waiting {
            let mut idle = self.connections.iter().filter(|connection| connection.2.is_some());
            let may_open = self.has_room_in_all() || idle.clone().next().is_some();
            prop_assert!(!(self.has_room(*host) && may_open), "{who} waits and could open one");
            prop_assert!(idle.all(|connection| connection.1 != *host), "{who} waits and could use one");
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Ask(u32),
    /// The request on one of the busy connections ends.
    End(usize),
    /// One of the connections goes.
    Gone(usize),
    /// One of those who wait leaves.
    Leave(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => (0..4_u32).prop_map(Step::Ask),
        4 => any::<usize>().prop_map(Step::End),
        1 => any::<usize>().prop_map(Step::Gone),
        1 => any::<usize>().prop_map(Step::Leave),
    ]
}

/// The pool and its model, doing the same.
struct Both {
    pool: Pool<u32, u32>,
    naive: Naive,
    names: u32,
    hosts: Vec<u32>,
}

impl Both {
    /// A connection is opened for `who`.
    fn open(&mut self, who: u32) {
        let host = self.hosts[who as usize];
        self.names += 1;
        self.pool.opened(host, self.names);
        self.naive.connections.push((self.names, host, None));
    }

    fn take(&mut self, step: Step, now: u64) -> Result<(), TestCaseError> {
        match step {
            Step::Ask(host) => {
                let who = self.hosts.len() as u32;
                self.hosts.push(host);
                let answer = self.pool.ask(host, who);
                prop_assert_eq!(answer, self.naive.ask(host, who));
                if matches!(answer, Answer::Open | Answer::CloseFirst(_)) {
                    self.open(who);
                }
            }
            Step::End(any) => {
                let busy = self.naive.connections.iter().filter(|connection| connection.2.is_none());
                let busy: Vec<_> = busy.map(|connection| connection.0).collect();
                if let Some(name) = busy.get(any % busy.len().max(1)).copied() {
                    let next = self.pool.idle(name, Instant::from_nanos(now));
                    prop_assert_eq!(next, self.naive.idle(name, now));
                    if let Next::CloseFirst(who) = next {
                        self.open(who);
                    }
                }
            }
            Step::Gone(any) => {
                let names: Vec<_> = self.naive.connections.iter().map(|connection| connection.0).collect();
                if let Some(name) = names.get(any % names.len().max(1)).copied() {
                    let served = self.pool.gone(name);
                    prop_assert_eq!(served, self.naive.gone(name));
                    prop_assert_eq!(self.pool.gone(name), None);
                    if let Some(who) = served {
                        self.open(who);
                    }
                }
            }
            Step::Leave(any) => {
                if !self.naive.waiting.is_empty() {
                    let (host, who) = self.naive.waiting.remove(any % self.naive.waiting.len());
                    prop_assert!(self.pool.leave(host, who));
                }
            }
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn limits_hold_nobody_is_forgotten_and_the_choice_is_the_rule(
        per_host in prop::option::of(1..4_u32),
        total in prop::option::of(1..6_u32),
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let limits = Limits { per_host, total };
        let naive = Naive { limits, ..Naive::default() };
        let mut both = Both { pool: Pool::new(limits), naive, names: 0, hosts: Vec::new() };
        for (now, step) in steps.into_iter().enumerate() {
            both.take(step, now as u64)?;
            both.naive.check()?;
            for (name, _, since) in &both.naive.connections {
                prop_assert_eq!(both.pool.idle_since(*name), since.map(Instant::from_nanos));
            }
        }
    }
}
