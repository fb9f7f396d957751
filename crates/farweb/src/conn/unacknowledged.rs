//! Responses that have been written to a connection, until they are acknowledged.

use std::collections::VecDeque;

use super::ExchangeId;

/// Responses handed to a connection in full, until their last byte is acknowledged.
///
/// One needs no allocation.
#[derive(Debug, Default)]
pub(crate) struct Unacknowledged {
    first: Option<Response>,
    /// Those behind it, once there have been any.
    #[expect(
        clippy::box_collection,
        reason = "a word in each of the many connections that never have two responses"
    )]
    rest: Option<Box<VecDeque<Response>>>,
    /// Number of the oldest that have been sent to the end.
    sent: usize,
}

/// A response in the stream of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Response {
    pub(crate) exchange: ExchangeId,
    /// The place in the stream behind its last byte.
    pub(crate) end: u64,
}

impl Unacknowledged {
    pub(crate) fn push(&mut self, response: Response) {
        match self.first {
            None => self.first = Some(response),
            Some(_) => self.rest.get_or_insert_default().push_back(response),
        }
    }

    /// The place in the stream behind the last byte of the oldest response.
    #[inline]
    pub(crate) fn first_end(&self) -> Option<u64> {
        self.first.map(|oldest| oldest.end)
    }

    /// The oldest response, if all of it is among the first `bytes` of the stream, which leaves it out from now on.
    #[inline]
    pub(crate) fn take_up_to(&mut self, bytes: u64) -> Option<Response> {
        let oldest = self.first.filter(|oldest| oldest.end <= bytes)?;
        self.first = self.rest.as_mut().and_then(|rest| rest.pop_front());
        self.sent = self.sent.saturating_sub(1);
        Some(oldest)
    }

    /// The oldest response that had not been sent to the end, if it is now that the first `bytes` of the stream are.
    pub(crate) fn note_sent(&mut self, bytes: u64) -> Option<Response> {
        let next = match self.sent {
            0 => self.first,
            sent => self.rest.as_ref().and_then(|rest| rest.get(sent - 1)).copied(),
        };
        let response = next.filter(|response| response.end <= bytes)?;
        self.sent += 1;
        Some(response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Slab;

    #[test]
    fn responses_are_sent_and_acknowledged_in_their_order() {
        let mut ids = Slab::new();
        let responses = [100, 250, 300].map(|end| Response { exchange: ids.insert(()), end });
        let mut waiting = Unacknowledged::default();
        responses.iter().for_each(|response| waiting.push(*response));
        let exchange = |response: Option<Response>| response.map(|response| response.exchange);
        let [first, second, third] = responses.map(|response| Some(response.exchange));
        assert_eq!(exchange(waiting.note_sent(99)), None);
        assert_eq!(exchange(waiting.note_sent(260)), first);
        assert_eq!(exchange(waiting.note_sent(260)), second);
        assert_eq!(exchange(waiting.note_sent(260)), None, "each is returned once");
        assert_eq!(exchange(waiting.take_up_to(100)), first);
        assert_eq!(exchange(waiting.take_up_to(249)), None);
        assert_eq!(exchange(waiting.note_sent(300)), third);
        assert_eq!(exchange(waiting.take_up_to(300)), second);
        assert_eq!(exchange(waiting.take_up_to(300)), third);
        assert_eq!(waiting.first_end(), None);
    }
}
