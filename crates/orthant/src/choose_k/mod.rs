//! How many clusters: for every k what is left unexplained, what any k clusters must leave, how stable the
//! clusters are, and what one cluster more gains; then one to three candidates with reasons.
//!
//! Work is shared between the ks. Starts are drawn once, for the largest k: the first k seeds of a residual start
//! are a residual start for k. Every k also starts from the answer of the last one, with the point that it
//! explains least as a new direction. All starts of a k go through the same passes, and one decomposition gives the
//! bounds of all ks.
//!
//! ```
//! use orthant::choose_k::{ChooseK, choose_k};
//! use orthant::generate::{Generator, Synthetic};
//! use orthant::matrix::open;
//!
//! let made = Synthetic { noise: 0.02, ..Synthetic::default() }.generate()?;
//! let data = open(&made.matrix, None)?;
//! let choice = choose_k(&*data, &ChooseK { most: 9, ..ChooseK::default() }, &mut ())?;
//! assert!(choice.candidates.iter().any(|c| c.k == 6));
//! # Ok::<(), orthant::Error>(())
//! ```

mod candidates;
mod path;

pub use candidates::Candidate;

use crate::algorithms::method;
use crate::error::{Error, Result};
use crate::finish::predict;
use crate::matrix::{Data, rule};
use crate::prepare::Problem;
use crate::resample::{agreement, halves, sample, usable};
use crate::run::Observer;
use crate::singular::top_until;
use crate::start::Stream;
use path::path;

