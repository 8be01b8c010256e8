//! Text in pieces: read (and decompressed) by one thread while the others parse, so that a file
//! costs no more than the slower of the two. Buffers are used again: a large file never lies in
//! memory whole, only what was parsed from it does.

use std::io::Read;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::cursor::Fault;
use super::source::Source;
use crate::error::{Place, Result};
use crate::matrix::threads;

/// Small enough to stay in cache between reading and parsing.
const PIECE: usize = 512 * 1024;

/// Lines of a source, one by one for headers, then the rest in parallel.
pub(crate) struct Text<'a> {
    source: &'a Source<'a>,
    reader: Box<dyn Read + Send + 'a>,
    /// Of fixed length; `start..filled` was read but not handed out yet.
    buffer: Vec<u8>,
    start: usize,
    filled: usize,
    ended: bool,
    lines: u64,
    /// Bytes of the content before the buffer.
    before: u64,
}

/// How far a text was read: whole lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Position {
    /// Bytes of the content, decompressed.
    pub bytes: u64,
    pub lines: u64,
}

impl<'a> Text<'a> {
    pub fn new(source: &'a Source<'a>) -> Result<Self> {
        let reader = source.reader()?;
        // A small file (there are many in the tests) needs no large buffer.
        let length = source.plain_size().map_or(PIECE, |size| PIECE.min(size as usize + 1));
        let mut text = Text {
            source,
            reader,
            buffer: vec![0; length],
            start: 0,
            filled: 0,
            ended: false,
            lines: 0,
            before: 0,
        };
        text.fill()?;
        match &text.buffer[..text.filled] {
            [] => return Err(source.fault(Place::Whole, "the file is empty")),
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
                return Err(source.fault(Place::Byte(0), "the text is UTF-16: save it as UTF-8"));
            }
            [0xef, 0xbb, 0xbf, ..] => text.start = 3,
            _ => {}
        }
        Ok(text)
    }

    /// Reads until the buffer is full or the content ends.
    fn fill(&mut self) -> Result<()> {
        while !self.ended && self.filled < self.buffer.len() {
            match self.reader.read(&mut self.buffer[self.filled..]) {
                Ok(0) => self.ended = true,
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.source.failed(error)),
            }
        }
        Ok(())
    }

    /// Makes room behind what is waiting, growing only for a line longer than the buffer.
    fn refill(&mut self) -> Result<()> {
        self.buffer.copy_within(self.start..self.filled, 0);
        self.before += self.start as u64;
        self.filled -= self.start;
        self.start = 0;
        if self.filled == self.buffer.len() {
            self.buffer.resize(2 * self.buffer.len().max(PIECE / 2), 0);
        }
        self.fill()
    }

    /// The next line without its end, or nothing at the end of the text.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>> {
        let mut searched = 0;
        let end = loop {
            let waiting = &self.buffer[self.start..self.filled];
            if let Some(end) = memchr::memchr(b'\n', &waiting[searched..]) {
                break searched + end;
            }
            searched = waiting.len();
            if self.ended {
                break searched;
            }
            self.refill()?;
        };
        if self.start == self.filled {
            return Ok(None);
        }
        let from = self.start;
        self.start = (from + end + 1).min(self.filled);
        self.lines += 1;
        let line = &self.buffer[from..from + end];
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// How many lines were taken one by one: the number of the last of them.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// A piece of whole lines: a buffer, and where in it they are. The next one goes into a spare buffer.
    fn next_piece(&mut self, spare: &Mutex<Vec<Vec<u8>>>) -> Result<Option<(Vec<u8>, usize, usize)>> {
        self.fill()?;
        let cut = loop {
            match memchr::memrchr(b'\n', &self.buffer[self.start..self.filled]) {
                _ if self.ended => break self.filled,
                Some(end) => break self.start + end + 1,
                None => self.refill()?,
            }
        };
        if cut == self.start {
            return Ok(None);
        }
        let mut next = spare.lock().expect("no panic while locked").pop().unwrap_or_default();
        let tail = self.filled - cut;
        if next.len() < PIECE.max(2 * tail) && !self.ended {
            next.resize(PIECE.max(2 * tail), 0);
        }
        next[..tail].copy_from_slice(&self.buffer[cut..self.filled]);
        let buffer = std::mem::replace(&mut self.buffer, next);
        let start = std::mem::replace(&mut self.start, 0);
        self.before += cut as u64;
        self.filled = tail;
        Ok(Some((buffer, start, cut)))
    }

    /// Where the next line begins.
    pub fn position(&self) -> Position {
        Position { bytes: self.before + self.start as u64, lines: self.lines }
    }

    /// Goes on from a place that was reached before; nothing in between is looked at.
    pub fn skip_to(&mut self, to: Position) -> Result<()> {
        let mut left = to.bytes.saturating_sub(self.position().bytes);
        while left > 0 {
            let here = ((self.filled - self.start) as u64).min(left);
            self.start += here as usize;
            left -= here;
            if left > 0 {
                if self.ended {
                    let problem = "is shorter than it was when the work on it began: it has changed";
                    return Err(self.source.fault(Place::Whole, problem));
                }
                self.refill()?;
            }
        }
        self.lines = to.lines;
        Ok(())
    }

    /// Parses all that is left as [`Text::parse`] does, and hands on what was found in the order of the file, with the
    /// place up to which it reaches: only a few pieces are in memory at a time. Gives the number of lines.
    pub fn parse_each<T: Send>(
        mut self,
        parse: impl Fn(&[u8]) -> std::result::Result<T, Fault> + Sync,
        mut take: impl FnMut(T, Option<Position>) -> Result<()>,
    ) -> Result<u64> {
        type Waiting = Vec<(Vec<u8>, usize, usize)>;
        let spare = Mutex::new(Vec::<Vec<u8>>::new());
        let count = 2 * rayon::current_num_threads();
        let batch = |text: &mut Text| -> Result<(Waiting, u64)> {
            let mut pieces = Vec::with_capacity(count);
            while pieces.len() < count {
                match text.next_piece(&spare)? {
                    Some(piece) => pieces.push(piece),
                    None => break,
                }
            }
            Ok((pieces, text.position().bytes))
        };
        let (mut now, mut end) = batch(&mut self)?;
        let (source, mut lines) = (self.source, self.lines);
        while !now.is_empty() {
            let work = |(buffer, start, cut): (Vec<u8>, usize, usize)| {
                let text = &buffer[start..cut];
                let parsed = parse(text).map_err(|fault| {
                    (memchr::memchr_iter(b'\n', &text[..fault.at]).count() as u64, fault.problem)
                });
                let result = (parsed, count_lines(text));
                spare.lock().expect("no panic while locked").push(buffer);
                result
            };
            let (next, parsed) = rayon::join(|| batch(&mut self), || threads::in_order(now, work));
            let last = parsed.len().saturating_sub(1);
            for (at, (parsed, own)) in parsed.into_iter().enumerate() {
                let found =
                    parsed.map_err(|(line, problem)| source.fault(Place::Line(lines + line + 1), problem))?;
                lines += own;
                // Only the end of all of them is a place to go on from.
                take(found, (at == last).then_some(Position { bytes: end, lines }))?;
            }
            // After the faults: they lie before the place where reading failed.
            (now, end) = next?;
        }
        Ok(lines)
    }

    /// Parses all that is left: pieces of whole lines, in parallel, results in the order of the
    /// file, and how many lines the text has in all. Of several faults the first is reported.
    pub fn parse<T: Send>(
        mut self,
        parse: impl Fn(&[u8]) -> std::result::Result<T, Fault> + Sync,
    ) -> Result<(Vec<T>, u64)> {
        struct Piece<T> {
            index: usize,
            lines: u64,
            parsed: std::result::Result<T, (u64, String)>,
        }
        let pieces = Mutex::new(Vec::new());
        let spare = Mutex::new(Vec::<Vec<u8>>::new());
        let (waiting, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let work = |index: usize, buffer: Vec<u8>, start: usize, end: usize| {
            let text = &buffer[start..end];
            let parsed = parse(text).map_err(|fault| {
                stop.store(true, Ordering::Relaxed);
                (memchr::memchr_iter(b'\n', &text[..fault.at]).count() as u64, fault.problem)
            });
            let lines = count_lines(text);
            pieces.lock().expect("no panic while locked").push(Piece { index, lines, parsed });
            spare.lock().expect("no panic while locked").push(buffer);
        };
        let (source, before) = (self.source, self.lines);
        // The reading thread is one of the pool: it parses too when the others cannot keep up.
        let read = rayon::scope(|scope| {
            let limit = 2 * rayon::current_num_threads();
            for index in 0.. {
                let Some((buffer, start, cut)) = self.next_piece(&spare)? else { break };
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                if waiting.load(Ordering::Relaxed) < limit {
                    waiting.fetch_add(1, Ordering::Relaxed);
                    let (work, waiting) = (&work, &waiting);
                    scope.spawn(move |_| {
                        work(index, buffer, start, cut);
                        waiting.fetch_sub(1, Ordering::Relaxed);
                    });
                } else {
                    work(index, buffer, start, cut);
                }
            }
            Ok(())
        });
        let mut pieces = pieces.into_inner().expect("no panic while locked");
        pieces.sort_unstable_by_key(|piece| piece.index);
        let mut lines = before;
        let mut results = Vec::with_capacity(pieces.len());
        for piece in pieces {
            match piece.parsed {
                Ok(result) => results.push(result),
                Err((line, problem)) => return Err(source.fault(Place::Line(lines + line + 1), problem)),
            }
            lines += piece.lines;
        }
        // After the faults: they lie before the place where reading failed.
        read?;
        Ok((results, lines))
    }
}

/// The lines at the beginning of a file, as [`Source::head`] gives them.
pub(crate) fn head_lines(head: &[u8]) -> Vec<&[u8]> {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let mut lines: Vec<&[u8]> = text.split(|&b| b == b'\n').collect();
    if lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    lines.into_iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect()
}

/// Lines in a text whose last line may lack its end.
pub(crate) fn count_lines(text: &[u8]) -> u64 {
    let open = !text.is_empty() && text.last() != Some(&b'\n');
    memchr::memchr_iter(b'\n', text).count() as u64 + u64::from(open)
}

/// The number of the first line after `skip` lines for which `found` says yes; for messages, after
/// a fault that showed only when all lines were together.
pub(crate) fn find_line(source: &Source, skip: u64, mut found: impl FnMut(&[u8]) -> bool) -> Result<Place> {
    let mut text = Text::new(source)?;
    let mut number = 0;
    while let Some(line) = text.next_line()? {
        number += 1;
        if number > skip && found(line) {
            return Ok(Place::Line(number));
        }
    }
    Ok(Place::Whole)
}
