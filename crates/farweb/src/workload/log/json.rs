//! Objects of JSON, a line each, also as nginx writes them unless its format says `escape=json`: with `\x22` for a quote and `\xC3\xA9` for é
//! (`ngx_http_log_escape`). Bytes that are not UTF-8 are replaced.

use serde_json::Value;

/// The value of a line.
///
/// # Errors
/// Where it is no JSON, in the line as it is.
pub(super) fn value(line: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(line).or_else(|why| {
        let text = without_hexadecimals(line);
        serde_json::from_str(&String::from_utf8_lossy(&text)).map_err(|_| why)
    })
}

/// A line with the bytes that `\xNN` stands for.
fn without_hexadecimals(line: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(line.len());
    let mut rest = line;
    while let [first, behind @ ..] = rest {
        let digits = behind.get(1..3).filter(|_| *first == b'\\' && behind[0] == b'x');
        let byte = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        let length = match byte {
            Some(sign @ (b'"' | b'\\')) => {
                text.extend([b'\\', sign]);
                4
            }
            Some(control @ ..=0x1F) => {
                text.extend(format!("\\u{control:04x}").bytes());
                4
            }
            Some(byte) => {
                text.push(byte);
                4
            }
            None => {
                // A backslash takes the byte behind it along.
                let length = (1 + usize::from(*first == b'\\')).min(rest.len());
                text.extend(&rest[..length]);
                length
            }
        };
        rest = &rest[length..];
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_nginx_are_read_as_their_bytes() {
        let rows = [
            (r#"{"a":"say \x22hi\x22"}"#, "say \"hi\""),
            (r#"{"a":"Zend\x5CHttp"}"#, "Zend\\Http"),
            (r#"{"a":"\xE3\x80\x80 Build"}"#, "\u{3000} Build"),
            (r#"{"a":"tab\x09, \x0A, \x7F"}"#, "tab\t, \n, \u{7f}"),
            (r#"{"a":"\xC3"}"#, "\u{fffd}"),
            (r#"{"a":"\x22, and \\x22 of a backslash, \u0022"}"#, "\", and \\x22 of a backslash, \""),
        ];
        for (line, text) in rows {
            assert_eq!(value(line.as_bytes()).unwrap()["a"], text, "{line}");
        }
        assert_eq!(value(b"{\"a\":\"caf\xE9\"}").unwrap()["a"], "caf\u{fffd}", "Latin-1");
        for (line, column) in
            [(r#"{"a":"\x2"}"#, 8), (r#"{"a":"\xZZ"}"#, 8), (r#"{"a":\x22b\x22}"#, 6), (r#"{"a":"\x22}"#, 8)]
        {
            assert_eq!(value(line.as_bytes()).unwrap_err().column(), column, "{line}");
        }
    }
}
