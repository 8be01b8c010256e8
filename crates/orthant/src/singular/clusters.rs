//! The dominant left singular vector of every cluster, all clusters (and runs) in the same passes: eigenvectors of
//! `MᵢMᵢᵀ`, or, where points are few and features many, `Mᵢ` times those of `MᵢᵀMᵢ`.

use super::locally_optimal::{Space, Stopping, locally_optimal};
use crate::error::Result;
use crate::matrix::passes::{Directions, Own, Power};
use crate::matrix::{Data, Format, Mat, Shape, Slots, threads};

/// Dominant vectors and squared singular values of clusters.
#[derive(Debug, Clone)]
pub struct Dominant {
    /// features × k (side by side for several runs), unit columns; zero for an empty cluster.
    pub u: Mat,
    /// `σ₁²` of each cluster.
    pub sigma2: Vec<f64>,
    /// Passes over the data.
    pub passes: usize,
}

/// What [`dominant()`] leaves of residuals.
pub(crate) const TOLERANCE: f64 = 1e-10;
/// Up to this many entries, vectors of one number for each point are cheap to hold, and to send.
const FEW: usize = 1 << 22;

/// Whether vectors of one number a point are so much shorter than the clusters' directions that they are iterated
/// instead: on text that is ten times less.
fn few_points(shape: &Shape, k: usize) -> bool {
    shape.sparse && shape.points < shape.features * k / 2 && shape.nonzeros < FEW
}

/// The dominant vectors of the clusters that the labels of `runs` describe, from the guesses `u`
/// (features × runs·k). Columns of `u` that are zero stay so unless their cluster has points that
/// an all-positive guess reaches, which it then starts from.
pub fn dominant(data: &dyn Data, slots: &mut dyn Slots, runs: &[usize], u: &Mat) -> Result<Dominant> {
    let k = u.cols / runs.len().max(1);
    let guesses: Vec<Mat> = (0..runs.len()).map(|r| u.columns(r * k..(r + 1) * k)).collect();
    let found =
        dominant_within(data, slots, runs, &guesses.iter().collect::<Vec<_>>(), TOLERANCE, &|| false)?;
    Ok(Dominant {
        u: Mat::beside(&found.iter().map(|f| &f.u).collect::<Vec<_>>()),
        sigma2: found.iter().flat_map(|f| f.sigma2.iter().copied()).collect(),
        passes: found.iter().map(|f| f.passes).max().unwrap_or(0),
    })
}

/// As [`dominant()`] for each run with a guess of its own (features × k), until every residual is at most `tolerance·σ²`
/// (float32: no finer than the format allows). The error of the vectors is about that, that of σ² about its square. Asked
/// to stop, it gives the vectors as they are, and what these explain.
pub fn dominant_within(
    data: &dyn Data,
    slots: &mut dyn Slots,
    runs: &[usize],
    guesses: &[&Mat],
    tolerance: f64,
    is_to_stop: Stopping,
) -> Result<Vec<Dominant>> {
    let k = guesses.first().map_or(0, |guess| guess.cols);
    if few_points(&data.shape(), k) {
        let guesses = guesses.iter().map(|guess| Guess::Directions(guess)).collect();
        return of_points_of_runs(data, slots, runs, k, guesses, tolerance, is_to_stop);
    }
    of_features(data, slots, runs, guesses, tolerance, is_to_stop)
}

/// As [`dominant_within`] from what the points of each run have in their own clusters, `√w·mⱼᵀu` up to a factor for each
/// cluster; none where directions are what is iterated.
pub(crate) fn dominant_of_strengths(
    data: &dyn Data,
    slots: &mut dyn Slots,
    runs: &[usize],
    k: usize,
    strengths: Vec<Vec<f64>>,
    tolerance: f64,
    is_to_stop: Stopping,
) -> Option<Result<Vec<Dominant>>> {
    let guesses = strengths.into_iter().map(Guess::Strengths).collect();
    few_points(&data.shape(), k)
        .then(|| of_points_of_runs(data, slots, runs, k, guesses, tolerance, is_to_stop))
}

/// What is known of dominant vectors.
enum Guess<'a> {
    /// features × k.
    Directions(&'a Mat),
    /// One number for each point.
    Strengths(Vec<f64>),
}

fn of_points_of_runs(
    data: &dyn Data,
    slots: &mut dyn Slots,
    runs: &[usize],
    k: usize,
    guesses: Vec<Guess>,
    tolerance: f64,
    is_to_stop: Stopping,
) -> Result<Vec<Dominant>> {
    if runs.len() == 1 || !data.in_memory() {
        let found = runs
            .iter()
            .zip(guesses)
            .map(|(&run, guess)| of_points(data, slots, run, k, guess, tolerance, is_to_stop));
        return found.collect();
    }
    // Short passes: a run on each thread, beside the same data.
    let labels = runs.iter().map(|&run| slots.labels(run)).collect::<Result<Vec<_>>>()?;
    let found = threads::apart(labels.into_iter().zip(guesses).collect(), |(labels, guess)| {
        let mut own = data.slots()?;
        own.set_labels(0, &labels)?;
        of_points(data, &mut *own, 0, k, guess, tolerance, is_to_stop)
    });
    found.into_iter().collect()
}

