//! What people read while the program works. Printing never costs a result: where standard error fails, the program
//! works on in silence. What comes from files and arguments never reaches a terminal as anything but text.

use std::borrow::Cow;
use std::io::Write;

/// A line (or several) on standard error, as `format!` takes it.
macro_rules! tell {
    ($($text:tt)*) => { $crate::terminal::say(&format!($($text)*)) };
}
pub(crate) use tell;

/// A text to standard error, with a line end.
pub fn say(text: &str) {
    let line = format!("{}\n", harmless(text.trim_end_matches('\n')));
    // There is nobody to tell that nobody can be told.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// A line on a terminal that the next one is written over; an empty one takes it away.
pub fn show(text: &str) {
    let line = format!("\r\x1b[K{}", harmless(text));
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
