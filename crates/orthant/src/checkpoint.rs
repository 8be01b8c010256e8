//! Saved work: everything that a run needs to go on to the same bits, as bytes.
//!
//! Little-endian numbers behind a magic word and before a checksum; arrays carry their lengths, and no
//! length is believed before the bytes are there.

use crate::error::{Error, Result};
use crate::pipeline::{Run, Stage};
use crate::run::{Progress, Stop, Trace};

const MAGIC: &[u8; 8] = b"orthant2";

/// What a state keeps, in an order that it alone knows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Saved {
    /// Whole numbers: counters, flags, positions of random generators.
    pub words: Vec<u64>,
    /// Arrays of numbers.
    pub numbers: Vec<Vec<f64>>,
    /// Arrays of labels.
    pub labels: Vec<Vec<i32>>,
}

/// Work in progress: the runs that have ended and the batch that is under way.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    /// What was to be done with which data: work goes on only for the same.
    pub of: String,
    /// Runs that have ended.
    pub finished: Vec<Run>,
    /// Courses of the batch's runs so far.
    pub traces: Vec<Trace>,
    /// State of the batch.
    pub state: Saved,
}

/// Tells other numbers from these.
pub(crate) fn digest(words: impl Iterator<Item = u64>) -> u64 {
    words
        .fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x100_0000_01b3).rotate_left(23))
}

fn checksum(bytes: &[u8]) -> u64 {
    // FNV-1a: enough to tell a torn file from a whole one.
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &b| (hash ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

struct Writer(Vec<u8>);

impl Writer {
    fn word(&mut self, x: u64) {
        self.0.extend_from_slice(&x.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn each<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.word(items.len() as u64);
        items.iter().for_each(|item| write(self, item));
    }

    fn numbers(&mut self, numbers: &[f64]) {
        self.each(numbers, |w, x| w.word(x.to_bits()));
    }

    fn labels(&mut self, labels: &[i32]) {
        self.each(labels, |w, x| w.0.extend_from_slice(&x.to_le_bytes()));
    }

    fn history(&mut self, history: &[Progress]) {
        self.each(history, |w, p| {
            w.word(p.objective.to_bits());
            w.word(p.residual.to_bits());
            w.word(u64::from(p.converged));
        });
    }

    fn stop(&mut self, stop: Option<Stop>) {
        self.word(match stop {
            None => 0,
            Some(Stop::Converged) => 1,
            Some(Stop::MaxIterations) => 2,
            Some(Stop::Cancelled) => 3,
            Some(Stop::OutOfTime) => 4,
        });
    }
}

/// Reads what [`Writer`] wrote; `None` where the bytes end too early or make no sense.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, tail) = self.0.split_first_chunk::<N>()?;
        self.0 = tail;
        Some(*head)
    }

    fn word(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn number(&mut self) -> Option<f64> {
        self.word().map(f64::from_bits)
    }

    /// A length that the rest of the bytes can hold, for items of at least `size` bytes.
    fn length(&mut self, size: usize) -> Option<usize> {
        usize::try_from(self.word()?).ok().filter(|&n| n.checked_mul(size).is_some_and(|b| b <= self.0.len()))
    }

    fn text(&mut self) -> Option<String> {
        let length = self.length(1)?;
        let (head, tail) = self.0.split_at(length);
        self.0 = tail;
        String::from_utf8(head.to_vec()).ok()
    }

    fn each<T>(&mut self, size: usize, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.length(size)?).map(|_| read(self)).collect()
    }

    fn numbers(&mut self) -> Option<Vec<f64>> {
        self.each(8, Self::number)
    }

    fn labels(&mut self) -> Option<Vec<i32>> {
        self.each(4, |r| r.take().map(i32::from_le_bytes))
    }

    fn history(&mut self) -> Option<Vec<Progress>> {
        self.each(24, |r| {
            Some(Progress { objective: r.number()?, residual: r.number()?, converged: r.word()? == 1 })
        })
    }

    fn stop(&mut self) -> Option<Option<Stop>> {
        Some(match self.word()? {
            0 => None,
            1 => Some(Stop::Converged),
            2 => Some(Stop::MaxIterations),
            3 => Some(Stop::Cancelled),
            4 => Some(Stop::OutOfTime),
            _ => return None,
        })
    }

    fn run(&mut self) -> Option<Run> {
        let stages = self.each(24, |r| {
            let (name, aim) = (r.text()?, r.text()?);
            let aim = crate::algorithms::method(&aim).ok()?;
            Some(Stage { name, aim, relative_error: r.number()?, history: r.history()?, stop: r.stop()?? })
        })?;
        Some(Run {
            stages,
            objective: self.number()?,
            scaled_objective: self.number()?,
            relative_error: self.number()?,
            iterate_negativity: self.number()?,
            iterate_orthogonality: self.number()?,
            labels: self.labels()?,
        })
    }

    fn checkpoint(&mut self) -> Option<Checkpoint> {
        let of = self.text()?;
        let finished = self.each(8, Self::run)?;
        let traces = self.each(16, |r| Some(Trace { history: r.history()?, stop: r.stop()? }))?;
        let state = Saved {
            words: self.each(8, Self::word)?,
            numbers: self.each(8, Self::numbers)?,
            labels: self.each(8, Self::labels)?,
        };
        self.0.is_empty().then_some(Checkpoint { of, finished, traces, state })
    }
}

impl Checkpoint {
    /// As bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut w = Writer(MAGIC.to_vec());
        w.text(&self.of);
        w.each(&self.finished, |w, run| {
            w.each(&run.stages, |w, stage| {
                w.text(&stage.name);
                w.text(stage.aim.name);
                w.word(stage.relative_error.to_bits());
                w.history(&stage.history);
                w.stop(Some(stage.stop));
            });
            let figures = [
                run.objective,
                run.scaled_objective,
                run.relative_error,
                run.iterate_negativity,
                run.iterate_orthogonality,
            ];
            figures.iter().for_each(|x| w.word(x.to_bits()));
            w.labels(&run.labels);
        });
        w.each(&self.traces, |w, trace| {
            w.history(&trace.history);
            w.stop(trace.stop);
        });
        w.each(&self.state.words, |w, x| w.word(*x));
        w.each(&self.state.numbers, |w, x| w.numbers(x));
        w.each(&self.state.labels, |w, x| w.labels(x));
        let sum = checksum(&w.0);
        w.word(sum);
        w.0
    }

    /// From bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Checkpoint> {
        let broken = |problem: &str| Error::Data(format!("the checkpoint {problem}: start without it"));
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            return Err(broken("is not one that this version wrote"));
        };
        let Some((body, sum)) = rest.split_last_chunk::<8>() else {
            return Err(broken("ends too early"));
        };
        if u64::from_le_bytes(*sum) != checksum(&bytes[..bytes.len() - 8]) {
            return Err(broken("is damaged or not complete"));
        }
        Reader(body).checkpoint().ok_or_else(|| broken("makes no sense"))
    }
}

