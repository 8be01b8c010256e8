//! Which engine computed a cell: a digest of what the methods find on a small fixed set.
//!
//! Every change that moves a bit of a result makes another engine, also another set of instructions of the processor.
//! Cells of different engines are never mixed: see [`mark`].

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use orthant::cluster;
use orthant::contender::Contender;
use orthant::generate::{Generator, Synthetic};
use orthant::matrix::{Csr, Dense, Matrix, open};
use orthant::report::page::escape;

use crate::noise::title;
use crate::protocol::PAPER;
use crate::shown::{Shown, Verdict};

/// Methods of the probe beyond the paper's.
const ALSO: &[&str] = &["kl-onmf:random", "best:svd"];
/// Iterations of the multiplicative methods: enough to see how they compute.
const LIMIT: usize = 30;
/// Below this an entry of the sparse probe is left out.
const SPARSE: f64 = 0.3;
/// How many cells a note names.
const NAMED: usize = 8;

/// The digest of this engine: labels, objectives, errors and iterations of all methods on dense and sparse points of
/// both precisions, to the last bit.
pub fn identity() -> Result<String> {
    let made =
        Synthetic { noise: 0.1, seed: 1, sizes: vec![16, 12, 8], dimension: 7, ..Synthetic::default() };
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
    let kinds = [
        made.clone(),
        Matrix::DenseF32(Dense::new(points, features, single)?),
        Matrix::SparseF64(Csr::new(features, offsets, columns, values)?),
    ];
    let mut digest = Digest::default();
    for matrix in &kinds {
        let data = open(matrix, None)?;
        for name in PAPER.iter().chain(ALSO) {
            let contender = Contender::parse(name)?.remove(0);
            let runs = if contender.start.is_random() { 2 } else { 1 };
            let outcome = cluster(&*data, &contender.job(3, runs, 1, Some(LIMIT)), &mut ())?;
            for run in &outcome.runs {
                run.labels.iter().for_each(|&label| digest.add(label as u64));
                digest.add(run.objective.to_bits());
                digest.add(run.relative_error.to_bits());
                digest.add(run.iterations() as u64);
            }
        }
    }
    Ok(format!("{:016x}", digest.0))
}

/// FNV-1a, eight bytes at a time: it tells results apart, nobody attacks it.
struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Digest(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    fn add(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// The cells that a table or figure was made of: set and method, by engine.
pub type Seen = BTreeMap<String, BTreeSet<(String, String)>>;

/// Says of which engine a table or figure is, where it is not this one, and takes back what several engines together
/// would have decided.
pub fn mark(shown: &mut Shown, seen: &Seen, present: &str) {
    shown.engines = seen.keys().cloned().collect();
    let older: Vec<&String> = seen.keys().filter(|engine| *engine != present).collect();
    if older.is_empty() {
        return;
    }
    let mixed = seen.len() > 1;
    let mut note = String::new();
    for engine in &older {
        let cells = &seen[*engine];
        let named = cells.iter().take(NAMED).map(|(set, method)| format!("{} on {set}", title(method)));
        let mut named = named.collect::<Vec<_>>().join(", ");
        if cells.len() > NAMED {
            named += &format!(" and {} more", cells.len() - NAMED);
        }
        note += &format!("Of an older engine ({engine}; this program's is {present}): {named}. ");
    }
    shown.html = format!("<p class=\"warn\">{}</p>{}", escape(note.trim_end()), shown.html);
    for claim in shown.claims.iter_mut().filter(|_| mixed) {
        claim.verdict = Verdict::untestable("Its cells are of several engines, which are not mixed.");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shown::Claim;

    #[test]
    fn the_engine_is_the_same_whenever_it_is_asked_and_for_any_number_of_threads() {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| identity().unwrap())
        };
        let one = with(1);
        assert_eq!(one.len(), 16);
        assert_eq!(one, with(2));
        assert_eq!(one, with(1));
    }

    #[test]
    fn what_several_engines_computed_decides_nothing() {
        let shown = || {
            let (verdict, evidence) = (Verdict::Holds, "found".to_string());
            Shown { claims: vec![Claim { place: "p", claim: "c", verdict, evidence }], ..Shown::default() }
        };
        let seen = |engines: &[&str]| -> Seen {
            let cells = BTreeSet::from([("tr11".to_string(), "em-onmf:random".to_string())]);
            engines.iter().map(|engine| (engine.to_string(), cells.clone())).collect()
        };
        let mut of_this = shown();
        mark(&mut of_this, &seen(&["new"]), "new");
        assert!(of_this.html.is_empty() && of_this.claims[0].verdict == Verdict::Holds);
        let mut of_another = shown();
        mark(&mut of_another, &seen(&["old"]), "new");
        assert!(of_another.html.contains("older engine (old") && of_another.html.contains("EM-ONMF on tr11"));
        assert_eq!(of_another.claims[0].verdict, Verdict::Holds);
        let mut mixed = shown();
        mark(&mut mixed, &seen(&["new", "old"]), "new");
        assert!(matches!(mixed.claims[0].verdict, Verdict::Untestable(_)));
    }
}
