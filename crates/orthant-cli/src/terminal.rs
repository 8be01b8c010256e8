//! What people read while the program works. Printing never costs a result: where standard error fails, the program
//! works on in silence. What comes from files and arguments never reaches a terminal as anything but text.

use std::borrow::Cow;
use std::io::{IsTerminal, Write};

use terminal_size::{Height, Width, terminal_size_of};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Tables are so wide at most where no terminal says otherwise.
const USUAL: usize = 80;
/// A terminal that claims to be narrower than this is not believed.
const LEAST: usize = 24;

/// A line (or several) on standard error, as `format!` takes it.
macro_rules! tell {
    ($($text:tt)*) => { $crate::terminal::say(&format!($($text)*)) };
}
pub(crate) use tell;

/// How wide standard output is, if it is a terminal.
fn columns_of_output() -> Option<usize> {
    let output = std::io::stdout();
    output.is_terminal().then(|| believed(terminal_size_of(output)))
}

/// How wide standard error is, if it is a terminal.
pub fn columns_of_errors() -> Option<usize> {
    let errors = std::io::stderr();
    errors.is_terminal().then(|| believed(terminal_size_of(errors)))
}

fn believed(size: Option<(Width, Height)>) -> usize {
    size.map_or(USUAL, |(width, _)| usize::from(width.0).max(LEAST))
}

/// How wide a table on standard output may be.
pub fn columns() -> usize {
    columns_of_output().unwrap_or(USUAL)
}

/// A text for standard output: on a terminal its lines are broken between words.
pub fn for_people(text: &str) -> Cow<'_, str> {
    match columns_of_output() {
        Some(room) => broken(text, room).into(),
        None => text.into(),
    }
}

/// Lines no longer than a width, as far as their words are. What follows stands below what it belongs to, the last column of
/// a line with columns; a command can still be copied.
fn broken(text: &str, room: usize) -> String {
    let mut lines: Vec<String> = vec![];
    for line in text.split('\n') {
        let is_command = line.trim_start().starts_with("orthant ");
        // What is quoted must not be parted.
        if line.width() <= room || (is_command && line.contains('\'')) {
            lines.push(line.to_string());
            continue;
        }
        let (more, room) = if is_command { (" \\", room - 2) } else { ("", room) };
        let column = line.rfind("  ").map_or(0, |at| line[..at + 2].width());
        let indent = match column {
            _ if is_command => line.width() - line.trim_start().width() + 4,
            column if column <= room / 2 => column,
            _ => 0,
        };
        let (begin, words) =
            line.split_at(line.rfind("  ").filter(|_| indent == column).map_or(0, |at| at + 2));
        let mut current = begin.to_string();
        let mut is_empty = true;
        for word in words.split(' ') {
            if !is_empty && current.width() + 1 + word.width() > room {
                lines.push(format!("{current}{more}"));
                current = " ".repeat(indent);
            } else if !is_empty {
                current.push(' ');
            }
            current.push_str(word);
            is_empty = false;
        }
        lines.push(current);
    }
    lines.join("\n")
}

/// The beginning of a text, as much as has room.
pub fn cut(text: &str, room: usize) -> Cow<'_, str> {
    if text.width() <= room {
        return text.into();
    }
    let mut told = String::new();
    for c in text.chars() {
        if told.width() + c.width().unwrap_or(0) + 1 > room {
            break;
        }
        told.push(c);
    }
    (told + "…").into()
}

/// A text to standard error, with a line end; on a terminal lines are broken between words.
pub fn say(text: &str) {
    match columns_of_errors() {
        Some(room) => say_as_it_is(&broken(&harmless(text), room)),
        None => say_as_it_is(text),
    }
}

/// The same in lines as they are.
pub fn say_as_it_is(text: &str) {
    let line = format!("{}\n", harmless(text.trim_end_matches('\n')));
    // There is nobody to tell that nobody can be told.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// A line on a terminal that the next one is written over; an empty one takes it away.
pub fn show(text: &str) {
    let text = harmless(text);
    // A line that wraps could not be written over.
    let line = format!("\r\x1b[K{}", cut(&text, columns_of_errors().unwrap_or(USUAL)));
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// The text with all that would steer a terminal written out, except line ends and tabs.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return text.into();
    }
    let written = |c: char| match steers(c) {
        true => c.escape_unicode().to_string(),
        false => c.to_string(),
    };
    text.chars().map(written).collect::<String>().into()
}

/// JSON that steers no terminal either; such characters stand in strings only.
pub fn harmless_json(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return text.into();
    }
    let written = |c: char| match steers(c) {
        true => format!("\\u{:04x}", u32::from(c)),
        false => c.to_string(),
    };
    text.chars().map(written).collect::<String>().into()
}

/// Control characters, and those that turn the direction of writing.
fn steers(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_between_words() {
        let text = "model     ONMF, chosen by the data\nshort\n\n  orthant cluster set.npy -k 6 --out result\nthe end of it all, here";
        let lines = "model     ONMF, chosen\n          by the data\nshort\n\n  orthant cluster \\\n      set.npy -k 6 \\\n      --out result\nthe end of it all, here";
        assert_eq!(broken(text, 23), lines);
        // What has no blanks stays whole.
        assert_eq!(broken("written to /a/folder/of/its/own", 24), "written to\n/a/folder/of/its/own");
        assert_eq!(broken("/a/folder/of/its/own/and/more", 24), "/a/folder/of/its/own/and/more");
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!((cut("abcdef", 6), cut("abcdef", 5)), ("abcdef".into(), "abcd…".into()));
        assert_eq!(cut("名名名", 5), "名名…");
    }

    #[test]
    fn only_what_steers_a_terminal_is_written_out() {
        assert_eq!(harmless("ρ₀ → a\tb\n„ç“"), "ρ₀ → a\tb\n„ç“");
        assert_eq!(harmless("\u{1b}[2J\r\u{7f}\u{9b}x"), "\\u{1b}[2J\\u{d}\\u{7f}\\u{9b}x");
        assert_eq!(harmless("a\u{202e}b"), "a\\u{202e}b");
        let text = serde_json::json!({"a\u{9b}": "\u{7f}\u{202e}é"}).to_string();
        let safe = harmless_json(&text);
        assert!(!safe.contains(['\u{9b}', '\u{7f}', '\u{202e}']), "{safe}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&safe).unwrap(),
            serde_json::from_str::<serde_json::Value>(&text).unwrap()
        );
    }
}
