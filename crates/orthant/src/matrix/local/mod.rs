//! Data in this process's memory: any kind of [`Points`], their weights, and the passes over them.
//!
//! Points are cut into blocks that fit the cache and blocks into chunks, by the shapes of data and factors
//! alone; threads take chunks, and chunks are added in order. So the bits of every sum are the same
//! for any number of threads.

mod assign;
mod bounds;
mod dominant;
mod factors;
mod group;
mod labels;
mod onp;
mod points;
mod search;
mod seed;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, OnceLock};

use rayon::prelude::*;

pub(crate) use points::Points;
use points::{Rows, Sparse};
pub(crate) use search::change;

use super::data::*;
use super::kernels::Real;
use super::{Csr, Dense, Mat, Matrix};
use crate::checkpoint::digest;
use crate::error::{Error, Result};

/// Data in memory with everything the passes need to know about each point.
pub(crate) struct Local<P> {
    points: P,
    facts: Facts,
    /// Weights of the points, where given.
    weights: Option<Vec<f64>>,
    /// `‖mⱼ‖²` of the scaled points.
    norms2: Vec<f64>,
    /// What KL needs to know of each point, from when it is first asked for.
    information: OnceLock<Vec<f64>>,
}

/// Jobs in order, on all threads of the current pool where there is more than one job.
///
/// Every pass is an instance of this, so it names `work` once and has plain loops: a call apart for a single job would
/// compile each pass twice.
pub(crate) fn in_order<J: Send, R: Send>(jobs: Vec<J>, work: impl Fn(J) -> R + Sync + Send) -> Vec<R> {
    let mut places: Vec<Mutex<(Option<J>, Option<R>)>> = Vec::with_capacity(jobs.len());
    for job in jobs {
        places.push(Mutex::new((Some(job), None)));
    }
    on_all_threads(places.len(), &|at| {
        let mut place = places[at].lock().expect("no other job uses this place");
        if let Some(job) = place.0.take() {
            place.1 = Some(work(job));
        }
    });
    let mut results = Vec::with_capacity(places.len());
    for place in places {
        results.extend(place.into_inner().expect("all jobs have ended").1);
    }
    results
}

/// Not generic: a parallel iterator for each pass and kind of data would double the time to compile.
fn on_all_threads(count: usize, work: &(dyn Fn(usize) + Sync)) {
    // A caller outside of the pool would wait for it to wake, each time.
    if count == 1 || rayon::current_num_threads() == 1 {
        return (0..count).for_each(work);
    }
    (0..count).into_par_iter().with_max_len(1).for_each(work);
}

impl<P: Points> Local<P> {
    pub(crate) fn new(points: P, weights: Option<Vec<f64>>) -> Result<Self> {
        let shape = points.shape();
        if let Some(weights) = &weights {
            check_weights(weights, shape.points)?;
        }
        let mut local = Local {
            points,
            facts: Facts {
                scale: 1.0,
                largest: 0.0,
                norm2: 0.0,
                usable_weight: 0.0,
                zero_points: vec![],
                weightless_points: vec![],
                usable_points: 0,
                zero_features: 0,
                not_finite: None,
                negative: None,
                weighted: weights.is_some(),
                digest: 0,
            },
            weights,
            norms2: vec![],
            information: OnceLock::new(),
        };
        local.look();
        Ok(local)
    }

