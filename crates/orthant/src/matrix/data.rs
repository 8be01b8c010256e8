//! What algorithms see of the data: one small trait for what it is, one for the passes over it.
//!
//! Letters are the paper's: M is features × points, so a point is a column mⱼ; U is features × k and
//! V is k × points. Points have weights wⱼ ≥ 0 (1 unless given) and the objective is
//! `Σⱼ wⱼ‖mⱼ − Uvⱼ‖²`, which is ONMF of the points `√wⱼ·mⱼ`. Everything here is about the data
//! divided by a power of two near their largest entry ([`Facts::scale`]), which is exact.
//!
//! Factors cross this seam in float64, and nothing as long as the data does except at the start
//! (given labels) and at the finish: what is as long as the data lives in a [`Store`] beside it. Every
//! pass is named by what it computes and may fail, so that data on a disk or in another process can
//! implement it.

use std::ops::Range;

use super::Mat;
use crate::error::Result;

/// Floating-point format of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// 32 bits.
    F32,
    /// 64 bits.
    F64,
}

/// How large the data are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Number of points, zero points included.
    pub points: usize,
    /// Number of features.
    pub features: usize,
    /// Stored entries: for dense data all of them.
    pub nonzeros: usize,
    /// Format of the entries.
    pub precision: Precision,
}

/// An entry that some or all methods refuse. Row and column count from 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// Its point.
    pub row: usize,
    /// Its feature.
    pub column: usize,
    /// Its value.
    pub value: f64,
}

/// What one look at all of the data tells.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// The power of two that the data are multiplied by: 1/scale is near the largest entry.
    pub scale: f64,
    /// Largest absolute entry, as given.
    pub largest: f64,
    /// `Σⱼ wⱼ‖mⱼ‖²` of the scaled data.
    pub norm2: f64,
    /// `Σⱼ wⱼ` over the nonzero points.
    pub usable_weight: f64,
    /// Points that are zero, in increasing order.
    pub zero_points: Vec<usize>,
    /// Points whose weight is zero, in increasing order.
    pub weightless_points: Vec<usize>,
    /// Nonzero points with a positive weight.
    pub usable_points: usize,
    /// Features that are zero in every point.
    pub zero_features: usize,
    /// The first NaN or infinite entry.
    pub not_finite: Option<Entry>,
    /// The first negative entry.
    pub negative: Option<Entry>,
    /// Whether points have weights of their own.
    pub weighted: bool,
    /// Tells other data of the same shape from these: from the norms and weights of all points.
    pub digest: u64,
}

/// How a point chooses its cluster, and what it then adds to the cluster's sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// ONMF: the largest `mᵀu`; adds `w·(mᵀu)·m`, so that the sum is a power step. Value: `Σ w(mᵀu)²`.
    Power,
    /// Spherical k-means: the largest `mᵀu/‖m‖`; adds `w·m/‖m‖`. Value: `Σ w·mᵀu/‖m‖`.
    Cosine,
    /// k-means: the smallest `‖m − c‖²`; adds `w·m`. Value: `Σ w‖m − c‖²`.
    Euclid,
    /// KL: the largest `mᵀl` for given logarithms l of distributions; adds `w·m`. Value: `Σ w·mᵀl`.
    Kl,
}

/// What [`Store::assign_and_sum`] returns for each start.
#[derive(Debug, Clone)]
pub struct Assigned {
    /// features × k: the clusters' sums.
    pub sums: Mat,
    /// `Σw` of each cluster's points.
    pub weight: Vec<f64>,
    /// Each cluster's share of the value.
    pub value: Vec<f64>,
    /// How many points changed their cluster.
    pub changed: Vec<usize>,
}

/// What a start remembers of its last pass, so that the next one may leave points alone: see `local/bounds.rs`.
#[derive(Debug, Clone)]
pub struct Remembered {
    /// By which its points were assigned.
    pub rule: Rule,
    /// The centroids of that pass, features × k.
    pub u: Mat,
    /// Of each point, its cluster's lead over the others: in cosines, or for k-means in distances. Not positive where
    /// the point must be scored again.
    pub leads: Vec<f64>,
    /// Sums that can be brought up to date point by point.
    pub followed: Option<Followed>,
}

