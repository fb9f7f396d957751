//! Rules of HTTP/2 on a leg: sizes, the opening of connections, and credits that grow.

use super::Check;
use crate::http::credit::Window;
use crate::http::h2::endpoint::Role;
use crate::http::h2::settings::Settings;
use crate::scenario::{Http2, Http2End, OpenRule};
use crate::units::Duration;

/// Most data in a frame of HTTP/2 before a setting allows more (RFC 9113, section 6.5.2).
const FRAGMENT_MAX: u64 = 16_384;

/// Largest header block. Chosen: what fits one frame of it.
const BLOCK_MAX: u64 = 16_384;

impl Check {
    pub(super) fn http2(&mut self, key: &str, http2: &Http2, is_last: bool) {
        if http2.open_rule == OpenRule::Fixed && is_last {
            let why = "connections on the last leg are each to one host, and open when a request to it comes";
            self.report(
                format!("{key}.open_rule"),
                format!("found \"fixed\"; {why}: write \"at-session-limit\""),
            );
        }
        if http2.idle_timeout == Duration::ZERO {
            self.report(format!("{key}.idle_timeout"), "found 0 s; write a duration above zero");
        }
        let ends = [("", &http2.both), (".client", &http2.client), (".server", &http2.server)];
        for (name, end) in ends {
            self.http2_end(&format!("{key}{name}"), end);
        }
        self.growth(key, http2);
    }

    /// Checks the keys that let credits grow, with those that they need.
    fn growth(&mut self, key: &str, http2: &Http2) {
        let ends = [(Role::Client, &http2.client, ".client"), (Role::Server, &http2.server, ".server")];
        let ends = ends.map(|(role, own, name)| (http2.end(role), http2.config(role).credit, own, name));
        let all_grow = [
            (http2.both.credit_max, ends.iter().any(|(_, credit, ..)| credit.tuning.is_some()), ""),
            (http2.client.credit_max, ends[0].1.tuning.is_some(), ".client"),
            (http2.server.credit_max, ends[1].1.tuning.is_some(), ".server"),
        ];
        for (max, _, name) in all_grow.into_iter().filter(|(max, grows, _)| max.is_some() && !grows) {
            let message = format!(
                "found {}, and no credit grows; write tuning = \"bdp-grpc\", \"bdp-hyper\" or \"drain-eighth\" beside it, or \
                 leave it out",
                max.unwrap_or_default()
            );
            self.report(format!("{key}{name}.credit_max"), message);
        }
        let mut wrong = Vec::new();
        for (end, credit, own, name) in ends {
            let Some(growth) = credit.tuning else { continue };
            if let Some((raised, _)) = credit.raised {
                let message = format!(
                    "an end lets credits grow or raises them once, and this one raises that of a stream to {raised} B; write \
                     \"none\", or another preset"
                );
                let place = if own.tuning.is_some() || own.preset.is_some() { name } else { "" };
                wrong.push((format!("{key}{place}.tuning"), message));
            }
            if growth.max < credit.stream {
                let message = format!(
                    "a stream begins with {} B, and grows to {} B; write at least as much",
                    credit.stream, growth.max
                );
                let place = if own.credit_max.is_some() || end.credit_max.is_none() { name } else { "" };
                wrong.push((format!("{key}{place}.credit_max"), message));
            }
        }
        wrong.dedup();
        for (place, message) in wrong {
            self.report(place, message);
        }
    }

    fn http2_end(&mut self, key: &str, end: &Http2End) {
        let limits = [
            ("session_credit", end.session_credit, 0, Window::MAX),
            ("session_credit_raised", end.session_credit_raised, 0, Window::MAX),
            ("connection_credit", end.connection_credit, Settings::DEFAULT.initial_window, Window::MAX),
            ("credit_max", end.credit_max, 1, Window::MAX),
            ("fragment", end.fragment, 1, FRAGMENT_MAX),
            ("header_first", end.header_first, 1, BLOCK_MAX),
            ("header_repeat", end.header_repeat, 1, BLOCK_MAX),
        ];
        for (name, size, low, high) in limits {
            if let Some(size) = size.filter(|size| !(low..=high).contains(&size.get())) {
                self.report(format!("{key}.{name}"), format!("found {size}; it is {low} B to {high} B"));
            }
        }
    }
}
