//! Directives of format strings with `%`, of Apache and of Squid, and what tells the styles of format strings apart.
//!
//! Gunicorn and Undertow have Apache's directives in other spellings, which tell the unit of `%D`.
//!
//! Source: as [`names`]; gunicorn, "Settings"; Undertow, `io.undertow.attribute`; Tomcat 9 and 10.1, "Access Log Valve".

use super::field::Field;
use super::names::{self, APACHE, Names, SQUID};

/// A format string of gunicorn or of Undertow in Apache's directives, `%(h)s` and `%{i,Host}` as `%h` and `%{Host}i`.
pub(super) fn in_apaches(text: &str) -> Option<String> {
    of_gunicorn(text).or_else(|| of_undertow(text))
}

/// The same of gunicorn: `%(L)s` is in s, `%(M)s` in ms.
fn of_gunicorn(text: &str) -> Option<String> {
    let own = [
        ("%(L)s", "%T"),
        ("%(M)s", "%{ms}T"),
        ("%(D)s", "%{us}T"),
        ("%(p)s", "%P"),
        ("%(a)s", "%{User-Agent}i"),
    ];
    let text = own.iter().fold(text.to_owned(), |text, (theirs, ours)| text.replace(theirs, ours));
    text.contains("%(").then(|| text.replace("%(", "%").replace(")s", ""))
}

/// The same of Undertow, where `%D` is in ms. `None` if it names no header.
fn of_undertow(text: &str) -> Option<String> {
    let mut pieces = text.split("%{");
    let mut whole = pieces.next()?.to_owned();
    let mut has_header = false;
    for piece in pieces {
        match piece.split_once('}').and_then(|(name, rest)| Some((name.split_once(',')?, rest))) {
            Some(((kind @ ("i" | "o" | "c"), name), rest)) => {
                has_header = true;
                whole += &format!("%{{{name}}}{}{rest}", if kind == "c" { "C" } else { kind });
            }
            _ => whole += &format!("%{{{piece}"),
        }
    }
    has_header.then(|| whole.replace("%D", "%{ms}T"))
}

/// True for a format string of Squid: its codes have two letters or more.
pub(super) fn is_squid(text: &[u8]) -> bool {
    directives(text, true).any(|name| {
        let is_time = name.starts_with(b"{") && (name.ends_with(b"}tl") || name.ends_with(b"}tg"));
        let letters = name.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
        is_time || letters > 1 && names::field(SQUID, &name) != Field::Ignored
    })
}

/// True if a format string names variables of nginx.
pub(super) fn is_nginx(text: &[u8]) -> bool {
    text.windows(2).any(|pair| pair[0] == b'$' && (pair[1] == b'{' || pair[1].is_ascii_alphabetic()))
}

/// True for a format string of nginx, Squid or Apache, where braces are text.
pub(super) fn is_foreign(text: &[u8]) -> bool {
    is_nginx(text) || directives(text, false).next().is_some()
}

/// Styles of a format string that has several.
pub(super) fn mixed(text: &[u8], squid: bool) -> Option<&'static str> {
    let names: &Names = if squid { SQUID } else { APACHE };
    let has_percent = || directives(text, squid).any(|name| names::field(names, &name) != Field::Ignored);
    let has_own = || {
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let end = rest.iter().position(|byte| *byte == b'}');
            match (rest[0], end) {
                (b'%', _) => at += directive(rest, squid).map_or(1, |(_, length)| length),
                (b'$', Some(end)) if rest.get(1) == Some(&b'{') => at += end,
                (b'{', Some(end)) if names::own(&String::from_utf8_lossy(&rest[1..end])).is_ok() => {
                    return true;
                }
                _ => at += 1,
            }
        }
        false
    };
    match (is_nginx(text), has_percent()) {
        (true, true) => Some("variables with $ and directives with %"),
        (true, false) if has_own() => Some("variables with $ and names in braces"),
        (false, true) if has_own() => Some("directives with % and names in braces"),
        _ => None,
    }
}

/// Names of the directives of a format string.
fn directives(text: &[u8], squid: bool) -> impl Iterator<Item = Vec<u8>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += text.get(at..)?.iter().position(|byte| *byte == b'%')?;
            let (name, length) = directive(&text[at..], squid).unwrap_or((b"%".to_vec(), 1));
            at += length;
            if name != b"%" {
                return Some(name);
            }
        }
    })
}

/// The directive that `text` begins with, as tables of names have it, and its length.
pub(super) fn directive(text: &[u8], squid: bool) -> Option<(Vec<u8>, usize)> {
    let mut at = 1;
    if text.get(1) == Some(&b'%') {
        return Some((b"%".to_vec(), 2));
    }
    let mut name = Vec::new();
    // Encodings and widths of Squid, statuses of Apache.
    let flags: &[u8] = if squid { b"\"'#/[-.0123456789" } else { b"!,0123456789" };
    at += text[at..].iter().take_while(|byte| flags.contains(byte)).count();
    let mut ways = |at: &mut usize| {
        while let Some(way @ (b'<' | b'>')) = text.get(*at) {
            if squid {
                name.push(*way);
            }
            *at += 1;
        }
    };
    ways(&mut at);
    let mut braced: &[u8] = &[];
    if text.get(at) == Some(&b'{') {
        let end = at + text[at..].iter().position(|byte| *byte == b'}')? + 1;
        braced = &text[at..end];
        at = end;
        // Squid has the way of a header behind its name: `%{Referer}>h`.
        ways(&mut at);
    }
    let is_letter = |at: usize| text.get(at).is_some_and(u8::is_ascii_alphabetic);
    let end = match squid {
        true => end_of_code(text, at),
        // Directives of two letters begin with `^`.
        false if text.get(at) == Some(&b'^') && is_letter(at + 1) && is_letter(at + 2) => at + 3,
        false => at + usize::from(is_letter(at)),
    };
    let code = &text[at..end];
    name.extend(code.strip_prefix(b"http::").unwrap_or(code));
    if !squid || matches!(&*name, b">h" | b"<h" | b"tl" | b"tg") {
        name.splice(..0, braced.iter().copied());
    }
    (end > at).then_some((name, end))
}

/// End of the code of Squid at `at`, with its namespace: `Ss`, `err_code`, `ssl::>sni`, `http::>rm`.
fn end_of_code(text: &[u8], at: usize) -> usize {
    let count =
        |from: usize, is_of: fn(&u8) -> bool| text[from..].iter().take_while(|byte| is_of(byte)).count();
    let is_in_code = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    let mut end = at + count(at, is_in_code);
    while end > at && text[end..].starts_with(b"::") {
        end += 2 + count(end + 2, |byte| b"<>".contains(byte));
        end += count(end, is_in_code);
    }
    end
}
