//! Credit: bytes that a sender may send ahead of its receiver, and the receiver's rules to return it.
//!
//! Models the flow control of protocols that put several messages on one connection: the sender's [`Window`] and the
//! receiver's [`Grants`], one pair for each message and direction, in HTTP/2 another one for the connection. Both count
//! bytes of payload. A grant is a frame with a number of bytes in it. Its way to the sender is not modelled here.
//! Leaves out credit as absolute offsets (QUIC), and rules that grow the credit.
//!
//! **The worth of a credit.** Let a receiver take bytes in reads of equal size, and let u be the smallest multiple of that size
//! which its rule returns. A sender that has used a credit of W has k·u of it returned, k = ⌊W/u⌋, and waits for the rest: it
//! sends k·u a round trip, not W. With grants at one half of the credit that is half of it, unless the reads divide one half.
//! The first of these needs u - (W - k·u) bytes more than lie there when the credit comes back: their transmission adds to the
//! round trip ([`GrantRule::worth`]).
//!
//! Sources: RFC 9113, sections 5.2 and 6.9. Each rule names its own.

/// Bytes that a sender may send.
///
/// Spending beyond the credit, or a smaller initial credit, makes it negative: the sender waits until grants
/// have brought it above zero again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    credit: i64,
}

/// A credit above the greatest one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a credit of {credit} B is above 2^31 - 1 B")]
pub struct CreditOverflow {
    credit: i64,
}

impl Window {
    /// The greatest credit, in bytes.
    ///
    /// Source: RFC 9113, section 6.9.1.
    pub const MAX: u64 = (1 << 31) - 1;

    /// The credit that a sender begins with: `initial` bytes, up to [`Window::MAX`].
    ///
    /// # Panics
    /// When that is more.
    #[must_use]
    pub const fn new(initial: u64) -> Self {
        assert!(initial <= Self::MAX, "a credit is at most 2^31 - 1 B");
        Self { credit: initial as i64 }
    }

    /// The credit, in bytes. Negative where it is overdrawn.
    #[must_use]
    pub const fn credit(self) -> i64 {
        self.credit
    }

    /// Bytes that may be sent now.
    #[must_use]
    pub const fn available(self) -> u64 {
        if self.credit > 0 { self.credit as u64 } else { 0 }
    }

    /// `bytes` of payload are sent, whether the credit covers them or not: who cuts pieces of a fixed size sends the last one
    /// whole (W3C MUX), others send no more than is [`available`](Self::available).
    pub const fn charge(&mut self, bytes: u64) {
        self.credit -= bytes as i64;
    }

    /// The receiver has granted `bytes` more.
    ///
    /// # Errors
    /// When that exceeds the greatest credit. Nothing changes then.
    pub const fn grant(&mut self, bytes: u64) -> Result<(), CreditOverflow> {
        self.add(bytes as i64)
    }

    /// The receiver has changed the initial credit of its senders, which moves every open one by the difference.
    ///
    /// # Errors
    /// When that exceeds the greatest credit. Nothing changes then.
    ///
    /// Source: RFC 9113, section 6.9.2.
    pub const fn change_initial(&mut self, from: u64, to: u64) -> Result<(), CreditOverflow> {
        self.add(to as i64 - from as i64)
    }

    const fn add(&mut self, bytes: i64) -> Result<(), CreditOverflow> {
        let credit = self.credit + bytes;
        if credit > Self::MAX as i64 {
            return Err(CreditOverflow { credit });
        }
        self.credit = credit;
        Ok(())
    }
}

/// Rule for granting credit back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrantRule {
    /// When the bytes taken come to a share of a credit.
    Share {
        /// Credit that the share is of.
        of: ShareOf,
        /// The share, in millionths, 1 to 1,000,000. A share that is not a whole number of bytes is rounded down.
        millionths: u32,
        /// True when it has to be more than the share, not only as much.
        strict: bool,
    },
    /// When the bytes taken come to a number, or to the sender's remaining credit if that is less.
    ///
    /// Source: Go's `net/http2`, `flow.go`, with 4,096 B.
    Bytes(u64),
    /// When the sender's remaining credit is below a number of bytes.
    ///
    /// Source: Apache Traffic Server, `Http2ConnectionState.cc`, with 16,384 B.
    Below(u64),
    /// When the bytes taken come to a number, or the sender's remaining credit is at most `below`.
    ///
    /// Source: Firefox, `Http2Session.cpp`, `UpdateLocalStreamWindow()`, with 4 MiB and 96 KiB.
    BytesOrBelow {
        /// The bytes.
        bytes: u64,
        /// The sender's remaining credit.
        below: u64,
    },
    /// Each time something is taken.
    ///
    /// Source: HAProxy, `mux_h2.c`, for each frame.
    Each,
}