/// Sums of clusters that follow the points that change their label.
#[derive(Debug, Clone)]
pub struct Followed {
    /// features × k.
    pub sums: Mat,
    /// Since how many passes.
    pub passes: usize,
}

/// Dominant vectors and squared singular values of clusters.
#[derive(Debug, Clone)]
pub struct Dominant {
    /// features × k (side by side for several starts), unit columns; zero for an empty cluster.
    pub u: Mat,
    /// `σ₁²` of each cluster.
    pub sigma2: Vec<f64>,
    /// Passes over the data.
    pub passes: usize,
}

/// The V step of ONP-MF that was chosen: `V ← root·(V + beta·D)`, then `Λ ← max(0, Λ − alpha·V)`.
#[derive(Debug, Clone)]
pub struct Accept {
    /// Step length.
    pub beta: f64,
    /// `(YYᵀ)^(−1/2)`, k × k.
    pub root: Mat,
    /// Step of the multipliers.
    pub alpha: f64,
}

/// What [`Store::step_and_sum`] returns; T is `UᵀM + Λ`.
#[derive(Debug, Clone)]
pub struct Stepped {
    /// `MDᵀ`, features × k.
    pub mdt: Mat,
    /// `VVᵀ`.
    pub vvt: Mat,
    /// `VDᵀ`.
    pub vdt: Mat,
    /// `DDᵀ`.
    pub ddt: Mat,
    /// `TVᵀ`.
    pub tvt: Mat,
    /// `TDᵀ`.
    pub tdt: Mat,
    /// `‖min(V, 0)‖²`.
    pub negative2: f64,
}

/// What [`Store::multiply_and_sum`] returns.
#[derive(Debug, Clone)]
pub struct Multiplied {
    /// `MVᵀ` of the new V, features × k.
    pub mvt: Mat,
    /// `VVᵀ` of the new V.
    pub vvt: Mat,
    /// `⟨V new, V old⟩`.
    pub cross: f64,
    /// `‖V old‖²`.
    pub old2: f64,
}

/// A point that may change its cluster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Move {
    /// The point.
    pub point: usize,
    /// Its cluster.
    pub from: usize,
    /// Another one.
    pub to: usize,
    /// Its weight.
    pub weight: f64,
    /// By how much Σσ₁² would grow at least.
    pub gain: f64,
}

/// What [`Store::group`] returns. R is points × groups with nonnegative unit columns, each nonzero on its own group
/// only; M has its weights.
#[derive(Debug, Clone)]
pub struct Grouped {
    /// `MR`, features × groups; zero for a group without points.
    pub mr: Mat,
    /// `MMᵀ`, features × features.
    pub mmt: Mat,
}

/// What [`Store::residual`] returns.
#[derive(Debug, Clone)]
pub struct Residual {
    /// `Σⱼ wⱼ‖mⱼ − uv‖²`, point by point.
    pub total: f64,
    /// The same for each cluster.
    pub clusters: Vec<f64>,
    /// The point of which most is left unexplained, among those that are in a cluster with others.
    pub worst: Option<usize>,
    /// `Σ w(mᵀu)²` of each cluster.
    pub energy: Vec<f64>,
    /// Number of points of each cluster.
    pub sizes: Vec<usize>,
}

/// Data to be clustered: dense, sparse, memory-mapped, remote.
pub trait Data: Send + Sync {
    /// How large the data are.
    fn shape(&self) -> Shape;
    /// What one look at all of it told.
    fn facts(&self) -> &Facts;
    /// Some points (scaled), as the columns of a features × count matrix.
    fn gather(&self, points: &[usize]) -> Result<Mat>;
    /// Calls `f` with the feature and the value (scaled) of every stored entry of a point.
    fn entries(&self, point: usize, f: &mut dyn FnMut(usize, f64)) -> Result<()>;
    /// Some points as data of their own, with their weights: a copy, for samples and halves.
    fn select(&self, points: &[usize]) -> Result<Box<dyn Data + '_>>;
    /// The points at the given fractions (in [0, 1)) of the summed weights, one after the other and none
    /// twice. Zero points take part where they are points like any other.
    fn draw(&self, fractions: &[f64], zero_is_a_point: bool) -> Result<Vec<usize>>;
    /// `MᵀM` in float64, points × points, weights included: for few points only.
    fn gram(&self) -> Result<Mat>;
    /// Whether several runs are faster apart, each on a thread of its own, than side by side in the same passes.
    fn prefers_runs_apart(&self) -> bool {
        false
    }
    /// Room beside the data for what an algorithm keeps for each point.
    fn store(&self) -> Result<Box<dyn Store + '_>>;
}

