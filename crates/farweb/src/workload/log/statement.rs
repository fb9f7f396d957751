//! Statements of configurations around a format string, taken apart: nginx's `log_format`, Apache's `LogFormat` and `CustomLog`, Squid's
//! `logformat`, HAProxy's `log-format`, gunicorn's `access_log_format`, lighttpd's `accesslog.format`, and `pattern` of Tomcat's valve.

use std::borrow::Cow;

use super::values::wrong;

/// Statements with a format string.
const KEYWORDS: [&str; 9] = [
    "log_format",
    "LogFormat",
    "CustomLog",
    "logformat",
    "log-format",
    "access_log_format",
    "access-logformat",
    "accesslog.format",
    "pattern",
];

/// The format string of a statement, pieces joined, or `text` if it is none.
///
/// # Errors
/// When a statement names a format and has none.
pub(super) fn format_of(text: &str) -> Result<Cow<'_, str>, String> {
    let text = text.trim();
    if text.starts_with('<') {
        return Ok(of_xml(text).map_or(Cow::Borrowed(text), Cow::Owned));
    }
    let plain = text.trim_start_matches("--");
    let end = plain.find(|sign: char| sign.is_whitespace() || sign == '=').unwrap_or(plain.len());
    let (keyword, rest) = plain.split_at(end);
    if !KEYWORDS.contains(&keyword) && !text.starts_with('\'') {
        return Ok(Cow::Borrowed(text));
    }
    let rest =
        if KEYWORDS.contains(&keyword) { rest.trim_start_matches(is_between).trim_end() } else { text };
    let found = match keyword {
        // A name stands in front, and quotes are part of the format.
        "logformat" => {
            rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start()).to_owned()
        }
        "log-format" if !rest.starts_with(['"', '\'']) => rest.to_owned(),
        "LogFormat" => quoted(rest).into_iter().next().unwrap_or_default(),
        "CustomLog" => quoted(rest).pop().unwrap_or_default(),
        _ => quoted(rest).concat(),
    };
    match found.is_empty() {
        true => Err(wrong(
            "--log-format",
            text.as_bytes(),
            "a statement with its format, such as log_format main '…';",
        )),
        false => Ok(Cow::Owned(found)),
    }
}

/// True for signs between the parts of a statement.
fn is_between(sign: char) -> bool {
    sign.is_whitespace() || "=:(),+\\".contains(sign)
}

/// The quoted pieces of a statement, as far as its semicolon.
fn quoted(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = text.trim_start_matches(is_between);
    while let Some(quote) = rest.chars().next().filter(|sign| *sign != ';') {
        if !matches!(quote, '"' | '\'') {
            let end = rest.find(|sign| is_between(sign) || sign == ';').unwrap_or(rest.len());
            rest = rest[end..].trim_start_matches(is_between);
            continue;
        }
        let (mut piece, mut escaped, mut end) = (String::new(), false, rest.len());
        for (at, sign) in rest.char_indices().skip(1) {
            if sign == quote && !escaped {
                end = at + 1;
                break;
            }
            if escaped && sign == quote {
                piece.pop();
            }
            piece.push(sign);
            escaped = sign == '\\' && !escaped;
        }
        pieces.push(piece);
        rest = rest[end..].trim_start_matches(is_between);
    }
    pieces
}

/// The value of an attribute `pattern`.
fn of_xml(text: &str) -> Option<String> {
    let value = text.split_once("pattern=")?.1;
    let quote = value.chars().next().filter(|sign| matches!(sign, '"' | '\''))?;
    let inner = value[1..].split(quote).next()?;
    let entities = [("&quot;", "\""), ("&apos;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];
    Some(entities.iter().fold(inner.to_owned(), |text, (entity, sign)| text.replace(entity, sign)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_of_a_statement_is_that_inside() {
        let rows = [
            ("$remote_addr [$time_local]", "$remote_addr [$time_local]"),
            (
                "log_format main '$remote_addr [$time_local] \"$request\" '\n  '$status $bytes_sent';",
                "$remote_addr [$time_local] \"$request\" $status $bytes_sent",
            ),
            (
                "log_format j escape=json '{\"t\":\"$msec\",' \"\\\"s\\\":$status}\"; access_log x j;",
                "{\"t\":\"$msec\",\"s\":$status}",
            ),
            ("'$remote_addr it\\'s ' '$status';", "$remote_addr it's $status"),
            ("LogFormat \"%h %t \\\"%r\\\" %b\" combined", "%h %t \"%r\" %b"),
            ("CustomLog \"logs/access_log\" \"%h %t \\\"%r\\\" %b\"", "%h %t \"%r\" %b"),
            ("access_log_format = '%(h)s \"%(r)s\" %(b)s'", "%(h)s \"%(r)s\" %(b)s"),
            ("access_log_format = (\n  '%(h)s '\n  '%(b)s')", "%(h)s %(b)s"),
            ("--access-logformat '%(h)s %(b)s'", "%(h)s %(b)s"),
            ("logformat mine %ts.%03tu %>a \"%{Referer}>h\" %<st", "%ts.%03tu %>a \"%{Referer}>h\" %<st"),
            ("log-format \"%ci:%cp [%tr] %{+Q}r\"", "%ci:%cp [%tr] %{+Q}r"),
            ("log-format %ci:%cp\\ [%tr]\\ %ST", "%ci:%cp\\ [%tr]\\ %ST"),
            ("accesslog.format = \"%h %V %t \\\"%r\\\" %>s %b\"", "%h %V %t \"%r\" %>s %b"),
            ("<Valve className=\"x\" pattern=\"%h %t &quot;%r&quot; %s %b\" />", "%h %t \"%r\" %s %b"),
        ];
        for (text, format) in rows {
            assert_eq!(format_of(text).as_deref(), Ok(format), "{text}");
        }
        for without in ["LogFormat combined", "log_format main", "log_format", "logformat squid", "''"] {
            assert!(
                format_of(without).is_err_and(|why| why.contains("a statement with its format")),
                "{without}"
            );
        }
        let open = "log_format main '$remote_addr \\";
        assert_eq!(format_of(open).as_deref(), Ok("$remote_addr \\"));
    }
}
