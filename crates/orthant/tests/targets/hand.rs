//! Structure from plain bytes: those of a fuzzer, or random ones, steer what is done to something sound. The same bytes
//! always do the same.

/// Bytes that have broken readers before.
const TRICKY: [&[u8]; 26] = [
    b"999999999999999999",
    b"18446744073709551616",
    b"-1",
    b"0",
    b"4294967296",
    b"nan",
    b"-inf",
    b"1e999",
    b"null",
    b"[]",
    b"{}",
    b"\"\"",
    b",",
    b"\n",
    b"\n\n",
    b"\r",
    b"\t",
    b"\0",
    b"\"",
    b"#",
    b":",
    b"%",
    b"\xff\xff\xff\xff",
    b"\x00\x00\x00\x80",
    b" 1 1 1\n",
    b"\x1b[2J",
];

/// What a field of eight bytes may be changed to: lengths, counts, and numbers that are none.
const WORDS: [u64; 12] = [
    0,
    1,
    2,
    7,
    1 << 20,
    1 << 40,
    u64::MAX,
    i64::MAX as u64,
    0x7ff8_0000_0000_0000,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x0000_0000_0000_0001,
];

/// What is left of the bytes that decide; where they have run out, all are 0.
pub struct Hand<'a>(pub &'a [u8]);

impl Hand<'_> {
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// A number below `count`, or 0.
    pub fn below(&mut self, count: usize) -> usize {
        // Three bytes: no file here has more than 16 MB.
        let number = (0..3).fold(0, |number, _| number << 8 | usize::from(self.byte()));
        number % count.max(1)
    }

    pub fn of<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.below(from.len())]
    }

    /// Whether there is more to decide.
    pub fn goes_on(&self) -> bool {
        !self.0.is_empty()
    }

    /// Edits until there is nothing left to decide by, at most so many.
    pub fn edit(&mut self, bytes: &mut Vec<u8>, most: usize) {
        for _ in 0..most {
            if bytes.is_empty() || !self.goes_on() {
                return;
            }
            let (kind, length, at) = (self.byte() % 9, bytes.len(), self.below(bytes.len()));
            match kind {
                0 => bytes[at] = self.byte(),
                1 => bytes[at] ^= 1 << (self.byte() % 8),
                2 => bytes.truncate(at),
                3 => drop(bytes.drain(at..(at + 1 + self.below(20)).min(length))),
                4 => drop(bytes.splice(at..at, self.of(&TRICKY).iter().copied())),
                5 => {
                    let piece = bytes[at..(at + 1 + self.below(40)).min(length)].to_vec();
                    bytes.splice(at..at, piece);
                }
                6 => {
                    let piece = bytes[self.below(length)..].to_vec();
                    bytes.truncate(at);
                    bytes.extend(piece);
                }
                // A number, a word or a name for another: what a reader of texts meets.
                7 => {
                    let in_word = |b: &u8| b.is_ascii_alphanumeric() || b"._-\"".contains(b);
                    let end = bytes[at..].iter().position(|b| !in_word(b)).map_or(length, |count| at + count);
                    bytes.splice(at..end, self.of(&TRICKY).iter().copied());
                }
                _ => self.edit_field(bytes),
            }
        }
    }

    /// Changes a field of eight bytes: what a reader of bytes meets. They are not aligned, as texts come before them.
    pub fn edit_field(&mut self, bytes: &mut [u8]) {
        let at = self.below(bytes.len());
        let (end, word) = ((at + 8).min(bytes.len()), self.of(&WORDS).to_le_bytes());
        bytes[at..end].copy_from_slice(&word[..end - at]);
    }
}
