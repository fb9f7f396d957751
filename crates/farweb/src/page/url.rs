//! URLs in their parts, and the target of a reference from one to another.
//!
//! Source: RFC 3986, appendix B and section 5.2, with `;` as any letter of a path. As browsers do, blanks in front and
//! line ends within are passed over. A part that is empty counts as absent.

use std::net::Ipv6Addr;

/// The parts of a URL.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Url {
    /// In small letters, empty for a reference without one.
    pub scheme: String,
    /// Host with its user and port.
    pub authority: String,
    pub path: String,
    pub query: String,
    pub fragment: String,
}

impl Url {
    /// `None` where the brackets of an address do not fit.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim_start_matches(|letter: char| letter <= ' ').replace(['\t', '\r', '\n'], "");
        let (scheme, rest) = match text.split_once(':') {
            Some((scheme, rest)) if is_scheme(scheme) => (scheme.to_ascii_lowercase(), rest),
            _ => (String::new(), text.as_str()),
        };
        let (authority, rest) = rest
            .strip_prefix("//")
            .map_or(("", rest), |rest| rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len())));
        let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let [authority, path, query, fragment] = [authority, path, query, fragment].map(str::to_owned);
        has_sound_brackets(&authority).then_some(Self { scheme, authority, path, query, fragment })
    }

    /// Host and port, in small letters.
    pub(crate) fn host(&self) -> String {
        self.authority.rsplit('@').next().unwrap_or_default().to_lowercase()
    }

    /// The URL that a reference in the document at this one leads to. A URL of another scheme is as it is.
    pub(crate) fn join(&self, reference: &str) -> Option<String> {
        let mut to = Self::parse(reference)?;
        if !to.scheme.is_empty() && to.scheme != self.scheme {
            return Some(reference.to_owned());
        }
        to.scheme.clone_from(&self.scheme);
        if to.authority.is_empty() {
            to.authority.clone_from(&self.authority);
            if to.path.is_empty() {
                to.path.clone_from(&self.path);
                if to.query.is_empty() {
                    to.query.clone_from(&self.query);
                }
            } else {
                let folder = self.path.rfind('/').map_or("/", |end| &self.path[..=end]);
                let path = if to.path.starts_with('/') { to.path } else { format!("{folder}{}", to.path) };
                to.path = without_dots(&path);
            }
        }
        Some(to.whole())
    }

    fn whole(&self) -> String {
        let before =
            |sign: &str, part: &str| if part.is_empty() { String::new() } else { format!("{sign}{part}") };
        format!(
            "{}:{}{}{}{}",
            self.scheme,
            before("//", &self.authority),
            self.path,
            before("?", &self.query),
            before("#", &self.fragment)
        )
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// True without brackets, and where they hold an address of IPv6, or of a later version.
fn has_sound_brackets(authority: &str) -> bool {
    if !authority.contains(['[', ']']) {
        return true;
    }
    let host = authority.rsplit('@').next().unwrap_or_default();
    let Some((address, behind)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
        return false;
    };
    let plain = address.split_once('%').map_or(address, |(plain, _)| plain);
    (address.starts_with(['v', 'V']) || plain.parse::<Ipv6Addr>().is_ok())
        && (behind.is_empty() || behind.starts_with(':'))
}

/// An absolute path without the steps `.` and `..`.
fn without_dots(path: &str) -> String {
    let mut steps = Vec::new();
    let mut rest = path.split('/').skip(1).peekable();
    while let Some(step) = rest.next() {
        let is_dot = matches!(step, "." | "..");
        if step == ".." {
            steps.pop();
        }
        if !is_dot {
            steps.push(step);
        } else if rest.peek().is_none() {
            steps.push("");
        }
    }
    format!("/{}", steps.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_lead_where_rfc_3986_says() {
        let base = Url::parse("http://a/b/c/d;p?q").unwrap();
        // RFC 3986, 5.4, but for references that keep an empty part.
        let rows = [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q#s"),
            ("g?y#s", "http://a/b/c/g?y#s"),
            (";x", "http://a/b/c/;x"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("g/../h", "http://a/b/c/h"),
            ("https://A/x?", "https://A/x?"),
            (" HTTP://A/x?", "http://A/x"),
        ];
        for (reference, to) in rows {
            assert_eq!(base.join(reference).as_deref(), Some(to), "{reference}");
        }
        assert_eq!(Url::parse("http://a").unwrap().join("g").as_deref(), Some("http://a/g"));
        assert_eq!(base.join("//[x"), None);
    }

    #[test]
    fn a_url_has_a_host_unless_its_brackets_are_odd() {
        let host = |text: &str| Url::parse(text).map(|url| (url.scheme.clone(), url.host()));
        let rows = [
            ("HTTPS://me@A.example:8443/x", "https", "a.example:8443"),
            ("http://[2001:DB8::1]:80/", "http", "[2001:db8::1]:80"),
            ("data:image/png;base64,AA//B", "data", ""),
            ("blob:https://a.example/0", "blob", ""),
            ("//a.example/x", "", "a.example"),
            ("a b:c", "", ""),
        ];
        for (text, scheme, expected) in rows {
            assert_eq!(host(text), Some((scheme.to_owned(), expected.to_owned())), "{text}");
        }
        for text in
            ["https://[::1/", "https://::1]/", "https://[a.example]/", "https://x[::1]/", "https://[::1]x/"]
        {
            assert_eq!(host(text), None, "{text}");
        }
    }
}
