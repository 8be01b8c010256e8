//! Which cells there are to compute, and in which order: what is cheap and decisive first, then what takes long,
//! repetition by repetition, so that whatever was reached by the end shows every method.

use anyhow::Result;

use crate::cells::{Cells, Key};
use crate::protocol::{POLISHED, Protocol, Variant};
use crate::sets::Shared;
use orthant::contender::Contender;

/// Some runs of a method on a set, computed together and kept together.
pub struct Cell {
    /// The file that keeps them.
    pub(crate) file: String,
    pub(crate) set: Shared,
    pub(crate) contender: Contender,
    pub(crate) variant: Variant,
    pub(crate) key: Key,
    /// The first run, and how many.
    pub(crate) first: usize,
    pub(crate) runs: usize,
    /// Whether the labels of the best run are needed for a picture.
    pub(crate) pictured: bool,
    cost: f64,
    rank: (usize, usize),
}

/// The cells of some methods on a set.
pub struct Request<'a> {
    /// The file that keeps them.
    pub file: String,
    pub set: &'a Shared,
    pub methods: &'a [&'a str],
    pub variant: Variant,
    /// Runs where the start is random.
    pub runs: usize,
    pub pictured: bool,
}

/// All cells, whether or not they have been computed.
#[derive(Default)]
pub struct Plan {
    cells: Vec<Cell>,
}

impl Plan {
    /// Adds what is requested, unless it is in the plan already.
    pub fn add(&mut self, protocol: &Protocol, request: Request) -> Result<()> {
        let Request { file, set, methods, variant, runs, pictured } = request;
        let data = set.fingerprint()?;
        for method in methods.iter().filter(|method| **method != POLISHED) {
            for contender in Contender::parse(method)? {
                let key = protocol.key_of(&contender, set, &data, variant);
                let runs = if contender.start.is_random() { runs } else { 1 };
                let together = if contender.method.batched { runs } else { 1 };
                for first in (0..runs).step_by(together) {
                    let known =
                        |c: &Cell| c.file == file && c.key == key && c.first == first && c.runs >= together;
                    if self.cells.iter().any(known) {
                        continue;
                    }
                    self.cells.push(Cell {
                        file: file.clone(),
                        set: set.clone(),
                        key: key.clone(),
                        variant,
                        first,
                        runs: together,
                        pictured,
                        cost: cost(&contender, set, together, protocol.limit),
                        rank: (phase(&contender), first),
                        contender: contender.clone(),
                    });
                }
            }
        }
        Ok(())
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Those that are still to be computed, in order; `older` engines may have done it.
    pub fn missing(self, cells: &Cells, older: bool) -> Vec<Cell> {
        let mut missing: Vec<Cell> =
            self.cells.into_iter().filter(|cell| !cell.is_done(cells, older)).collect();
        missing.sort_by_key(|cell| cell.rank);
        missing
    }
}

impl Cell {
    fn is_done(&self, cells: &Cells, older: bool) -> bool {
        let others = if older { cells.older(&self.file, &self.key, usize::MAX) } else { vec![] };
        let has = |run: usize| cells.has(&self.file, &self.key, run) || others.iter().any(|o| o.run == run);
        let there = (self.first..self.first + self.runs).all(has);
        let polished =
            self.key.method != "onp-mf:svd" || older || cells.has(&self.file, &polished(&self.key), 0);
        let pictured = !self.pictured || cells.text(&labels_file(&self.file, &self.key)).is_some();
        there && polished && pictured
    }

    /// The method, as cells name it.
    pub fn method(&self) -> &str {
        &self.key.method
    }

    /// Multiplications to be expected, roughly.
    pub fn cost(&self) -> f64 {
        self.cost
    }

    /// For people.
    pub fn title(&self) -> String {
        let run = match self.runs {
            1 if self.contender.start.is_random() => format!(", run {}", self.first + 1),
            1 => String::new(),
            runs => format!(", {runs} runs"),
        };
        format!("{} on {}{run}", self.contender.title(), self.set.name)
    }
}

/// The key of ONP-MF followed by EM, from that of ONP-MF.
pub fn polished(key: &Key) -> Key {
    Key { method: POLISHED.into(), ..key.clone() }
}

/// Where the labels of the best run are kept.
pub fn labels_file(file: &str, key: &Key) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || ".-".contains(c) { c } else { '-' };
    let slug: String = format!("{} {} {}", key.set, key.method, key.settings).chars().map(plain).collect();
    format!("{file}.{slug}.labels.txt")
}

/// Lloyd's methods share their passes and take seconds; random starts of the multiplicative methods take hours.
fn phase(contender: &Contender) -> usize {
    match (contender.method.name, contender.start.is_random()) {
        _ if contender.method.batched => 0,
        ("onp-mf", _) => 1,
        ("best", _) => 2,
        (_, false) => 3,
        (_, true) => 4,
    }
}

/// Multiplications: iterations to be expected × what one takes (see ARCHITECTURE.md).
fn cost(contender: &Contender, set: &Shared, runs: usize, limit: Option<usize>) -> f64 {
    let (n, k) = (set.matrix.points() as f64, set.k as f64);
    let products = set.matrix.nonzeros() as f64 * k;
    let (iterations, each) = match (contender.method.name, contender.start.is_random()) {
        _ if contender.method.batched => (30.0 * runs as f64, products),
        ("onp-mf" | "best", _) => (2500.0, 2.0 * products + 9.0 * n * k * k),
        (_, false) => (limit.unwrap_or(20000) as f64, 2.0 * products + n * k * k),
        (_, true) => (limit.unwrap_or(5000) as f64, 2.0 * products + n * k * k),
    };
    iterations * each
}
