//! Clusters of data of which some entries were not observed.
//!
//! In turn every missing entry becomes what the model says of it, judged by what was observed of its point (for ONMF
//! `u_f·v` with `v = Σ m·u/Σ u²` over the observed entries), and the points so completed are clustered anew from the labels
//! they have. Neither step raises what is left of the observed entries: an entry that the model itself filled in is left
//! nothing of, and the next model leaves no more of all entries than the last. Where nothing changes any more the missing
//! entries have no say. All methods, rules, kinds of data and weights come in by this one way, without a kernel that knows of gaps.

use std::ops::Range;
use std::sync::Arc;

use crate::algorithms::{METHODS, Method, Values};
use crate::checkpoint::Checkpoint;
use crate::error::{Error, Result};
use crate::finish::Solution;
use crate::for_matrix;
use crate::job::Job;
use crate::matrix::kernels::Real;
use crate::matrix::{Facts, Mat, Matrix, Rule, open};
use crate::outcome::Outcome;
use crate::pipeline::{cluster, resume};
use crate::run::{Observer, Stop, Unsaved};
use crate::start::Start;

/// More rounds than this are not made. The change from round to round shrinks by about the share of entries that is missing.
const ROUNDS: usize = 200;
/// Entries that change by less than this, relative to all that were filled in, have settled.
const SETTLED: f64 = 1e-6;

/// Which entries of a matrix are missing (NaN).
#[derive(Debug, Clone)]
pub struct Gaps {
    points: Vec<Gap>,
    /// Positions among the matrix's numbers.
    entries: Vec<usize>,
}

/// Those of one point.
#[derive(Debug, Clone)]
struct Gap {
    point: usize,
    features: Vec<usize>,
    /// Which of the entries they are.
    entries: Range<usize>,
}

/// What came of it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Observed {
    /// The last clustering, of the completed points.
    pub outcome: Outcome,
    /// How often they were filled in.
    pub rounds: usize,
    /// `‖M − UV‖/‖M‖` over the observed entries alone.
    pub relative_error: f64,
}

impl Gaps {
    /// Those of points in rows, if there are any.
    ///
    /// # Errors
    /// Where nothing of a point was observed.
    pub fn of(points: &Matrix) -> Result<Option<Gaps>> {
        fn missing<T: Real>(numbers: &[T]) -> Vec<usize> {
            let is_missing = |x: T| Into::<f64>::into(x).is_nan();
            (0..numbers.len()).filter(|&entry| is_missing(numbers[entry])).collect()
        }
        let entries = for_matrix!(points, x => missing(x.numbers()));
        let mut gaps = Gaps { points: vec![], entries };
        for (at, &entry) in gaps.entries.iter().enumerate() {
            let (point, feature) = points.place(entry);
            match gaps.points.last_mut() {
                Some(gap) if gap.point == point => {
                    gap.features.push(feature);
                    gap.entries.end = at + 1;
                }
                _ => gaps.points.push(Gap { point, features: vec![feature], entries: at..at + 1 }),
            }
        }
        match gaps.points.iter().find(|gap| gap.features.len() == points.features()) {
            Some(Gap { point, .. }) => Err(Error::Entry {
                problem: "nothing of the point was observed: the entry".into(),
                row: *point,
                column: 0,
                advice: "leave such rows out",
            }),
            None => Ok(Some(gaps).filter(|gaps| !gaps.entries.is_empty())),
        }
    }

    /// How many entries are missing.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// Fills them in by the mean of every feature, as strong as what was observed of the point.
    pub fn guess(&self, points: &mut Matrix, rule: Rule) {
        let means = means(points);
        self.complete(points, &means, rule);
    }

    /// Fills them in by the centroid that leaves least of what was observed; how much they changed, relative to them all.
    pub fn complete(&self, points: &mut Matrix, centroids: &Mat, rule: Rule) -> f64 {
        let size = largest(points);
        let unit = if rule.distance && size > 0.0 { size } else { 1.0 };
        let columns: Vec<Vec<f64>> =
            (0..centroids.cols).map(|i| centroids.column(i).iter().map(|c| c / unit).collect()).collect();
        let mut filled = vec![0.0; self.entries.len()];
        for gap in &self.points {
            let mut point = points.point(gap.point);
            gap.features.iter().for_each(|&f| point[f] = f64::NAN);
            let of_observed = |centroid: &Vec<f64>| {
                let seen = point.iter().zip(centroid).filter(|(x, _)| !x.is_nan());
                rule.of_observed(seen.map(|(x, c)| (x / size.max(f64::MIN_POSITIVE), *c)))
            };
            let best = columns
                .iter()
                .map(|centroid| (of_observed(centroid), centroid))
                .min_by(|((a, _), _), ((b, _), _)| a.total_cmp(b));
            let Some(((_, times), centroid)) = best else { continue };
            let of_model = gap.features.iter().map(|&f| times * centroid[f] * size);
            filled[gap.entries.clone()].iter_mut().zip(of_model).for_each(|(to, x)| *to = x);
        }
        for_matrix!(points, x => put(x.numbers_mut(), &self.entries, &filled, size))
    }

