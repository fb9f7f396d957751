//! Names of pages and what was left out of them, for people.

use std::fmt::Write as _;

use super::url::Url;

/// Letters of a page's name in a line.
const NAME: usize = 48;

const OF_NUMBERS: &str = "0123456789.,";
const SIGNS: &str = "+-−";

/// A URL without its scheme and query, as short as a line allows.
#[must_use]
pub fn short_url(url: &str) -> String {
    let parts = Url::parse(url).unwrap_or_else(|| Url { path: url.to_owned(), ..Url::default() });
    elided(&visible(format!("{}{}", parts.authority, parts.path).trim_end_matches('/')), NAME)
}

/// A sentence on entries left out, by reason, the most frequent one first.
#[must_use]
pub fn left_out(dropped: &[(String, u64)]) -> String {
    format!("Left out: {}.", by_number(dropped))
}

/// Reasons with their numbers, the most frequent one first.
pub(super) fn by_number(dropped: &[(String, u64)]) -> String {
    let mut rows: Vec<_> = dropped.iter().collect();
    rows.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    let rows: Vec<_> = rows.iter().map(|(why, number)| format!("{number} {why}")).collect();
    rows.join(", ")
}

/// The first `most` letters of a part of a file, in single quotes unless it has some: JSON is full of double ones.
pub(super) fn quoted(text: &str, most: usize) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let escaped = |letter: char| match letter {
        '"' | '\'' if letter != quote => letter.to_string(),
        _ => letter.escape_debug().to_string(),
    };
    let shown: String = text.chars().take(most).map(escaped).collect();
    let more = if text.chars().nth(most).is_some() { "…" } else { "" };
    format!("{quote}{shown}{more}{quote}")
}

/// Writes out the characters that command a terminal, an escape as `\u001b`.
pub(super) fn visible(text: &str) -> String {
    let mut found = String::new();
    for letter in text.chars() {
        let is_command = letter.is_control() && !matches!(letter, '\t' | '\n');
        if is_command || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') {
            write!(found, "\\u{:04x}", u32::from(letter)).expect("memory is written to");
        } else {
            found.push(letter);
        }
    }
    found
}

/// Text of `most` letters at most: of a longer one the middle is left out, and no number is cut.
pub(super) fn elided(text: &str, most: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= most {
        return text.to_owned();
    }
    let (half, is_digit) = ((most - 1) / 2, |letter: char| OF_NUMBERS.contains(letter));
    let is_of_number = |letter: char| is_digit(letter) || SIGNS.contains(letter);
    let first: String = letters[..half].iter().collect();
    let first = if is_digit(letters[half]) { first.trim_end_matches(is_of_number) } else { &first };
    let begin = letters.len() - half;
    let last: String = letters[begin..].iter().collect();
    let last = if is_of_number(letters[begin - 1]) { last.trim_start_matches(is_digit) } else { &last };
    format!("{first}…{last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_short_in_a_line() {
        let rows = [
            ("https://a.example/shop/?q=1#x", "a.example/shop"),
            ("https://me@A.example:8443", "me@A.example:8443"),
            ("t", "t"),
            ("https://[::1/x", "https://[::1/x"),
            ("https://a.example/\u{1b}[31m\u{202e}", "a.example/\\u001b[31m\\u202e"),
        ];
        for (url, short) in rows {
            assert_eq!(short_url(url), short);
        }
        let long = "https://a.example/".to_owned() + &"x".repeat(99);
        assert_eq!(short_url(&long).chars().count(), 2 * 23 + 1);
    }

    #[test]
    fn no_number_is_cut() {
        assert_eq!(elided("about 12,345 requests and 678,901", 20), "about …d 678,901");
        assert_eq!(elided("page 1 of 12,345,678", 12), "page …");
        assert_eq!(elided("a-page-on-monday-at-noon.har", 16), "a-page-…oon.har");
    }

    #[test]
    fn parts_of_a_file_are_quoted_in_one_line() {
        let rows = [(r#""a": 5"#, r#"'"a": 5'"#), ("it's\n", "\"it's\\n\""), ("123456789", "'12345678…'")];
        for (text, expected) in rows {
            assert_eq!(quoted(text, 8), expected);
        }
    }

    #[test]
    fn the_most_frequent_reason_is_first() {
        let dropped =
            [("cache", 1), ("web socket", 3), ("tunnel", 1)].map(|(why, number)| (why.to_owned(), number));
        assert_eq!(left_out(&dropped), "Left out: 3 web socket, 1 cache, 1 tunnel.");
    }
}
