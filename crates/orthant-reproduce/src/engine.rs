//! Which engine computed a cell: a digest of what its method finds on a small fixed set.
//!
//! Every change that moves a bit of a method's results makes another engine of it, also another set of instructions of the
//! processor. Methods have engines of their own: a better search does not make the hours of another method's runs
//! worthless. Cells of different engines are never mixed: see [`mark`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::Result;
use orthant::contender::Contender;
use orthant::generate::{Generator, Synthetic};
use orthant::matrix::{Csr, Data, Dense, Matrix, open};
use orthant::report::page::escape;
use orthant::start::Start;
use orthant::{Job, Outcome, cluster};

use crate::noise::title;
use crate::protocol::{BEYOND, PAPER, POLISHED};
use crate::shown::{Shown, Verdict};

/// Iterations of the multiplicative methods: enough to see how they compute.
const LIMIT: usize = 30;
/// Below this an entry of the sparse probe is left out.
const SPARSE: f64 = 0.3;
/// How many cells a note names.
const NAMED: usize = 8;

/// The engine of each method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engines(BTreeMap<String, String>);

impl Engines {
    /// Labels, objectives, errors and iterations of all methods on dense and sparse points of both precisions, to the
    /// last bit. The points are enough for several strips and blocks.
    pub fn probe() -> Result<Engines> {
        let kinds = kinds()?;
        let mut engines = BTreeMap::new();
        for name in PAPER.iter().chain(BEYOND).filter(|name| **name != POLISHED) {
            let contender = Contender::parse(name)?.remove(0);
            let runs = if contender.start.is_random() { 2 } else { 1 };
            let mut digest = Digest::default();
            for matrix in &kinds {
                let data: Box<dyn Data> = open(matrix, None)?;
                let outcome = cluster(&*data, &contender.job(3, runs, 1, Some(LIMIT)), &mut ())?;
                digest.take(&outcome);
                // The cell of ONP-MF gives what EM makes of it, too.
                if *name == "onp-mf:svd" {
                    let labels = Start::Labels(Arc::new(outcome.solution.labels));
                    let em = Job { start: Some(labels), ..Job::new("em-onmf", 3)? };
                    digest.take(&cluster(&*data, &em, &mut ())?);
                }
            }
            engines.insert(name.to_string(), format!("{:016x}", digest.0));
        }
        engines.insert(POLISHED.into(), engines["onp-mf:svd"].clone());
        Ok(Engines(engines))
    }

    /// That of a method of the tables.
    pub fn of(&self, method: &str) -> &str {
        self.0.get(method).map_or("unknown", String::as_str)
    }

    /// One name for all of them together.
    pub fn together(&self) -> String {
        let mut digest = Digest::default();
        self.0.values().flat_map(|engine| engine.bytes()).for_each(|byte| digest.add(byte.into()));
        format!("{:016x}", digest.0)
    }
}

/// The probe: the same points in both precisions, and sparse.
fn kinds() -> Result<[Matrix; 3]> {
    let made =
        Synthetic { noise: 0.1, seed: 1, sizes: vec![160, 120, 80], dimension: 7, ..Synthetic::default() };
    let made = made.generate()?.matrix;
    let (points, features) = (made.points(), made.features());
    let rows: Vec<Vec<f64>> = (0..points).map(|j| made.point(j)).collect();
    let single: Vec<f32> = rows.iter().flatten().map(|&x| x as f32).collect();
    let (mut offsets, mut columns, mut values) = (vec![0], vec![], vec![]);
    for row in &rows {
        for (i, &x) in row.iter().enumerate().filter(|(_, x)| **x >= SPARSE) {
            columns.push(i as i32);
            values.push(x);
        }
        offsets.push(columns.len());
    }
    Ok([
        made,
        Matrix::DenseF32(Dense::new(points, features, single)?),
        Matrix::SparseF64(Csr::new(features, offsets, columns, values)?),
    ])
}