    /// `‖M − UV‖/‖M‖` over the observed entries, from that over all of them.
    fn relative_error(
        &self,
        points: &Matrix,
        weights: Option<&[f64]>,
        facts: &Facts,
        outcome: &Outcome,
    ) -> f64 {
        let Solution { labels, u, v, .. } = &outcome.solution;
        let weight = |j: usize| weights.map_or(1.0, |w| w[j]);
        let (mut left, mut own) = (0.0, 0.0);
        for gap in &self.points {
            let (point, j) = (points.point(gap.point), gap.point);
            for &f in &gap.features {
                let model = if labels[j] < 0 { 0.0 } else { u[(f, labels[j] as usize)] * v[j] };
                left += weight(j) * ((point[f] - model) * facts.scale).powi(2);
                own += weight(j) * (point[f] * facts.scale).powi(2);
            }
        }
        let observed = facts.norm2 * outcome.certificate.relative_error.powi(2) - left;
        (observed.max(0.0) / (facts.norm2 - own).max(f64::MIN_POSITIVE)).sqrt()
    }
}

/// The entry of the largest size that is there.
fn largest(points: &Matrix) -> f64 {
    fn of<T: Real>(numbers: &[T]) -> f64 {
        numbers.iter().map(|&x| Into::<f64>::into(x).abs()).fold(0.0, f64::max)
    }
    for_matrix!(points, x => of(x.numbers()))
}

/// Puts numbers into places; how much that changed, relative to what is there now. (What was NaN has changed altogether.)
fn put<T: Real>(numbers: &mut [T], places: &[usize], new: &[f64], size: f64) -> f64 {
    let (mut changed, mut all) = (0.0, 0.0);
    for (&place, &x) in places.iter().zip(new) {
        let (before, now): (f64, f64) = (numbers[place].into(), x / size.max(f64::MIN_POSITIVE));
        let by = if before.is_nan() { now } else { before / size - now };
        changed += by * by;
        all += now * now;
        numbers[place] = T::of(x);
    }
    if all > 0.0 { f64::sqrt(changed / all) } else { 0.0 }
}

/// The mean of what was observed of every feature, as one centroid.
fn means(points: &Matrix) -> Mat {
    let (mut sums, mut counts) = (vec![0.0; points.features()], vec![0usize; points.features()]);
    let size = largest(points).max(f64::MIN_POSITIVE);
    for j in 0..points.points() {
        for (f, x) in points.point(j).into_iter().enumerate().filter(|(_, x)| !x.is_nan()) {
            sums[f] += x / size;
            counts[f] += 1;
        }
    }
    Mat::from_fn(points.features(), 1, |f, _| sums[f] / counts[f].max(1) as f64 * size)
}

/// Clusters what was observed: what the job asks for on a first guess of what is missing, then rounds of the method that
/// goes on from a partition by the same rule. The points are then complete, as the last clustering saw them.
///
/// # Errors
/// As [`cluster`] and [`resume`].
pub fn cluster_observed(
    points: &mut Matrix,
    gaps: &Gaps,
    weights: Option<&[f64]>,
    job: &Job,
    saved: Option<Checkpoint>,
    observer: &mut dyn Observer,
) -> Result<Observed> {
    gaps.guess(points, job.aim().rule);
    let held = weights.map(<[f64]>::to_vec);
    let mut outcome = {
        let data = open(&*points, held.clone())?;
        match saved {
            Some(saved) => resume(&*data, job, saved, observer)?,
            None => cluster(&*data, job, observer)?,
        }
    };
    let goes_on = lloyd(job.aim());
    let values = if goes_on.name == job.method.name { job.values.clone() } else { Values::new() };
    let mut rounds = 1;
    while rounds < ROUNDS && !cut_short(&outcome) {
        let changed = gaps.complete(points, &outcome.solution.centroids, outcome.solution.rule);
        let start = Some(Start::Labels(Arc::new(outcome.solution.labels.clone())));
        let next =
            Job { method: goes_on, values: values.clone(), start, runs: 1, polish: vec![], ..job.clone() };
        let data = open(&*points, held.clone())?;
        // Rounds follow from the first clustering, which is what is saved.
        let before = std::mem::replace(&mut outcome, cluster(&*data, &next, &mut Unsaved(&mut *observer))?);
        rounds += 1;
        if changed <= SETTLED && before.solution.labels == outcome.solution.labels {
            break;
        }
    }
    let relative_error = gaps.relative_error(points, weights, open(&*points, held)?.facts(), &outcome);
    Ok(Observed { outcome, rounds, relative_error })
}

fn cut_short(outcome: &Outcome) -> bool {
    matches!(outcome.stop(), Stop::Cancelled | Stop::OutOfTime)
}

/// The method that goes on from a partition by the rule of another.
fn lloyd(method: &'static Method) -> &'static Method {
    let same = |m: &&Method| m.batched && m.rule.name == method.rule.name;
    METHODS.iter().find(same).expect("every rule has one")
}