/// What to ask.
#[derive(Debug, Clone, PartialEq)]
pub struct ChooseK {
    /// The smallest k to look at.
    pub least: usize,
    /// The largest, cut to the number of nonzero points.
    pub most: usize,
    /// Starts for every k.
    pub runs: usize,
    /// Divisions into halves, for the stability.
    pub divisions: usize,
    /// At most so many points are divided into halves, drawn at random.
    pub most_points: usize,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Default for ChooseK {
    fn default() -> Self {
        ChooseK { least: 2, most: 20, runs: 8, divisions: 5, most_points: 2000, seed: 0 }
    }
}

/// What was found for one k.
#[derive(Debug, Clone)]
pub struct KResult {
    /// Number of clusters.
    pub k: usize,
    /// `‖M − UV‖/‖M‖` of the best partition found.
    pub relative_error: f64,
    /// No k clusters leave less: the bound by the singular values.
    pub lower_bound: f64,
    /// By how much the share of the data explained, `1 − error²`, grew over k − 1; unknown for a first k above 2.
    pub gain: Option<f64>,
    /// Agreement of the clusters of two halves of the data, for each division.
    pub agreements: Vec<f64>,
    /// Mean agreement of the clusters of the halves with those of all points.
    pub consensus: Option<f64>,
    /// Size of the smallest cluster.
    pub smallest: usize,
    /// Cluster of each point; −1 for zero points.
    pub labels: Vec<i32>,
}

impl KResult {
    /// Mean agreement of halves.
    pub fn stability(&self) -> Option<f64> {
        let n = self.agreements.len();
        (n > 0).then(|| self.agreements.iter().sum::<f64>() / n as f64)
    }
}

/// All levels, and the candidates.
#[derive(Debug, Clone)]
pub struct Choice {
    /// One to three, the most convincing first.
    pub candidates: Vec<Candidate>,
    /// Every k, in increasing order.
    pub levels: Vec<KResult>,
    /// What a reader should know.
    pub notes: Vec<String>,
    /// Whether the observer stopped the work before its end.
    pub cancelled: bool,
}

impl Choice {
    /// The candidates in words, one a line.
    pub fn summary(&self) -> String {
        let mut lines: Vec<String> =
            self.candidates.iter().map(|c| format!("k = {}: {}", c.k, c.reasons.join("; "))).collect();
        lines.extend(self.notes.iter().cloned());
        lines.join("\n")
    }
}

/// Looks at every k.
pub fn choose_k(data: &dyn Data, ask: &ChooseK, observer: &mut dyn Observer) -> Result<Choice> {
    if ask.least == 0 || ask.most < ask.least {
        return Err(Error::parameter(
            "k",
            format!(
                "{}..{} is not a range of numbers of clusters: from at least 1 upwards",
                ask.least, ask.most
            ),
        ));
    }
    let em = method("em-onmf")?;
    Problem::new(data, ask.least, em.needs())?;
    let mut notes = vec![];
    let available = data.facts().usable_points;
    let most = ask.most.min(available);
    if most < ask.most {
        notes.push(format!("There are {available} nonzero points: looked at k up to {most}."));
    }
    let stream = Stream { seed: ask.seed, run: 0 };
    let (steps, mut cancelled) =
        path(data, ask.least, most, ask.runs.max(1), stream, "all points", observer)?;
    if steps.is_empty() {
        return Err(Error::Computation("stopped before anything was found".into()));
    }
    let norm2 = data.facts().norm2;
    let widest = steps.last().map_or(1, |s| s.k);
    let asked = observer.stop_asked();
    let is_to_stop = || asked.as_ref().is_some_and(|asked| asked());
    let singular = top_until(data, widest, &is_to_stop)?;
    // Cut short, they may lack anything.
    let unbounded = is_to_stop();
    let energies: Vec<f64> = singular.values.iter().map(|s| s * s / norm2).collect();
    // What one cluster leaves is known without a search.
    let one = energies.first().map(|e| (1.0 - e).max(0.0)).filter(|_| ask.least == 2);
    let mut levels: Vec<KResult> = vec![];
    for step in steps {
        let best: f64 = singular.values[..step.k].iter().map(|s| s * s).sum::<f64>() + singular.slack;
        let best = if unbounded { norm2 } else { best };
        let error2 = (1.0 - step.explained / norm2).max(0.0);
        let before = levels.last().map(|last| last.relative_error.powi(2)).or(one);
        let gain = before.map(|before| before - error2);
        levels.push(KResult {
            k: step.k,
            relative_error: error2.sqrt(),
            lower_bound: (1.0 - best / norm2).max(0.0).sqrt().min(error2.sqrt()),
            gain,
            agreements: vec![],
            consensus: None,
            smallest: path::smallest(&step.labels, step.k),
            labels: step.labels,
        });
    }
    if !cancelled {
        cancelled = divide(data, ask, &mut levels, observer)?;
    }
    if cancelled {
        notes.push("Stopped before the end: what was not reached is not shown.".into());
    }
    let candidates = candidates::candidates(&levels, &energies);
    Ok(Choice { candidates, levels, notes, cancelled })
}

/// Divides a sample into halves, lets each walk the same path, and compares what they say of all of the sample.
fn divide(
    data: &dyn Data,
    ask: &ChooseK,
    levels: &mut [KResult],
    observer: &mut dyn Observer,
) -> Result<bool> {
    let all = usable(data);
    let points = sample(&all, ask.most_points.max(4), Stream { seed: ask.seed, run: 1 << 52 });
    let whole = data.select(&points)?;
    let (least, most) = (levels[0].k, levels[levels.len() - 1].k);
    let mut consensus = vec![(0.0, 0usize); levels.len()];
    for division in 0..ask.divisions {
        let title = format!("halves {} of {}", division + 1, ask.divisions);
        // What each half says, for each k.
        let mut said: Vec<Vec<Vec<i32>>> = vec![];
        for (side, half) in halves(points.len(), Stream { seed: ask.seed, run: 1 << 50 | division as u64 })
            .into_iter()
            .enumerate()
        {
            if half.len() < least {
                return Ok(false);
            }
            let part = whole.select(&half)?;
            let stream = Stream { seed: ask.seed, run: (2 * division + side + 1) as u64 * 1000 };
            let runs = ask.runs.div_ceil(2).max(1);
            let (steps, cancelled) =
                path(&*part, least, most.min(half.len()), runs, stream, &title, observer)?;
            if cancelled {
                return Ok(true);
            }
            let labels = |s: &path::Step| predict(&*whole, &s.directions, rule::Power.into());
            said.push(steps.iter().map(labels).collect::<Result<_>>()?);
        }
        for (at, (a, b)) in said[0].iter().zip(&said[1]).enumerate() {
            levels[at].agreements.push(agreement(a, b)?);
            let own: Vec<i32> = points.iter().map(|&j| levels[at].labels[j]).collect();
            for half in [a, b] {
                consensus[at].0 += agreement(half, &own)?;
                consensus[at].1 += 1;
            }
        }
    }
    for (level, (sum, count)) in levels.iter_mut().zip(consensus) {
        level.consensus = (count > 0).then(|| sum / count as f64);
    }
    Ok(false)
}