/// Vectors as the columns of a features × (runs·k) matrix.
struct OfFeatures<'a> {
    slots: &'a mut dyn Slots,
    runs: &'a [usize],
}

impl Space for OfFeatures<'_> {
    fn image(&mut self, x: &Mat) -> Result<Mat> {
        let k = x.cols / self.runs.len().max(1);
        // Runs all of whose vectors have converged ask for nothing.
        let zero = x.zero_columns();
        let asking: Vec<usize> =
            (0..self.runs.len()).filter(|r| zero[r * k..][..k].contains(&false)).collect();
        let u = asking.iter().map(|&r| x.columns(r * k..(r + 1) * k)).collect();
        let runs: Vec<usize> = asking.iter().map(|&r| self.runs[r]).collect();
        let found = self.slots.sweep(&Power::new(u, &runs))?.1;
        if asking.len() == self.runs.len() {
            return Ok(found);
        }
        let mut image = Mat::zeros(x.rows, x.cols);
        for (i, r) in asking.into_iter().enumerate() {
            for f in 0..x.rows {
                image.row_mut(f)[r * k..(r + 1) * k].copy_from_slice(&found.row(f)[i * k..(i + 1) * k]);
            }
        }
        Ok(image)
    }

    fn dots(&self, a: &Mat, b: &Mat) -> Vec<f64> {
        a.column_dots(b)
    }

    fn add(&self, y: &mut Mat, s: &[f64], x: &Mat) {
        for (y, x) in y.data.chunks_exact_mut(s.len().max(1)).zip(x.data.chunks_exact(s.len().max(1))) {
            for i in 0..s.len() {
                y[i] += s[i] * x[i];
            }
        }
    }

    fn scale(&self, x: &mut Mat, s: &[f64]) {
        x.scale_columns(s);
    }
}

fn of_features(
    data: &dyn Data,
    slots: &mut dyn Slots,
    runs: &[usize],
    guesses: &[&Mat],
    tolerance: f64,
    is_to_stop: Stopping,
) -> Result<Vec<Dominant>> {
    let tolerance = match data.shape().format {
        Format::F64 => tolerance,
        Format::F32 => tolerance.max(1e-5),
    };
    let k = guesses.first().map_or(0, |guess| guess.cols);
    let mut u = Mat::beside(guesses).with_unit_columns();
    let width = u.cols;
    // A constant vector meets every nonzero nonnegative point; data of any sign need one that no cluster is
    // likely to be orthogonal to. A little of it goes into every guess, which could otherwise be caught in a part
    // of its cluster that shares no feature with the rest.
    let signed = data.facts().negative.is_some();
    let common = Mat::from_fn(u.rows, 1, |f, _| unlikely(f, signed)).with_unit_columns();
    for i in 0..width {
        let share = if (0..u.rows).all(|f| u[(f, i)] == 0.0) { 1.0 } else { 1e-5 };
        (0..u.rows).for_each(|f| u[(f, i)] += share * common[(f, 0)]);
    }
    u = u.with_unit_columns();
    let mut space = OfFeatures { slots, runs };
    let mut gu = space.image(&u)?;
    // A guess that is orthogonal to its whole cluster cannot grow: start those from the constant too.
    let lost: Vec<usize> =
        space.dots(&u, &gu).iter().enumerate().filter(|(_, l)| **l <= 0.0).map(|(i, _)| i).collect();
    let mut passes = 1;
    if !lost.is_empty() {
        for &i in &lost {
            (0..u.rows).for_each(|f| u[(f, i)] = common[(f, 0)]);
        }
        gu = space.image(&u)?;
        passes += 1;
    }
    let (mut u, lambda, products) = locally_optimal(&mut space, u, gu, tolerance, is_to_stop)?;
    // For nonnegative G, |u|ᵀG|u| ≥ uᵀGu: of several dominant vectors this one is nonnegative too.
    // [P, Sec. 2.4, Perron–Frobenius]
    if !signed {
        u = u.map(f64::abs);
    }
    let sigma2 = lambda.iter().map(|l| l.max(0.0)).collect::<Vec<_>>();
    u.scale_columns(&present(&sigma2));
    let of = |r: usize| {
        let columns = r * k..(r + 1) * k;
        Dominant {
            u: u.columns(columns.clone()),
            sigma2: sigma2[columns].to_vec(),
            passes: passes + products,
        }
    };
    Ok((0..runs.len()).map(of).collect())
}

