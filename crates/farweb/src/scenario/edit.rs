//! Edits of a scenario's text, one key at a time: comments, order and spelling of all other keys stay.

use toml_edit::{DocumentMut, InlineTable, Item, Table, Value};

use super::document::{quote, segments};

/// The text with `value` at a dotted key, such as `path.link.0.down.rate`, or without that key.
///
/// A key keeps the comment beside it. Tables on the way to a new key are made: inline, but at the top level. A table that an
/// edit leaves empty goes with its last key. `value` is TOML, or else bare text, as for overrides.
///
/// # Errors
/// When the text is not TOML, or the key leads through a plain value or beyond the end of a list.
pub fn edit(text: &str, key: &str, value: Option<&str>) -> Result<String, String> {
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| format!("not TOML: {}", error.message()))?;
    let path = segments(key)?;
    let reached = match value {
        Some(value) => set(document.as_item_mut(), &path, of_text(value), true),
        None => remove(document.as_item_mut(), &path).map(drop),
    };
    reached.ok_or_else(|| format!("{} cannot be reached in this text", quote(key)))?;
    Ok(document.to_string())
}

fn of_text(text: &str) -> Value {
    text.trim().parse().unwrap_or_else(|_| Value::from(text.trim()))
}

/// The value or table at `key` of a table, or at that place of a list.
fn entry<'i>(item: &'i mut Item, key: &str) -> Option<&'i mut Item> {
    match key.parse::<usize>() {
        Ok(place) if !item.is_table_like() => item.get_mut(place),
        _ => item.as_table_like_mut()?.get_mut(key),
    }
}

fn set(item: &mut Item, path: &[String], mut value: Value, is_top: bool) -> Option<()> {
    let (key, rest) = path.split_first()?;
    if rest.is_empty() {
        let found = entry(item, key);
        match found.and_then(Item::as_value_mut) {
            Some(held) => {
                *value.decor_mut() = held.decor().clone();
                *held = value;
            }
            None => {
                item.as_table_like_mut()?.insert(key, value.into());
                // A space before the closing brace belongs to the value that was last.
                item.as_inline_table_mut().into_iter().for_each(InlineTable::fmt);
            }
        }
        return Some(());
    }
    if entry(item, key).is_none() {
        let new = if is_top { Item::Table(Table::new()) } else { InlineTable::new().into() };
        item.as_table_like_mut()?.insert(key, new);
    }
    set(entry(item, key)?, rest, value, false)
}

/// Removes a key. True if its table is empty now.
fn remove(item: &mut Item, path: &[String]) -> Option<bool> {
    let (key, rest) = path.split_first()?;
    let goes = match entry(item, key) {
        None => return Some(false),
        Some(_) if rest.is_empty() => true,
        Some(held) => remove(held, rest)?,
    };
    let Some(table) = item.as_table_like_mut().filter(|_| goes) else { return Some(false) };
    table.remove(key);
    let is_empty = table.is_empty();
    item.as_inline_table_mut().into_iter().for_each(InlineTable::fmt);
    Some(is_empty)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"# A scenario.
name = "a" # kept

[[path.link]]
preset = "geo-viasat"  # the long part
up = { rate = "2 Mbit/s", delay = "80 ms" }  # measured

[[path.link]]
down.rate = "1 Gbit/s"
"#;

    fn edited(key: &str, value: Option<&str>) -> String {
        edit(TEXT, key, value).unwrap()
    }

    #[test]
    fn a_value_changes_where_it_stands_and_comments_stay() {
        let change = |from: &str, to: &str| TEXT.replace(from, to);
        assert_eq!(edited("name", Some("b c")), change("\"a\"", "\"b c\""));
        assert_eq!(edited("path.link.0.preset", Some("\"5g\"")), change("\"geo-viasat\"", "\"5g\""));
        assert_eq!(edited("path.link.0.up.rate", Some("3 Mbit/s")), change("2 Mbit/s", "3 Mbit/s"));
        assert_eq!(edited("path.link.1.down.rate", Some("2 Gbit/s")), change("1 Gbit/s", "2 Gbit/s"));
    }

    #[test]
    fn a_new_key_stands_behind_the_others_of_its_table() {
        let text = edited("path.link.0.down.loss", Some("{ kind = \"none\" }"));
        let line = "# measured\ndown = { loss = { kind = \"none\" } }\n";
        assert!(text.contains(line), "{text}");
        assert!(
            edited("path.link.0.up.queue", Some("2 kB")).contains("delay = \"80 ms\", queue = \"2 kB\" }")
        );
        let text = edited("run.seed", Some("7"));
        assert!(text.ends_with("\n[run]\nseed = 7\n"), "{text}");
    }

    #[test]
    fn a_key_that_goes_takes_its_empty_table_along() {
        let added = edited("path.link.0.down.loss", Some("0.1"));
        assert_eq!(edit(&added, "path.link.0.down.loss", None).unwrap(), TEXT);
        assert_eq!(edited("path.link.0.down.loss", None), TEXT);
        assert!(edited("path.link.0.up.rate", None).contains("up = { delay = \"80 ms\" }"));
    }

    #[test]
    fn a_key_that_cannot_be_reached_is_an_error() {
        let error = |text, key| edit(text, key, Some("1")).unwrap_err();
        assert_eq!(error(TEXT, "name.x"), "\"name.x\" cannot be reached in this text");
        assert_eq!(
            error(TEXT, "path.link.2.preset"),
            "\"path.link.2.preset\" cannot be reached in this text"
        );
        assert!(error("a = ", "name").starts_with("not TOML: "));
    }
}