    /// Finds the facts in two looks: the largest entry, then norms of the points scaled by it.
    fn look(&mut self) {
        let shape = self.points.shape();
        let seen = in_order(self.chunks(1), |rows| self.points.look(rows));
        let facts = &mut self.facts;
        facts.largest = seen.iter().map(|s| s.largest).fold(0.0, f64::max);
        facts.not_finite = seen.iter().find_map(|s| s.not_finite);
        facts.negative = seen.iter().find_map(|s| s.negative);
        facts.zero_features = (0..shape.features).filter(|&f| seen.iter().all(|s| !s.used[f])).count();
        facts.scale = power_of_two_near(facts.largest, P::T::EXPONENT).recip();
        let scale = facts.scale;
        let norms2: Vec<Vec<f64>> =
            in_order(self.chunks(1), |rows| rows.map(|row| self.points.norm2(row, scale)).collect());
        self.norms2 = norms2.concat();
        self.facts.zero_points = (0..shape.points).filter(|&j| self.norms2[j] == 0.0).collect();
        self.facts.weightless_points = (0..shape.points).filter(|&j| self.weight(j) == 0.0).collect();
        self.facts.usable_points =
            (0..shape.points).filter(|&j| self.weight(j) > 0.0 && self.norms2[j] > 0.0).count();
        self.facts.usable_weight =
            (0..shape.points).filter(|&j| self.norms2[j] > 0.0).map(|j| self.weight(j)).sum();
        self.facts.norm2 = (0..shape.points).map(|j| self.weight(j) * self.norms2[j]).sum();
        let words = self.norms2.iter().chain(self.weights.iter().flatten()).map(|x| x.to_bits());
        self.facts.digest = digest(words);
    }

    #[inline(always)]
    fn weight(&self, j: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[j])
    }

    #[inline(always)]
    fn root_weight(&self, j: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[j].sqrt())
    }

    /// Chunks of whole blocks for a pass that costs `width` multiplications an entry and keeps
    /// nothing large for each chunk.
    fn chunks(&self, width: usize) -> Vec<Range<usize>> {
        self.cut(if self.points.shape().nonzeros.saturating_mul(width) < P::SMALL { 1 } else { 64 })
    }

    /// Chunks for a pass in which every chunk keeps sums of features × width.
    fn chunks_with_sums(&self, width: usize) -> Vec<Range<usize>> {
        if self.points.has_transposed() {
            return self.chunks(width);
        }
        let shape = self.points.shape();
        let most = self.points.most_sums(width).clamp(1, 32);
        self.cut(if shape.nonzeros.saturating_mul(width) < P::SMALL { 1 } else { most })
    }

    fn cut(&self, most: usize) -> Vec<Range<usize>> {
        let (n, block) = (self.points.shape().points, self.points.block());
        let blocks = n.div_ceil(block).max(1);
        let count = most.min(blocks);
        (0..count)
            .map(|c| (blocks * c / count * block).min(n)..(blocks * (c + 1) / count * block).min(n))
            .collect()
    }

    /// The blocks of a chunk.
    fn blocks(&self, chunk: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let block = self.points.block();
        chunk.clone().step_by(block).map(move |from| from..(from + block).min(chunk.end))
    }
}

/// The largest power of two that is not above `x`, kept where the format can hold its inverse.
fn power_of_two_near(x: f64, exponent: i32) -> f64 {
    if x > 0.0 && x.is_finite() {
        // From the bits: a rounded logarithm would be off by one just below a power of two. (0: subnormal.)
        let power = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
        2f64.powi(power.clamp(-exponent, exponent))
    } else {
        1.0
    }
}

fn check_weights(weights: &[f64], points: usize) -> Result<()> {
    if weights.len() != points {
        return Err(Error::parameter(
            "weights",
            format!("{} weights for {points} points: give one for each point", weights.len()),
        ));
    }
    if let Some(j) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        return Err(Error::parameter(
            "weights",
            format!(
                "the weight of point {j} (counted from 0) is {}: weights are finite and not negative",
                weights[j]
            ),
        ));
    }
    if let Some(j) = weights.iter().position(|w| *w > 0.0 && !(1e-30..=1e30).contains(w)) {
        return Err(Error::parameter(
            "weights",
            format!(
                "the weight of point {j} (counted from 0) is {:e}: scale them to lie from 1e-30 to 1e30",
                weights[j]
            ),
        ));
    }
    Ok(())
}

/// Splits an array of `stride` numbers a point at the chunks' borders.
fn split<'s, X>(mut array: &'s mut [X], chunks: &[Range<usize>], stride: usize) -> Vec<&'s mut [X]> {
    chunks
        .iter()
        .map(|chunk| {
            let (head, tail) = std::mem::take(&mut array).split_at_mut(chunk.len() * stride);
            array = tail;
            head
        })
        .collect()
}

/// Bytes of a skinny matrix that stay in the cache while all points go by.
const CACHED: usize = 512 << 10;