/// Takes arrays out of a [`Saved`] in the order in which they were put in.
pub(crate) struct Unpacking {
    words: std::vec::IntoIter<u64>,
    numbers: std::vec::IntoIter<Vec<f64>>,
    labels: std::vec::IntoIter<Vec<i32>>,
}

impl Unpacking {
    pub(crate) fn new(saved: Saved) -> Self {
        Unpacking {
            words: saved.words.into_iter(),
            numbers: saved.numbers.into_iter(),
            labels: saved.labels.into_iter(),
        }
    }

    pub(crate) fn missing() -> Error {
        Error::Data("the checkpoint does not fit this method: start without it".into())
    }

    /// All that was not yet taken.
    pub(crate) fn rest(self) -> Saved {
        Saved { words: self.words.collect(), numbers: self.numbers.collect(), labels: self.labels.collect() }
    }

    pub(crate) fn word(&mut self) -> Result<u64> {
        self.words.next().ok_or_else(Self::missing)
    }

    /// An array of exactly `length` numbers.
    pub(crate) fn numbers(&mut self, length: usize) -> Result<Vec<f64>> {
        self.numbers.next().filter(|x| x.len() == length).ok_or_else(Self::missing)
    }

    pub(crate) fn number(&mut self) -> Result<f64> {
        Ok(self.numbers(1)?[0])
    }

    pub(crate) fn labels(&mut self, length: usize) -> Result<Vec<i32>> {
        self.labels.next().filter(|x| x.len() == length).ok_or_else(Self::missing)
    }
}
