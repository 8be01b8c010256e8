//! How many clusters, of a model: for every k how well its clusters describe points that were held out, what they leave
//! unexplained, what any k clusters must leave, and how stable they are; then one to three candidates with reasons, and
//! what to beware of. docs/advice.md says how and why.
//!
//! All of it is measured on a sample of the points. Every k begins from starts of its own, which share their passes, and
//! from the answer of the last one, with the point that it explains least as a new cluster; one decomposition gives the
//! bounds of all ks, another the few dimensions in which points are held out.
//!
//! ```
//! use orthant::choose_k::{ChooseK, choose_k};
//! use orthant::generate::{Generator, Synthetic};
//! use orthant::matrix::open;
//!
//! let made = Synthetic { noise: 0.02, ..Synthetic::default() }.generate()?;
//! let data = open(&made.matrix, None)?;
//! let choice = choose_k(&*data, &ChooseK { most: 9, ..ChooseK::default() }, &mut ())?;
//! assert_eq!(choice.candidates[0].k, 6);
//! # Ok::<(), orthant::Error>(())
//! ```

mod candidates;
mod path;

pub use candidates::Candidate;

use crate::ellipsoids::Seen;
use crate::error::{Error, Result};
use crate::finish::{Solution, predict};
use crate::matrix::Data;
use crate::model::Model;
use crate::prepare::Problem;
use crate::resample::{agreement, fit, halves, sample, usable};
use crate::run::Observer;
use crate::singular::top_until;
use crate::start::Stream;
use candidates::Beside;
use path::path;

/// The number of clusters for which a model is chosen before their number is known.
pub fn middle(data: &dyn Data, least: usize, most: usize) -> usize {
    const MIDDLE: usize = 6;
    MIDDLE.min(most).min(data.facts().usable_points).max(least)
}

