//! A proxy: where two legs meet.
//!
//! Models a proxy that stores a request and sends it on when it has all of it, and that sends a response on as it reads it,
//! byte for byte. It reads as fast as bytes come and holds any number of them. Leaves out the time that it takes, a bound on
//! what it holds, and caching.
//!
//! Source: the NZ–US studies (Proc. SPIE 3529, 1998, doi 10.1117/12.333730; CNDS 2001, pp. 97–102), sections on the US proxy.

use crate::carrier::Context;
use crate::conn::ExchangeId;

use super::{Decision, Stand};

/// A proxy.
pub(crate) struct Proxy;

impl Stand for Proxy {
    fn on_request(&mut self, _cx: &Context, _id: ExchangeId) -> Decision {
        Decision::PassOn
    }
}