/// Columns that the products of points with many columns take at a time, in every form.
const TILE: usize = 24;

impl<P: Points> Data for Local<P> {
    fn shape(&self) -> Shape {
        self.points.shape()
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn gather(&self, points: &[usize]) -> Result<Mat> {
        let mut columns = Mat::zeros(self.points.shape().features, points.len());
        for (i, &j) in points.iter().enumerate() {
            self.points.for_each(j, |f, x| columns[(f, i)] = x * self.facts.scale);
        }
        Ok(columns)
    }

    fn entries(&self, point: usize, f: &mut dyn FnMut(usize, f64)) -> Result<()> {
        self.points.for_each(point, |feature, x| f(feature, x * self.facts.scale));
        Ok(())
    }

    fn select(&self, points: &[usize]) -> Result<Box<dyn Data + '_>> {
        let weights = self.weights.as_ref().map(|w| points.iter().map(|&j| w[j]).collect());
        Ok(Box::new(Local::new(self.points.select(points), weights)?))
    }

    fn draw(&self, fractions: &[f64], zero_is_a_point: bool) -> Result<Vec<usize>> {
        let may = |j: usize| zero_is_a_point || self.norms2[j] > 0.0;
        let points = self.points.shape().points;
        let mut weights: Vec<f64> = (0..points).map(|j| if may(j) { self.weight(j) } else { 0.0 }).collect();
        let draw = |fraction: &f64| {
            let j = seed::place(&weights, &[*fraction])[0]?;
            weights[j] = 0.0;
            Some(j)
        };
        let drawn: Option<Vec<usize>> = fractions.iter().map(draw).collect();
        drawn.ok_or_else(|| Error::Data(format!("{} points were to be drawn of fewer", fractions.len())))
    }

    fn gram(&self) -> Result<Mat> {
        let Shape { points: n, features, .. } = self.points.shape();
        let mut gram = Mat::zeros(n, n);
        // A group of points at a time is the skinny matrix that the points from there on are multiplied with: as many as
        // fit the cache, in whole tiles of the kernel.
        let most = (CACHED / (8 * features.max(1)) / TILE * TILE).clamp(TILE, 3 * TILE);
        for from in (0..n).step_by(most) {
            let group: Vec<usize> = (from..(from + most).min(n)).collect();
            let packed = self.points.pack_exact(&self.gather(&group)?, self.facts.scale);
            let chunks = self.chunks(group.len()).into_iter().map(|c| c.start.max(from)..c.end);
            let parts = in_order(chunks.filter(|c| !c.is_empty()).collect(), |chunk| {
                let mut scores = vec![0.0; chunk.len() * group.len()];
                for rows in self.blocks(chunk.clone()) {
                    let range =
                        (rows.start - chunk.start) * group.len()..(rows.end - chunk.start) * group.len();
                    self.points.scores_exact(rows, &packed, &mut scores[range]);
                }
                scores
            });
            for (j, scores) in parts.concat().chunks_exact(group.len()).enumerate() {
                let j = from + j;
                for (score, &i) in scores.iter().zip(&group) {
                    let entry = score * self.root_weight(j) * self.root_weight(i);
                    (gram[(j, i)], gram[(i, j)]) = (entry, entry);
                }
            }
        }
        Ok(gram)
    }

    fn prefers_runs_apart(&self) -> bool {
        self.points.has_transposed()
    }

    fn store(&self) -> Result<Box<dyn Store + '_>> {
        Ok(Box::new(LocalStore {
            data: self,
            alone: false,
            k: 0,
            v: vec![],
            d: vec![],
            lambda: vec![],
            labels: vec![],
            memory: HashMap::new(),
            rooms: HashMap::new(),
            unexplained: vec![],
        }))
    }
}

/// Memory that a pass has used and the next one may: pages that are given back and asked for again in every pass cost
/// more than the numbers in them.
struct Rooms<P: Points> {
    /// features × k each.
    packed: Option<P::Packed>,
    sums: Vec<f64>,
    /// One for each point.
    to: Vec<u32>,
    factor: Vec<f64>,
}