/// An entry of a vector that no cluster is likely to be orthogonal to: for nonnegative data a positive one.
fn unlikely(at: usize, signed: bool) -> f64 {
    if signed { ((at + 1) as f64 * 0.618_033_988_749_895).fract() - 0.3 } else { 1.0 }
}

/// 1 for a cluster that has something, 0 for an empty one.
fn present(sigma2: &[f64]) -> Vec<f64> {
    sigma2.iter().map(|&l| if l > 0.0 { 1.0 } else { 0.0 }).collect()
}

/// Vectors of one number for each point of a cluster, all clusters of a run in one column.
struct OfPoints<'a> {
    slots: &'a mut dyn Slots,
    run: usize,
    k: usize,
    /// The cluster of each point; `k` and beyond: none.
    clusters: Vec<usize>,
}

impl OfPoints<'_> {
    /// `Σⱼ √w·xⱼ·mⱼ` over each cluster, features × k.
    fn directions(&mut self, x: &Mat) -> Result<Mat> {
        Ok(self.slots.sweep(&Directions { x: x.data.clone(), k: self.k, run: self.run })?.1)
    }

    /// `√w·mⱼᵀu` with the column of each point's cluster.
    fn strengths(&mut self, u: Mat) -> Result<Mat> {
        let own = Own { u, run: self.run };
        let data = self.slots.tell(&own)?.0;
        crate::matrix::room::give(own.u.data);
        Ok(Mat { rows: data.len(), cols: 1, data })
    }

    /// Divides every cluster's vector by its norm, and gives the squares of those.
    fn unit(&self, x: &mut Mat) -> Vec<f64> {
        let norms2 = self.dots(x, x);
        let inverse: Vec<f64> = norms2.iter().map(|n| if *n > 0.0 { 1.0 / n.sqrt() } else { 0.0 }).collect();
        self.scale(x, &inverse);
        norms2
    }
}

impl Space for OfPoints<'_> {
    fn image(&mut self, x: &Mat) -> Result<Mat> {
        let directions = self.directions(x)?;
        self.strengths(directions)
    }

    fn dots(&self, a: &Mat, b: &Mat) -> Vec<f64> {
        // One more for the points without a cluster.
        let mut dots = vec![0.0; self.k + 1];
        for ((&to, a), b) in self.clusters.iter().zip(&a.data).zip(&b.data) {
            dots[to.min(self.k)] += a * b;
        }
        dots.truncate(self.k);
        dots
    }

    fn add(&self, y: &mut Mat, s: &[f64], x: &Mat) {
        for ((&to, y), x) in self.clusters.iter().zip(&mut y.data).zip(&x.data) {
            *y += s.get(to).copied().unwrap_or(0.0) * x;
        }
    }

    fn scale(&self, x: &mut Mat, s: &[f64]) {
        for (&to, x) in self.clusters.iter().zip(&mut x.data) {
            *x *= s.get(to).copied().unwrap_or(0.0);
        }
    }
}

fn of_points(
    data: &dyn Data,
    slots: &mut dyn Slots,
    run: usize,
    k: usize,
    guess: Guess,
    tolerance: f64,
    is_to_stop: Stopping,
) -> Result<Dominant> {
    let clusters = slots.labels(run)?.iter().map(|&l| usize::try_from(l).unwrap_or(k)).collect();
    let mut space = OfPoints { slots, run, k, clusters };
    // A little of a vector that no cluster is likely to be orthogonal to goes into every guess, which could otherwise be
    // caught in a part of its cluster. Where a guess says nothing, it is the strengths of a direction that all share.
    let signed = data.facts().negative.is_some();
    let mut x = match guess {
        Guess::Directions(u) => space.strengths(u.clone())?,
        Guess::Strengths(data) => Mat { rows: data.len(), cols: 1, data },
    };
    let found = space.unit(&mut x);
    let lost = found.iter().any(|n| *n <= 0.0);
    let mut common = if lost {
        space.strengths(Mat::from_fn(data.shape().features, k, |f, _| unlikely(f, signed)))?
    } else {
        Mat::from_fn(x.rows, 1, |j, _| unlikely(j, signed))
    };
    space.unit(&mut common);
    let share: Vec<f64> = found.iter().map(|n| if *n > 0.0 { 1e-5 } else { 1.0 }).collect();
    space.add(&mut x, &share, &common);
    space.unit(&mut x);
    let gx = space.image(&x)?;
    let (x, lambda, products) = locally_optimal(&mut space, x, gx, tolerance, is_to_stop)?;
    let sigma2: Vec<f64> = lambda.iter().map(|l| l.max(0.0)).collect();
    // u = Mx/σ; of several dominant vectors of nonnegative data the absolute values are one too.
    // [P, Sec. 2.4, Perron–Frobenius]
    let mut u = space.directions(&x)?;
    if !signed {
        u = u.map(f64::abs);
    }
    let mut u = u.with_unit_columns();
    u.scale_columns(&present(&sigma2));
    Ok(Dominant { u, sigma2, passes: 2 * products + 5 })
}