/// Arrays as long as the data, and the passes that read and write them.
///
/// V, D and Λ are points × k; there is one array of labels for each start (−1: no cluster). The
/// arrays come into being when they are first written. V holds `√wⱼ·vⱼ`, so that `VVᵀ` is a plain sum.
pub trait Store: Send {
    /// Whether passes keep to the thread that asks for them, because the others have work of their own.
    fn set_alone(&mut self, _alone: bool) {}
    /// Takes back centroids of a start that are no longer needed: the next pass may write into their memory, instead of
    /// asking the system for new pages each time.
    fn recycle(&mut self, _start: usize, _centroids: Mat) {}
    /// Assigns every point to one of k clusters, for several starts at once, and sums what the points
    /// add. There is one `u` (features × k) for each start; `starts` names the arrays of labels, all different.
    fn assign_and_sum(&mut self, u: &[&Mat], rule: Rule, starts: &[usize]) -> Result<Vec<Assigned>>;
    /// The dominant vectors of the clusters of each start, from guesses (features × k); `None` where the directions
    /// are not longer than the data, and whoever asks had better iterate on those with `sum_by_label`.
    fn dominant(
        &mut self,
        k: usize,
        guesses: &[&Mat],
        tolerance: f64,
        starts: &[usize],
    ) -> Result<Option<Vec<Dominant>>>;
    /// `Σ_{j in πᵢ} w(mⱼᵀuᵢ)mⱼ` with the labels as they are: the Gram matrix of every cluster times a vector.
    fn sum_by_label(&mut self, u: &Mat, starts: &[usize]) -> Result<Mat>;
    /// What the points of each cluster add by `rule`, with the labels of a start as they are. (For
    /// [`Rule::Power`], whose sums need directions, see `sum_by_label`.)
    fn sum_of_labels(&mut self, k: usize, rule: Rule, start: usize) -> Result<Assigned>;
    /// `MMᵀB`.
    fn normal(&mut self, b: &Mat) -> Result<Mat>;
    /// `V ← UᵀM`.
    fn scores(&mut self, u: &Mat) -> Result<()>;
    /// `(MVᵀ, VVᵀ)`.
    fn sum(&mut self) -> Result<(Mat, Mat)>;
    /// The fused pass of ONP-MF: accepts the last step if there was one, then
    /// `D ← UᵀM − UᵀU·V + Λ + rho·max(−V, 0)` and all that the next line search and U step need.
    fn step_and_sum(&mut self, u: &Mat, utu: &Mat, rho: f64, accept: Option<&Accept>) -> Result<Stepped>;
    /// `‖min(root·(V + beta·D), 0)‖²` for each trial.
    fn trial(&mut self, trials: &[(f64, &Mat)]) -> Result<Vec<f64>>;
    /// Accepts a step without going on.
    fn accept(&mut self, accept: &Accept) -> Result<()>;
    /// The fused pass of the multiplicative updates: `V ← max(√w·floor, V ∘ UᵀM / (Q·V))`, with V
    /// multiplied by `shrink` first.
    fn multiply_and_sum(&mut self, u: &Mat, q: &Mat, shrink: f64, floor: f64) -> Result<Multiplied>;
    /// `V ← A·V`; A may have fewer or more rows than V.
    fn transform(&mut self, a: &Mat) -> Result<()>;
    /// `‖max(vᵢ, 0)‖²` and `‖min(vᵢ, 0)‖²` for every row of V.
    fn signs(&mut self) -> Result<Vec<(f64, f64)>>;
    /// Row i of V becomes `max(factorᵢ·vᵢ, 0)`, and entries that are 0 become `fill`.
    fn take_positive(&mut self, factors: &[f64], fill: f64) -> Result<()>;
    /// Fills some of the k rows of V with uniform random numbers that depend on (seed, stream) and the
    /// point alone; zero points get 0.
    fn fill_random(&mut self, rows: Range<usize>, k: usize, seed: u64, stream: u64) -> Result<()>;
    /// `V(i, j) ← ‖mⱼ‖` where point j has label i in that start, 0 elsewhere.
    fn indicate(&mut self, k: usize, start: usize) -> Result<()>;
    /// Labels of a start ← the largest entry of each column of V.
    fn label_by_v(&mut self, start: usize) -> Result<()>;
    /// Labels of a start, as given.
    fn set_labels(&mut self, start: usize, labels: &[i32]) -> Result<()>;
    /// Labels of a start.
    fn labels(&mut self, start: usize) -> Result<Vec<i32>>;
    /// What a start remembers of its last pass: a checkpoint needs it for the same bits after it.
    fn remembered(&mut self, start: usize) -> Result<Option<Remembered>>;
    /// The same, as given, after the labels.
    fn remember(&mut self, start: usize, remembered: Remembered) -> Result<()>;
    /// V, points × k.
    fn v(&mut self) -> Result<Vec<f64>>;
    /// Λ, points × k: zeros where no step has been made.
    fn multipliers(&mut self) -> Result<Vec<f64>>;
    /// Λ, as given.
    fn set_multipliers(&mut self, lambda: &[f64]) -> Result<()>;
    /// V, as given.
    fn set_v(&mut self, k: usize, v: &[f64]) -> Result<()>;
    /// What would be left of each point's residual, in total, if each candidate column were added to
    /// the directions (or centres) settled so far.
    fn explain(&mut self, candidates: &Mat, rule: Rule) -> Result<Vec<f64>>;
    /// Settles directions (or centres).
    fn settle(&mut self, columns: &Mat, rule: Rule) -> Result<()>;
    /// Forgets all settled directions.
    fn unsettle(&mut self, rule: Rule) -> Result<()>;
    /// What would be left in total if column i of `u` gave way to a candidate: candidates × k.
    fn replace(&mut self, u: &Mat, candidates: &Mat, rule: Rule) -> Result<Mat>;
    /// The most promising moves of single points between the clusters of a start, best first, whether
    /// they gain or not; `u` are the clusters' dominant vectors and `sigma2` their σ₁².
    fn moves(&mut self, u: &Mat, sigma2: &[f64], start: usize, most: usize) -> Result<Vec<Move>>;
    /// Gives some points of a start other labels.
    fn relabel(&mut self, start: usize, labels: &[(usize, usize)]) -> Result<()>;
    /// `Σⱼ wⱼ·Σ_f m log(m/Σm)`: the part of the KL divergence that no factors change.
    fn information(&mut self) -> Result<f64>;
    /// The points at the given fractions (in [0, 1)) of the summed residuals; none where nothing is left.
    fn sample(&mut self, fractions: &[f64]) -> Result<Vec<Option<usize>>>;
    /// The points of every group (the labels of a start) as one point: `mⱼ` has the share in its group's that its
    /// product with the group's direction (features × groups) says. All in float64.
    fn group(&mut self, u: &Mat, start: usize) -> Result<Grouped>;
    /// Everything about a partition with unit directions `u` (features × k), recomputed from the data.
    fn residual(&mut self, u: &Mat, start: usize) -> Result<Residual>;
    /// `Σ wⱼvⱼ²` over each cluster of a start.
    fn weighted_squares(&mut self, v: &[f64], k: usize, start: usize) -> Result<Vec<f64>>;
    /// `max(0, mⱼᵀu)` of each point's own direction (scaled data, without the weight).
    fn strengths(&mut self, u: &Mat, start: usize) -> Result<Vec<f64>>;
}