/// The credit that a share is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShareOf {
    /// The credit that the sender began with, or that was raised to.
    ///
    /// Source: nghttp2, `nghttp2_helper.c`, half, not strict; Chromium, `spdy_session.cc`, and Jigsaw, `MuxSession.java`, half, strict.
    Initial,
    /// The sender's remaining credit.
    ///
    /// Source: hyperium/h2, `flow_control.rs`, half, not strict.
    Remaining,
}

/// A whole, in the millionths of a share.
const WHOLE: u128 = 1_000_000;

impl GrantRule {
    /// At half of the initial credit, as nghttp2 and most others have it.
    pub const HALF: Self = Self::Share { of: ShareOf::Initial, millionths: 500_000, strict: false };

    /// The worth of a `credit` in bytes, above 0, at a receiver that takes `read` bytes at a time.
    #[must_use]
    pub fn worth(self, credit: u64, read: u64) -> Worth {
        let is_due = |taken: u64| {
            Grants { rule: self, window: credit, left: credit as i64 - taken as i64, owed: taken }.is_due()
        };
        let (mut low, mut high) = (1, credit.div_ceil(read));
        while low < high {
            let middle = low.midpoint(high);
            (low, high) = if is_due(middle * read) { (low, middle) } else { (middle + 1, high) };
        }
        let grant = (low * read).min(credit);
        let bytes = credit / grant * grant;
        Worth { bytes, ahead: grant - (credit - bytes) }
    }
}

/// Rate that a credit allows to a sender that always has data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worth {
    /// Bytes for each return of the credit.
    pub bytes: u64,
    /// Bytes that have to come before a return, which takes a round trip and the time of these.
    pub ahead: u64,
}

/// The credit that a receiver gives, and its part still owed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grants {
    rule: GrantRule,
    /// The credit that the sender began with, or was raised to.
    window: u64,
    /// Credit that the sender has left, as far as is known here.
    left: i64,
    /// Bytes taken and not granted.
    owed: u64,
}

impl Grants {
    /// A receiver for a sender with an initial credit of `window` bytes.
    #[must_use]
    pub const fn new(rule: GrantRule, window: u64) -> Self {
        Self { rule, window, left: window as i64, owed: 0 }
    }

    /// The credit that the sender began with, or was raised to.
    #[must_use]
    pub const fn window(&self) -> u64 {
        self.window
    }

    /// Credit that the sender has left when all that it was granted has reached it. Negative when it has sent more than it
    /// might.
    #[must_use]
    pub const fn left(&self) -> i64 {
        self.left
    }

    /// `bytes` of payload have arrived.
    pub const fn on_received(&mut self, bytes: u64) {
        self.left -= bytes as i64;
    }

    /// The application has taken `bytes` that have arrived. Returns the grant by the rule: everything owed, or nothing.
    pub fn on_consumed(&mut self, bytes: u64) -> Option<u64> {
        self.owed += bytes;
        self.due()
    }

    /// Bytes to grant now, by the rule: all that is owed, or nothing.
    pub fn due(&mut self) -> Option<u64> {
        if self.is_due() { self.all() } else { None }
    }

    /// Bytes to grant where the rule does not apply: all that is owed.
    pub const fn all(&mut self) -> Option<u64> {
        if self.owed == 0 {
            return None;
        }
        let grant = self.owed;
        self.owed = 0;
        self.left += grant as i64;
        Some(grant)
    }

