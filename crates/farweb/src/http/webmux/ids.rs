//! Numbers of sessions.
//!
//! Models the ids of the opening end: odd, from 3, the lowest free one first. 0 and 1 are for control messages, even
//! ones for the other end, which opens none here. Leaves nothing out.
//!
//! Source: W3C Jigsaw, `MuxStream.java`; W3C libwww 5.0, `HTMuxCh.c`.

/// The first number.
const FIRST: u8 = 3;
/// Largest number of sessions.
pub const SESSIONS_MAX: u32 = 127;

/// Numbers that are in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ids {
    taken: u128,
}

impl Ids {
    /// Takes the lowest free number. None when 127 sessions are open.
    pub const fn take(&mut self) -> Option<u8> {
        let place = self.taken.trailing_ones();
        if place >= SESSIONS_MAX {
            return None;
        }
        self.taken |= 1 << place;
        Some(FIRST + 2 * place as u8)
    }

    /// Gives a number back.
    ///
    /// # Panics
    /// When it was not taken.
    pub fn give_back(&mut self, id: u8) {
        let place = u32::from((id - FIRST) / 2);
        assert!(self.taken >> place & 1 == 1, "session {id} is not open");
        self.taken &= !(1 << place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_odd_number_is_taken() {
        let mut ids = Ids::default();
        assert_eq!([ids.take(), ids.take(), ids.take()], [Some(3), Some(5), Some(7)]);
        ids.give_back(5);
        assert_eq!([ids.take(), ids.take()], [Some(5), Some(9)]);
    }

    #[test]
    fn a_hundred_and_twenty_seven_sessions_are_open_at_once() {
        let mut ids = Ids::default();
        let all: Vec<_> = std::iter::from_fn(|| ids.take()).collect();
        assert_eq!((all.len(), all.last()), (127, Some(&255)));
        ids.give_back(255);
        assert_eq!((ids.take(), ids.take()), (Some(255), None));
    }
}