impl<P: Points> Default for Rooms<P> {
    fn default() -> Self {
        Rooms { packed: None, sums: vec![], to: vec![], factor: vec![] }
    }
}

/// The arrays beside a [`Local`]; the passes over them are in the files of this folder.
struct LocalStore<'a, P: Points> {
    data: &'a Local<P>,
    /// Whether passes keep to one thread.
    alone: bool,
    /// Columns of V, D and Λ.
    k: usize,
    /// points × k each, `√wⱼ` included.
    v: Vec<f64>,
    d: Vec<f64>,
    lambda: Vec<f64>,
    /// One array for each start.
    labels: Vec<Vec<i32>>,
    /// What passes know of the points of each start; forgotten when others set labels.
    memory: HashMap<usize, Remembered>,
    /// Memory that the next pass of a start may use.
    rooms: HashMap<usize, Rooms<P>>,
    /// `wⱼ` times what the settled directions leave of each point.
    unexplained: Vec<f64>,
}

impl<P: Points> LocalStore<'_, P> {
    fn points(&self) -> usize {
        self.data.points.shape().points
    }

    /// Makes V, D, Λ hold k numbers for each point; what they held is lost.
    fn resize(&mut self, k: usize) {
        if self.k != k || self.v.is_empty() {
            self.k = k;
            self.v = vec![0.0; self.points() * k];
            self.d = vec![];
            self.lambda = vec![];
        }
    }

    fn labels_of(&mut self, start: usize) -> &mut Vec<i32> {
        let points = self.points();
        while self.labels.len() <= start {
            self.labels.push(vec![]);
        }
        if self.labels[start].len() != points {
            // No label that a pass can give: the first pass changes all of them.
            self.labels[start] = vec![-2; points];
        }
        &mut self.labels[start]
    }
}

macro_rules! forward {
    ($($name:ident($($arg:ident: $t:ty),*) -> $out:ty;)*) => {
        impl<P: Points> Store for LocalStore<'_, P> {
            fn set_alone(&mut self, alone: bool) {
                self.alone = alone;
            }
            fn recycle(&mut self, start: usize, centroids: Mat) {
                if self.data.points.has_transposed() {
                    self.rooms.entry(start).or_default().sums = centroids.data;
                }
            }
            $(fn $name(&mut self, $($arg: $t),*) -> Result<$out> { Ok(self.$name($($arg),*)) })*
        }
    };
}
// In memory no pass fails; each is an inherent method of the same name in one of the files beside this.
forward! {
    assign_and_sum(u: &[&Mat], rule: Rule, starts: &[usize]) -> Vec<Assigned>;
    dominant(k: usize, guesses: &[&Mat], tolerance: f64, starts: &[usize]) -> Option<Vec<Dominant>>;
    sum_by_label(u: &Mat, starts: &[usize]) -> Mat;
    sum_of_labels(k: usize, rule: Rule, start: usize) -> Assigned;
    normal(b: &Mat) -> Mat;
    scores(u: &Mat) -> ();
    sum() -> (Mat, Mat);
    step_and_sum(u: &Mat, utu: &Mat, rho: f64, accept: Option<&Accept>) -> Stepped;
    trial(trials: &[(f64, &Mat)]) -> Vec<f64>;
    accept(accept: &Accept) -> ();
    multiply_and_sum(u: &Mat, q: &Mat, shrink: f64, floor: f64) -> Multiplied;
    transform(a: &Mat) -> ();
    signs() -> Vec<(f64, f64)>;
    take_positive(factors: &[f64], fill: f64) -> ();
    fill_random(rows: Range<usize>, k: usize, seed: u64, stream: u64) -> ();
    indicate(k: usize, start: usize) -> ();
    label_by_v(start: usize) -> ();
    set_labels(start: usize, labels: &[i32]) -> ();
    remembered(start: usize) -> Option<Remembered>;
    remember(start: usize, remembered: Remembered) -> ();
    labels(start: usize) -> Vec<i32>;
    v() -> Vec<f64>;
    set_v(k: usize, v: &[f64]) -> ();
    multipliers() -> Vec<f64>;
    set_multipliers(lambda: &[f64]) -> ();
    explain(candidates: &Mat, rule: Rule) -> Vec<f64>;
    settle(columns: &Mat, rule: Rule) -> ();
    replace(u: &Mat, candidates: &Mat, rule: Rule) -> Mat;
    moves(u: &Mat, sigma2: &[f64], start: usize, most: usize) -> Vec<Move>;
    relabel(start: usize, labels: &[(usize, usize)]) -> ();
    information() -> f64;
    unsettle(rule: Rule) -> ();
    sample(fractions: &[f64]) -> Vec<Option<usize>>;
    group(u: &Mat, start: usize) -> Grouped;
    residual(u: &Mat, start: usize) -> Residual;
    weighted_squares(v: &[f64], k: usize, start: usize) -> Vec<f64>;
    strengths(u: &Mat, start: usize) -> Vec<f64>;
}