    /// True when the rule grants the credit that is owed.
    fn is_due(&self) -> bool {
        match self.rule {
            GrantRule::Share { of, millionths, strict } => {
                let of = match of {
                    ShareOf::Initial => self.window,
                    ShareOf::Remaining => self.left.max(0) as u64,
                };
                let share = (u128::from(of) * u128::from(millionths) / WHOLE) as u64;
                self.owed > share || (self.owed == share && !strict)
            }
            GrantRule::Bytes(bytes) => self.owed >= bytes || self.owed as i64 >= self.left,
            GrantRule::Below(bytes) => self.left < bytes as i64,
            GrantRule::BytesOrBelow { bytes, below } => self.owed >= bytes || self.left <= below as i64,
            GrantRule::Each => true,
        }
    }

    /// The credit is raised to `window`, by the returned grant, or none when it is as great already. Owed credit stays
    /// owed.
    ///
    /// Source: nghttp2, `nghttp2_session_set_local_window_size`.
    pub fn raise(&mut self, window: u64) -> Option<u64> {
        let more = window.checked_sub(self.window).filter(|more| *more > 0)?;
        self.window = window;
        self.left += more as i64;
        Some(more)
    }

    /// The credit is raised to `window`, the increase being owed, to be granted by the rule. Returns the present grant.
    ///
    /// Source: hyperium/h2, `recv.rs`, `set_target_connection_window()`.
    pub fn raise_by_rule(&mut self, window: u64) -> Option<u64> {
        self.owed += window.saturating_sub(self.window);
        self.window = self.window.max(window);
        self.due()
    }

