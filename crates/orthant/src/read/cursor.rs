//! Numbers in text: a position in a piece of text that ends with a line.

/// What is wrong with a piece of text, and at which of its bytes.
#[derive(Debug)]
pub(crate) struct Fault {
    pub at: usize,
    pub problem: String,
}

/// Walks through text byte by byte; beyond the end it sees line ends only.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, at: 0 }
    }

    /// Whether all text was consumed.
    pub fn done(&self) -> bool {
        self.at >= self.bytes.len()
    }

    #[inline(always)]
    pub fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(b'\n')
    }

    #[inline(always)]
    pub fn step(&mut self) {
        self.at += 1;
    }

    /// Over so many bytes.
    pub fn skip(&mut self, count: usize) {
        self.at += count;
    }

    #[inline(always)]
    pub fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    /// Skips blanks and line ends.
    pub fn skip_white(&mut self) {
        while self.at < self.bytes.len() && self.bytes[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
    }

    /// Skips blanks; if the line ends here, goes to the next one.
    #[inline(always)]
    pub fn end_of_line(&mut self) -> bool {
        self.skip_blanks();
        let end = self.peek() == b'\n';
        if end {
            self.at += 1;
        }
        end
    }

    /// To the beginning of the next line.
    pub fn skip_line(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at += memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
    }

    /// Digits only; leaves the position where it was if there are none, or too many.
    #[inline(always)]
    pub fn unsigned(&mut self) -> Option<u64> {
        let rest = self.bytes.get(self.at..)?;
        let mut value = 0u64;
        let mut length = 0;
        for byte in rest {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            length += 1;
        }
        // 19 digits always fit, so that only more can have wrapped around.
        if length == 0 || length > 19 {
            return None;
        }
        self.at += length;
        Some(value)
    }

    /// A number with sign, fraction and exponent, or nan or inf in any case; leaves the position
    /// where it was if there is none.
    #[inline(always)]
    pub fn number(&mut self) -> Option<f64> {
        let start = self.at;
        if let Some(whole) = self.unsigned() {
            if whole < 1 << 53 && !matches!(self.peek(), b'.' | b'e' | b'E' | b'd' | b'D') {
                return Some(whole as f64);
            }
            self.at = start;
        }
        self.fraction()
    }

    fn fraction(&mut self) -> Option<f64> {
        let rest = self.bytes.get(self.at..)?;
        let (value, length) = fast_float2::parse_partial::<f64, _>(rest).ok()?;
        // Fortran writes 1.5D+03.
        if matches!(rest.get(length), Some(b'd' | b'D')) {
            let token = &rest[..rest.iter().position(|b| is_break(*b)).unwrap_or(rest.len())];
            let token: Vec<u8> =
                token.iter().map(|&b| if matches!(b, b'd' | b'D') { b'e' } else { b }).collect();
            let value = fast_float2::parse::<f64, _>(&token).ok()?;
            self.at += token.len();
            return Some(value);
        }
        self.at += length;
        Some(value)
    }

    /// An index counted from 1 in the file, from 0 here, of something of which there are `size`.
    #[inline(always)]
    pub fn index(&mut self, size: u64, what: &str) -> Result<u32, Fault> {
        match self.unsigned() {
            Some(index) if index.wrapping_sub(1) < size && self.at_break() => Ok((index - 1) as u32),
            Some(index) if self.at_break() => {
                Err(self.fault(format!("{what} {index} is not among the promised 1 to {size}")))
            }
            _ => Err(self.expected(&format!("the number of a {what}"))),
        }
    }

    /// Whether a blank, a line end or the end of the text comes next.
    #[inline(always)]
    pub fn at_break(&self) -> bool {
        is_break(self.peek())
    }

    /// Whether a blank was just passed.
    pub fn after_blank(&self) -> bool {
        self.at > 0 && matches!(self.bytes.get(self.at - 1), Some(b' ' | b'\t'))
    }

    /// The rest of the line without its end.
    pub fn line(&self) -> &'a [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// The bytes up to the next blank or line end, for messages.
    pub fn token(&self) -> &'a [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        &rest[..rest.iter().position(|b| is_break(*b)).unwrap_or(rest.len())]
    }

    pub fn fault(&self, problem: impl Into<String>) -> Fault {
        Fault { at: self.at.min(self.bytes.len()), problem: problem.into() }
    }

    /// A complaint that something else was expected here.
    pub fn expected(&self, what: &str) -> Fault {
        let mut start = self.clone();
        // A number may have been read in part: show the whole token.
        while !self.at_break() && start.at > 0 && start.bytes.get(start.at - 1).is_some_and(|b| !is_break(*b))
        {
            start.at -= 1;
        }
        match start.token() {
            [] => self.fault(format!("the line ends where {what} is expected")),
            token => start.fault(format!("{what} is expected, not {}", quoted(token))),
        }
    }
}

fn is_break(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Bytes of a file in a message: short, one line, printable.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(64)]);
    let mut shown: String = text.chars().take(24).flat_map(|c| c.escape_debug()).collect();
    if text.chars().count() > 24 || bytes.len() > 64 {
        shown.push('…');
    }
    format!("\"{shown}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Option<f64> {
        let mut cursor = Cursor::new(text.as_bytes());
        cursor.number().filter(|_| cursor.done())
    }

    #[test]
    fn numbers_of_every_spelling_parse() {
        let right = [
            ("0", 0.0),
            ("7", 7.0),
            ("-3", -3.0),
            ("+3", 3.0),
            ("1e3", 1e3),
            ("1.5E-2", 0.015),
            ("1.5D+2", 150.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("9007199254740993", 9007199254740992.0),
            ("12345678901234567890123", 12345678901234567890123.0),
            ("0.1", 0.1),
            ("2.2250738585072014e-308", f64::MIN_POSITIVE),
            ("inf", f64::INFINITY),
            ("-Inf", f64::NEG_INFINITY),
        ];
        for (text, value) in right {
            assert_eq!(number(text), Some(value), "{text}");
        }
        assert!(number("NaN").unwrap().is_nan());
        for text in ["", "x", "-", ".", "1d", "1x"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn too_many_digits_are_no_index() {
        assert_eq!(Cursor::new(b"9999999999999999999").unsigned(), Some(9999999999999999999));
        assert_eq!(Cursor::new(b"10000000000000000000").unsigned(), None);
    }
}