/// Points in memory of any kind that the passes know; owned, or borrowed from a numpy array or a memory map.
#[derive(Debug)]
pub enum AnyPoints<'a> {
    /// Dense float32.
    DenseF32(Dense<'a, f32>),
    /// Dense float64.
    DenseF64(Dense<'a, f64>),
    /// Sparse float32.
    SparseF32(Csr<'a, f32, i32>),
    /// Sparse float64.
    SparseF64(Csr<'a, f64, i32>),
    /// Sparse float32 with 64-bit columns.
    SparseF32I64(Csr<'a, f32, i64>),
    /// Sparse float64 with 64-bit columns.
    SparseF64I64(Csr<'a, f64, i64>),
}

macro_rules! any_points {
    ($($kind:ident($t:ty)),*) => {
        $(impl<'a> From<$t> for AnyPoints<'a> {
            fn from(points: $t) -> Self {
                AnyPoints::$kind(points)
            }
        })*
    };
}
any_points!(
    DenseF32(Dense<'a, f32>),
    DenseF64(Dense<'a, f64>),
    SparseF32(Csr<'a, f32, i32>),
    SparseF64(Csr<'a, f64, i32>),
    SparseF32I64(Csr<'a, f32, i64>),
    SparseF64I64(Csr<'a, f64, i64>)
);

impl<'a> From<&'a Matrix> for AnyPoints<'a> {
    fn from(matrix: &'a Matrix) -> Self {
        match matrix {
            Matrix::DenseF32(x) => x.borrowed().into(),
            Matrix::DenseF64(x) => x.borrowed().into(),
            Matrix::SparseF32(x) => x.borrowed().into(),
            Matrix::SparseF64(x) => x.borrowed().into(),
        }
    }
}

/// Opens points for clustering, with weights where given.
pub fn open<'a>(points: impl Into<AnyPoints<'a>>, weights: Option<Vec<f64>>) -> Result<Box<dyn Data + 'a>> {
    open_any(points.into(), weights, None)
}

/// As [`open`], and says whether a transposed copy of sparse entries may be kept: it makes the sums faster
/// and parallel without further memory for each thread. Unless said, the size decides.
///
/// Not generic, so that the passes are compiled here once and not again in every crate that calls it.
pub fn open_any(
    points: AnyPoints<'_>,
    weights: Option<Vec<f64>>,
    transposed: Option<bool>,
) -> Result<Box<dyn Data + '_>> {
    fn local<'a, P: Points + 'a>(points: P, weights: Option<Vec<f64>>) -> Result<Box<dyn Data + 'a>> {
        Ok(Box::new(Local::new(points, weights)?))
    }
    match points {
        AnyPoints::DenseF32(x) => local(x, weights),
        AnyPoints::DenseF64(x) => local(x, weights),
        AnyPoints::SparseF32(x) => local(Sparse::Narrow(Rows::new(x, transposed)), weights),
        AnyPoints::SparseF64(x) => local(Sparse::Narrow(Rows::new(x, transposed)), weights),
        AnyPoints::SparseF32I64(x) => local(Sparse::Wide(Rows::new(x, transposed)), weights),
        AnyPoints::SparseF64I64(x) => local(Sparse::Wide(Rows::new(x, transposed)), weights),
    }
}