    /// The credit that senders begin with is another one from now on, without a grant.
    ///
    /// Source: RFC 9113, section 6.9.2.
    pub const fn change_initial(&mut self, to: u64) {
        self.left += to as i64 - self.window as i64;
        self.window = to;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn half(of: ShareOf, strict: bool) -> GrantRule {
        GrantRule::Share { of, millionths: 500_000, strict }
    }

    /// Whole returns of a credit, and the bytes that the first of them still lacks when the one before is back.
    #[test]
    fn the_worth_of_a_credit_is_what_its_rule_returns() {
        const MIB: u64 = 1 << 20;
        let rows = [
            (GrantRule::HALF, 65_535, 1, 65_534, 32_766),
            (GrantRule::HALF, 65_535, 1448, 33_304, 1073),
            (half(ShareOf::Initial, true), 6 * MIB, 1, 3 * MIB + 1, 2),
            (half(ShareOf::Remaining, false), 2 * MIB, 1, 1_398_102, 1),
            (GrantRule::Below(16_384), 65_535, 1, 49_152, 32_769),
            (GrantRule::BytesOrBelow { bytes: 4 * MIB, below: 96 << 10 }, 12 * MIB, 1, 12 * MIB, 4 * MIB),
            (GrantRule::Bytes(4096), 4 * MIB, 1, 4 * MIB, 4096),
            (GrantRule::Each, 65_535, 1, 65_535, 1),
            (half(ShareOf::Initial, true), 4096, 512, 2560, 1024),
            (GrantRule::HALF, 1000, 1448, 1000, 1000),
        ];
        for (rule, credit, read, bytes, ahead) in rows {
            assert_eq!(rule.worth(credit, read), Worth { bytes, ahead }, "{rule:?} of {credit} by {read}");
        }
    }

    #[test]
    fn a_smaller_initial_credit_overdraws_a_window() {
        // The example of RFC 9113, section 6.9.2: 60 KB are sent, and then the initial credit becomes 16 KB.
        let mut window = Window::new(65_535);
        window.charge(60 * 1024);
        window.change_initial(65_535, 16 * 1024).expect("it becomes smaller");
        assert_eq!(window.credit(), -44 * 1024);
        window.grant(44 * 1024).expect("far from the greatest");
        assert_eq!((window.credit(), window.available()), (0, 0));
        window.grant(1).expect("far from the greatest");
        assert_eq!(window.available(), 1);
    }

    #[test]
    fn a_credit_ends_at_2_to_the_31_less_1() {
        let mut window = Window::new(Window::MAX);
        assert_eq!(window.grant(1), Err(CreditOverflow { credit: 1 << 31 }));
        assert_eq!(window.change_initial(0, 1), Err(CreditOverflow { credit: 1 << 31 }));
        window.charge(1);
        assert_eq!(window.grant(1), Ok(()), "what was refused has changed nothing");
        assert_eq!(
            CreditOverflow { credit: 1 << 31 }.to_string(),
            "a credit of 2147483648 B is above 2^31 - 1 B"
        );
    }

    #[test]
    fn a_sender_of_whole_fragments_overdraws_by_less_than_one() {
        let mut window = Window::new(4096);
        window.charge(100);
        let mut fragments = 0;
        while window.available() > 0 {
            window.charge(512);
            fragments += 1;
        }
        assert_eq!((fragments, window.credit()), (8, -100));
    }

    /// Grants of a credit of `window` that is spent at once and taken in whole reads of `read` bytes.
    fn granted(rule: GrantRule, window: u64, read: u64) -> Vec<u64> {
        let mut grants = Grants::new(rule, window);
        let take = |_| {
            grants.on_received(read);
            grants.on_consumed(read)
        };
        (0..window / read).filter_map(take).collect()
    }

    #[test]
    fn a_spent_credit_comes_back_in_k_parts_of_u() {
        let half = half(ShareOf::Initial, false);
        // 23 reads are the first to reach half. The rest of the credit does not make another half.
        assert_eq!(granted(half, 65_535, 1460), [23 * 1460]);
        // Two reads are half, and the other two as well: u divides the credit, but for a rule that asks for more than half.
        assert_eq!(granted(half, 65_536, 16_384), [32_768, 32_768]);
        assert_eq!(
            granted(
                GrantRule::Share { of: ShareOf::Initial, millionths: 500_000, strict: true },
                65_536,
                16_384
            ),
            [49_152]
        );
        let eighth = GrantRule::Share { of: ShareOf::Initial, millionths: 125_000, strict: false };
        assert_eq!(granted(eighth, 65_535, 1460), [6 * 1460; 7]);
        assert_eq!(granted(GrantRule::Bytes(4096), 65_535, 1460)[..3], [3 * 1460; 3]);
        assert_eq!(granted(GrantRule::Each, 16_384, 1460), [1460; 11]);
    }

    #[test]
    fn what_the_sender_has_left_falls_until_what_is_owed_is_half_of_it() {
        // W/3 taken leaves 2W/3.
        assert_eq!(granted(half(ShareOf::Remaining, false), 30_000, 1000)[0], 10_000);
        // 34 reads leave less than 16,384 B of 65,535.
        assert_eq!(granted(GrantRule::Below(16_384), 65_535, 1460), [34 * 1460]);
    }

    #[test]
    fn bytes_are_granted_as_they_come_while_the_sender_has_little_left() {
        // Firefox's rule with a hundredth of its numbers: 40 reads, 40 more, and from 960 B left on each read.
        let rule = GrantRule::BytesOrBelow { bytes: 40_000, below: 960 };
        assert_eq!(granted(rule, 120_000, 1000), [40_000; 3]);
        let found = granted(rule, 3000, 1000);
        assert_eq!(found, [3000], "the third leaves nothing of it");
        assert_eq!(granted(rule, 960, 100), [100; 9]);
    }

    #[test]
    fn a_number_of_bytes_above_the_credit_stops_nobody() {
        assert_eq!(granted(GrantRule::Bytes(4096), 1000, 100), [500, 500], "as much as is left");
    }

    #[test]
    fn grants_count_what_is_taken_and_not_what_has_arrived() {
        let mut grants = Grants::new(GrantRule::HALF, 1000);
        grants.on_received(900);
        assert_eq!((grants.on_consumed(499), grants.left()), (None, 100));
        assert_eq!((grants.on_consumed(1), grants.left()), (Some(500), 600));
        assert_eq!((grants.on_consumed(0), grants.on_consumed(400)), (None, None));
        grants.on_received(601);
        assert_eq!(grants.left(), -1, "more than it might");
    }

    #[test]
    fn a_raised_credit_is_granted_at_once() {
        let mut grants = Grants::new(GrantRule::HALF, 65_536);
        grants.on_received(1000);
        assert_eq!(grants.on_consumed(1000), None);
        assert_eq!(grants.raise(10 << 20), Some((10 << 20) - 65_536));
        assert_eq!(grants.raise(65_536), None, "it is not lowered");
        assert_eq!((grants.window(), grants.left()), (10 << 20, (10 << 20) - 1000));
        let more = (5 << 20) - 1000;
        grants.on_received(more);
        assert_eq!(grants.on_consumed(more), Some(5 << 20), "what was owed is granted with the rest");
    }

    #[test]
    fn a_credit_that_is_raised_by_its_rule_waits_for_it() {
        let of_rest = half(ShareOf::Remaining, false);
        let mut grants = Grants::new(of_rest, 65_535);
        assert_eq!(grants.raise_by_rule(70_000), None, "4465 B are far from half of what the sender has");
        grants.on_received(16_384);
        assert_eq!(grants.on_consumed(16_384), None);
        assert_eq!(grants.raise_by_rule(80_000), Some(80_000 - 65_535 + 16_384));
        assert_eq!((grants.window(), grants.left()), (80_000, 80_000));
    }

    #[test]
    fn a_changed_initial_credit_needs_no_grant() {
        let mut grants = Grants::new(GrantRule::HALF, 65_535);
        grants.on_received(60 * 1024);
        grants.change_initial(16 * 1024);
        assert_eq!((grants.window(), grants.left()), (16 * 1024, -44 * 1024));
        assert_eq!(grants.on_consumed(60 * 1024), Some(60 * 1024));
        assert_eq!(grants.left(), 16 * 1024);
    }

    fn rules() -> impl Strategy<Value = GrantRule> {
        let share =
            (any::<bool>(), 1..=1_000_000_u32, any::<bool>()).prop_map(|(remaining, millionths, strict)| {
                let of = if remaining { ShareOf::Remaining } else { ShareOf::Initial };
                GrantRule::Share { of, millionths, strict }
            });
        prop_oneof![
            share,
            (1..100_000_u64).prop_map(GrantRule::Bytes),
            (1..100_000_u64).prop_map(GrantRule::Below),
            (1..100_000_u64, 0..100_000_u64)
                .prop_map(|(bytes, below)| GrantRule::BytesOrBelow { bytes, below }),
            Just(GrantRule::Each),
        ]
    }

    proptest! {
        /// For any rule and reads: no more is granted than was taken, the sender never has more than its initial
        /// credit, and the receiver's remainder equals the sender's credit when nothing is in flight.
        #[test]
        fn both_ends_agree(rule in rules(), window in 1..200_000_u64, steps in prop::collection::vec((any::<bool>(), 0..50_000_u64), 0..100)) {
            let (mut sender, mut receiver) = (Window::new(window), Grants::new(rule, window));
            let mut arrived = 0;
            for (sends, bytes) in steps {
                if sends {
                    let sent = bytes.min(sender.available());
                    sender.charge(sent);
                    receiver.on_received(sent);
                    arrived += sent;
                } else {
                    let taken = bytes.min(arrived);
                    arrived -= taken;
                    if let Some(grant) = receiver.on_consumed(taken) {
                        prop_assert!(grant > 0);
                        sender.grant(grant).expect("no more than it began with");
                    }
                }
                prop_assert_eq!(sender.credit(), receiver.left());
                prop_assert!(sender.credit() <= window as i64);
            }
        }

        /// No rule but one that asks for more than there is ever leaves a sender waiting for good.
        #[test]
        fn a_receiver_that_takes_all_keeps_its_sender_going(
            rule in rules().prop_filter("a strict share of all is never exceeded", |rule| {
                !matches!(rule, GrantRule::Share { of: ShareOf::Initial, millionths: 1_000_000, strict: true })
            }),
            window in 1..200_000_u64,
            read in 1..2000_u64,
        ) {
            let (mut sender, mut receiver) = (Window::new(window), Grants::new(rule, window));
            let mut sent = 0;
            while sent < 4 * window {
                let bytes = sender.available().min(read);
                prop_assert!(bytes > 0, "it waits for good, {:?}", receiver);
                sender.charge(bytes);
                receiver.on_received(bytes);
                sent += bytes;
                if let Some(grant) = receiver.on_consumed(bytes) {
                    sender.grant(grant).expect("no more than it began with");
                }
            }
        }
    }
}
