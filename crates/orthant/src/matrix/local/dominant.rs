//! The dominant vectors of clusters, computed on the side of the points: a vector for each cluster there is one
//! number a point for all clusters together, where directions have features × k. On text that is ten times less.

use super::{Local, LocalStore, Points, in_order};
use crate::error::Result;
use crate::matrix::Mat;
use crate::matrix::data::Dominant;
use crate::matrix::dominant::{Space, dominant};
use crate::matrix::kernels::dense::NOWHERE;

/// Vectors of one number for each point of a cluster, all clusters of a start in one column.
struct OfPoints<'a, P> {
    data: &'a Local<P>,
    k: usize,
    /// The cluster of each point, or [`NOWHERE`].
    to: Vec<u32>,
    /// Memory for directions that are not kept.
    room: Vec<f64>,
}

impl<P: Points> OfPoints<'_, P> {
    /// `Σⱼ √w·xⱼ·mⱼ` over each cluster, features × k.
    fn directions(&mut self, x: &[f64]) -> Mat {
        let (data, n) = (self.data, self.to.len());
        let mut sums = data.points.sums_in(std::mem::take(&mut self.room), self.k);
        match &data.weights {
            None => data.points.add_one(&mut sums, 0..n, data.facts.scale, &self.to, x),
            Some(_) => {
                let weighted: Vec<f64> = x.iter().enumerate().map(|(j, x)| x * data.root_weight(j)).collect();
                data.points.add_one(&mut sums, 0..n, data.facts.scale, &self.to, &weighted);
            }
        }
        data.points.total(vec![sums], self.k)
    }

    /// `√w·mⱼᵀu` with the column of each point's cluster.
    fn strengths(&self, u: &Mat) -> Mat {
        let (data, n) = (self.data, self.to.len());
        let mut out = Mat::zeros(n, 1);
        data.points.dots_one(0..n, data.facts.scale, &self.to, &data.points.columns(u), &mut out.data);
        if data.weights.is_some() {
            out.data.iter_mut().enumerate().for_each(|(j, x)| *x *= data.root_weight(j));
        }
        out
    }
}

impl<P: Points> Space for OfPoints<'_, P> {
    fn image(&mut self, x: &Mat) -> Result<Mat> {
        let directions = self.directions(&x.data);
        let strengths = self.strengths(&directions);
        self.room = directions.data;
        Ok(strengths)
    }

    fn dots(&self, a: &Mat, b: &Mat) -> Vec<f64> {
        // One more for the points without a cluster.
        let mut dots = vec![0.0; self.k + 1];
        for ((&to, a), b) in self.to.iter().zip(&a.data).zip(&b.data) {
            dots[(to as usize).min(self.k)] += a * b;
        }
        dots.truncate(self.k);
        dots
    }

    fn add(&self, y: &mut Mat, s: &[f64], x: &Mat) {
        for ((&to, y), x) in self.to.iter().zip(&mut y.data).zip(&x.data) {
            *y += s.get(to as usize).copied().unwrap_or(0.0) * x;
        }
    }

    fn scale(&self, x: &mut Mat, s: &[f64]) {
        for (&to, x) in self.to.iter().zip(&mut x.data) {
            *x *= s.get(to as usize).copied().unwrap_or(0.0);
        }
    }
}

fn of_start<P: Points>(data: &Local<P>, guess: &Mat, labels: &[i32], tolerance: f64) -> Result<Dominant> {
    let k = guess.cols;
    let to = labels.iter().map(|&l| usize::try_from(l).map_or(NOWHERE, |l| l as u32)).collect();
    let mut space = OfPoints { data, k, to, room: vec![] };
    let unit = |space: &OfPoints<P>, x: &mut Mat| {
        let norms2 = space.dots(x, x);
        space.scale(
            x,
            &norms2.iter().map(|n| if *n > 0.0 { 1.0 / n.sqrt() } else { 0.0 }).collect::<Vec<_>>(),
        );
        norms2
    };
    // A little of a vector that no cluster is likely to be orthogonal to goes into every guess: for nonnegative
    // data a positive one; otherwise the guess could be caught in a part of its cluster.
    let mut x = space.strengths(guess);
    let found = unit(&space, &mut x);
    let signed = data.facts.negative.is_some();
    let sign = |j: usize| if signed { ((j + 1) as f64 * 0.618_033_988_749_895).fract() - 0.3 } else { 1.0 };
    let norm = |j: usize| sign(j) * data.norms2[j].sqrt() * data.root_weight(j);
    let mut common = Mat::from_fn(labels.len(), 1, |j, _| norm(j));
    unit(&space, &mut common);
    let share: Vec<f64> = found.iter().map(|n| if *n > 0.0 { 1e-5 } else { 1.0 }).collect();
    space.add(&mut x, &share, &common);
    unit(&space, &mut x);
    let gx = space.image(&x)?;
    let (x, lambda, products) = dominant(&mut space, x, gx, tolerance)?;
    let sigma2: Vec<f64> = lambda.iter().map(|l| l.max(0.0)).collect();
    // u = Mx/σ; of several dominant vectors of nonnegative data the absolute values are one too.
    // [P, Sec. 2.4, Perron–Frobenius]
    let mut u = space.directions(&x.data);
    if !signed {
        u = u.map(f64::abs);
    }
    let mut u = u.with_unit_columns();
    u.scale_columns(&sigma2.iter().map(|&l| if l > 0.0 { 1.0 } else { 0.0 }).collect::<Vec<_>>());
    Ok(Dominant { u, sigma2, passes: 2 * products + 4 })
}

impl<P: Points> LocalStore<'_, P> {
    pub(super) fn dominant(
        &mut self,
        k: usize,
        guesses: &[&Mat],
        tolerance: f64,
        starts: &[usize],
    ) -> Option<Vec<Dominant>> {
        let data = self.data;
        if !data.points.few_points(k) {
            return None;
        }
        let labels: Vec<&[i32]> = starts.iter().map(|&s| self.labels[s].as_slice()).collect();
        let jobs = guesses.iter().zip(labels).collect();
        let found = in_order(jobs, |(guess, labels)| of_start(data, guess, labels, tolerance));
        // No pass over memory fails.
        found.into_iter().collect::<Result<_>>().ok()
    }
}