/// FNV-1a, eight bytes at a time: it tells results apart, nobody attacks it.
struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Digest(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    fn take(&mut self, outcome: &Outcome) {
        for run in &outcome.runs {
            run.labels.iter().for_each(|&label| self.add(label as u64));
            self.add(run.objective.to_bits());
            self.add(run.relative_error.to_bits());
            self.add(run.iterations() as u64);
        }
    }

    fn add(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// The cells that a table or figure was made of: set and method, by engine.
pub type Seen = BTreeMap<String, BTreeSet<(String, String)>>;

/// Says which cells of a table or figure are of another engine than the present one, and takes back what several engines of one
/// method would have decided together. Verdicts hang on the cells alone, not on who shows them: another processor has
/// other engines of some methods.
pub fn mark(shown: &mut Shown, seen: &Seen, present: &Engines) {
    let mut engines: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut note = String::new();
    for (engine, cells) in seen {
        for (_, method) in cells {
            engines.entry(method).or_default().insert(engine);
        }
        let old: Vec<_> = cells.iter().filter(|(_, method)| present.of(method) != engine).collect();
        if old.is_empty() {
            continue;
        }
        let named = old.iter().take(NAMED).map(|(set, method)| format!("{} on {set}", title(method)));
        let mut named = named.collect::<Vec<_>>().join(", ");
        if old.len() > NAMED {
            named += &format!(" and {} more", old.len() - NAMED);
        }
        note += &format!("Of an older engine ({engine}): {named}. ");
    }
    for (method, of) in &engines {
        shown.engines.extend(of.iter().map(|engine| format!("{} {engine}", title(method))));
    }
    if !note.is_empty() {
        shown.html = format!("<p class=\"warn\">{}</p>{}", escape(note.trim_end()), shown.html);
    }
    let mixed = engines.values().any(|of| of.len() > 1);
    for claim in shown.claims.iter_mut().filter(|_| mixed) {
        claim.verdict = Verdict::untestable("Its cells are of several engines, which are not mixed.");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shown::Claim;

    #[test]
    fn engines_are_the_same_whenever_they_are_asked_and_for_any_number_of_threads() {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Engines::probe().unwrap())
        };
        let one = with(1);
        assert_eq!(one, with(2));
        let different: BTreeSet<&String> = one.0.values().collect();
        assert_eq!(different.len(), one.0.len() - 1, "methods find the same: {one:?}");
    }

    #[test]
    fn what_several_engines_computed_decides_nothing() {
        let shown = || {
            let (verdict, evidence) = (Verdict::Holds, "found".to_string());
            Shown { claims: vec![Claim { place: "p", claim: "c", verdict, evidence }], ..Shown::default() }
        };
        let (em, km) = ("em-onmf:random", "k-means:random");
        let present = Engines(BTreeMap::from([(em.into(), "new".into()), (km.into(), "mean".into())]));
        let marked = |seen: &[(&str, &str)]| {
            let mut of = Seen::new();
            for (engine, method) in seen {
                of.entry(engine.to_string()).or_default().insert(("tr11".into(), method.to_string()));
            }
            let mut shown = shown();
            mark(&mut shown, &of, &present);
            shown
        };
        // Each method has its own.
        let of_this = marked(&[("new", em), ("mean", km)]);
        assert!(of_this.html.is_empty() && of_this.claims[0].verdict == Verdict::Holds);
        assert_eq!(of_this.engines, ["EM-ONMF new", "k-means mean"]);
        let of_another = marked(&[("old", em), ("mean of old", km)]);
        assert!(of_another.html.contains("older engine (old): EM-ONMF on tr11"), "{}", of_another.html);
        assert_eq!(of_another.claims[0].verdict, Verdict::Holds);
        let of_some = marked(&[("old", em), ("mean", km)]);
        assert!(of_some.html.contains("older engine (old): EM-ONMF on tr11"), "{}", of_some.html);
        assert_eq!(of_some.claims[0].verdict, Verdict::Holds);
        for mixed in [&[("new", em), ("old", em)][..], &[("a", em), ("b", em)]] {
            assert!(matches!(marked(mixed).claims[0].verdict, Verdict::Untestable(_)), "{mixed:?}");
        }
    }
}
