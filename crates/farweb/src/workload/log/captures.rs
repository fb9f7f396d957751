//! Headers that HAProxy captured, `{a|b}` of the request and another group of the response behind it: which is the host, and which the
//! agent. A line does not name them, and the configuration orders them, so their form decides: one value alone that is a name with a
//! point or a port is the host, and the first that begins with a product and its version is the agent.
//!
//! Left out: an address, which may be a host as well as a client; headers of the response.
//!
//! Source: `HAProxy` 2.8, configuration manual, section 8.8, "Capturing HTTP headers".

use super::values;

/// Host and agent of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Captured<'a> {
    pub host: Option<&'a [u8]>,
    pub agent: Option<&'a [u8]>,
    /// The group holds values, and none alone is a host.
    pub is_unclear: bool,
}

/// Host and agent of the first group of `text`; `None` where it has no group.
pub(super) fn captured(text: &[u8]) -> Option<Captured<'_>> {
    let group = text.strip_prefix(b"{")?.split(|byte| *byte == b'}').next()?;
    let values = || group.split(|byte| *byte == b'|').filter(|value| !matches!(*value, b"" | b"-"));
    let mut hosts = values().filter(|value| is_name(value));
    let host = hosts.next().filter(|_| hosts.next().is_none());
    let agent = values().find(|value| is_product(value));
    Some(Captured { host, agent, is_unclear: host.is_none() && values().next().is_some() })
}

/// True for the name of a host with a point or a port, and false for an address.
fn is_name(value: &[u8]) -> bool {
    let Some(name) = values::host(value).filter(|_| values::is_host(value)) else { return false };
    let last = name.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    last.first().is_some_and(u8::is_ascii_alphabetic) && (last.len() < name.len() || name.len() < value.len())
}

/// True where a product with its version stands first: `Mozilla/5.0 …`.
fn is_product(value: &[u8]) -> bool {
    let name = value.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte)).count();
    name > 0 && value[name..].starts_with(b"/") && value.get(name + 1).is_some_and(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_is_the_host_and_the_first_product_the_agent() {
        for (text, host, agent, is_unclear) in [
            (
                "{www.a.example|Mozilla/5.0 (X11; a|b)} {nginx/1.1} ",
                "www.a.example",
                "Mozilla/5.0 (X11; a",
                false,
            ),
            ("{curl/8.1|a.example:8080} ", "a.example:8080", "curl/8.1", false),
            ("{localhost:80|192.0.2.7|http://b.example/x} ", "localhost:80", "-", false),
            ("{a.example|b.example} ", "-", "-", true),
            ("{192.0.2.7|text/html|1wt} ", "-", "-", true),
            ("{|} {|} ", "-", "-", false),
        ] {
            let found = captured(text.as_bytes()).unwrap();
            let of = |value: Option<&[u8]>| String::from_utf8_lossy(value.unwrap_or(b"-")).into_owned();
            assert_eq!(
                (of(found.host), of(found.agent), found.is_unclear),
                (host.into(), agent.into(), is_unclear),
                "{text}"
            );
        }
        assert_eq!(captured(b""), None);
    }
}