/// What to ask.
#[derive(Debug, Clone, PartialEq)]
pub struct ChooseK {
    /// The model whose clusters are counted; `auto::choose` tells which the data ask for.
    pub model: Model,
    /// The smallest k to look at.
    pub least: usize,
    /// The largest, cut to the number of nonzero points.
    pub most: usize,
    /// Starts for every k.
    pub runs: usize,
    /// Divisions into halves, for the stability.
    pub divisions: usize,
    /// At most so many points are looked at, drawn at random.
    pub most_points: usize,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Default for ChooseK {
    fn default() -> Self {
        ChooseK { model: Model::Onmf, least: 2, most: 20, runs: 8, divisions: 3, most_points: 2000, seed: 0 }
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
    /// Log-density of every point that was looked at when it was held out, each cluster taken as an ellipsoid.
    held_outs: Vec<f64>,
}

impl KResult {
    /// Mean agreement of halves.
    pub fn stability(&self) -> Option<f64> {
        let n = self.agreements.len();
        (n > 0).then(|| self.agreements.iter().sum::<f64>() / n as f64)
    }

    /// Mean log-density of points that were held out, in nats.
    pub fn held_out(&self) -> f64 {
        self.held_outs.iter().sum::<f64>() / self.held_outs.len() as f64
    }
}

/// All levels, and the candidates.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The model whose clusters were counted.
    pub model: Model,
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
    let method = ask.model.method();
    Problem::new(data, ask.least, method.needs())?;
    let mut notes = vec![];
    let all = usable(data);
    let points = sample(&all, ask.most_points.max(ask.least).max(4), Stream { seed: ask.seed, run: 1 << 52 });
    let part = data.select(&points)?;
    let most = ask.most.min(points.len());
    if most < ask.most {
        notes.push(format!("There are {} nonzero points: looked at k up to {most}.", points.len()));
    }
    if points.len() < all.len() {
        notes.push(format!("Measured on a sample of {} of {} points.", points.len(), all.len()));
    }
    let stream = Stream { seed: ask.seed, run: 0 };
    let range = [ask.least, most];
    let (found, mut cancelled) =
        path(&*part, method, range, ask.runs.max(1), stream, "all points", observer)?;
    let widest = ask.least + found.len() - 1;
    let asked = observer.stop_asked();
    let is_to_stop = || asked.as_ref().is_some_and(|asked| asked());
    let norm2 = part.facts().norm2;
    // Where that is cut short nothing is bounded.
    let singular = match top_until(&*part, (widest + 1).min(points.len()), &is_to_stop) {
        Err(Error::Stopped(_)) => None,
        known => Some(known?),
    };
    let energies: Vec<f64> =
        singular.iter().flat_map(|known| known.values.iter().map(|s| s * s / norm2)).collect();
    // What one cluster leaves is known without a search.
    let one = energies.first().map(|e| (1.0 - e).max(0.0)).filter(|_| ask.least == 2);
    let seen = Seen::new(&*part, widest, ask.seed)?;
    let mut levels: Vec<KResult> = vec![];
    for solution in &found {
        let k = solution.sizes.len();
        let best =
            singular.as_ref().map_or(1.0, |known| energies.iter().take(k).sum::<f64>() + known.slack / norm2);
        let error2 = (1.0 - solution.energy.iter().sum::<f64>()).max(0.0);
        let before = levels.last().map(|last| last.relative_error.powi(2)).or(one);
        let numbers: Vec<usize> = solution.labels.iter().map(|&l| l.max(0) as usize).collect();
        levels.push(KResult {
            k,
            relative_error: error2.sqrt(),
            lower_bound: (1.0 - best).max(0.0).sqrt().min(error2.sqrt()),
            gain: before.map(|before| before - error2),
            agreements: vec![],
            consensus: None,
            smallest: solution.sizes.iter().copied().min().unwrap_or(0),
            labels: everywhere(data, &points, solution)?,
            held_outs: seen.held_out(&numbers, k),
        });
    }
    if !cancelled {
        cancelled = divide(&*part, ask, &found, &mut levels, observer)?;
    }
    if cancelled {
        notes.push("Stopped before the end: what was not reached is not shown.".into());
    }
    let as_one = seen.held_out(&vec![0; points.len()], 1);
    let directions = if seen.sparse { 0 } else { energies.len().min(part.shape().features) };
    let beside = Beside { model: ask.model, energies: &energies[..directions], one: &as_one };
    let (candidates, warnings) = candidates::candidates(&levels, &beside);
    notes.splice(0..0, warnings);
    Ok(Choice { model: ask.model, candidates, levels, notes, cancelled })
}

/// The labels of all points, of which the solution has some.
fn everywhere(data: &dyn Data, points: &[usize], solution: &Solution) -> Result<Vec<i32>> {
    let mut labels = match points.len() == data.facts().usable_points {
        true => vec![-1; data.shape().points],
        false => solution.predict(data)?,
    };
    points.iter().zip(&solution.labels).for_each(|(&j, &l)| labels[j] = l);
    Ok(labels)
}

/// Divides the points into halves, fits each, and compares what they say of all of them.
fn divide(
    data: &dyn Data,
    ask: &ChooseK,
    found: &[Solution],
    levels: &mut [KResult],
    observer: &mut dyn Observer,
) -> Result<bool> {
    let method = ask.model.method();
    let runs = ask.runs.div_ceil(4);
    for division in 0..ask.divisions {
        let stream = Stream { seed: ask.seed, run: 1 << 50 | division as u64 };
        let [first, second] = halves(data.shape().points, stream);
        let parts = [data.select(&first)?, data.select(&second)?];
        for (level, solution) in levels.iter_mut().zip(found) {
            let k = level.k;
            if parts.iter().any(|part| usable(&**part).len() < k) {
                continue;
            }
            let title = format!("halves {} of {}, k = {k}", division + 1, ask.divisions);
            let mut said = vec![];
            for part in &parts {
                let Some(solution) = fit(&**part, method, k, runs, ask.seed, &title, observer)? else {
                    return Ok(true);
                };
                said.push(predict(data, &solution.centroids, method.rule)?);
            }
            level.agreements.push(agreement(&said[0], &said[1])?);
            let with_all = agreement(&said[0], &solution.labels)? + agreement(&said[1], &solution.labels)?;
            // A mean that grows by one division at a time.
            let before = level.consensus.unwrap_or(0.0) * division as f64;
            level.consensus = Some((before + with_all / 2.0) / (division + 1) as f64);
        }
    }
    Ok(false)
}
