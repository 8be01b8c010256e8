//! The dominant left singular vector of every cluster, all clusters (and starts) in the same passes: eigenvectors of
//! `MᵢMᵢᵀ`, or, where points are few and features many, `Mᵢ` times those of `MᵢᵀMᵢ`.

use crate::error::Result;
pub use crate::matrix::data::Dominant;
use crate::matrix::dominant::{self, Space};
use crate::matrix::{Data, Mat, Precision, Store};

/// Vectors as the columns of a features × (starts·k) matrix.
struct OfFeatures<'a> {
    store: &'a mut dyn Store,
    starts: &'a [usize],
}

impl Space for OfFeatures<'_> {
    fn image(&mut self, x: &Mat) -> Result<Mat> {
        self.store.sum_by_label(x, self.starts)
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

/// The dominant vectors of the clusters that the labels of `starts` describe, from the guesses `u`
/// (features × starts·k). Columns of `u` that are zero stay so unless their cluster has points that
/// an all-positive guess reaches, which it then starts from.
pub fn dominant(data: &dyn Data, store: &mut dyn Store, starts: &[usize], u: &Mat) -> Result<Dominant> {
    let k = u.cols / starts.len().max(1);
    let guesses: Vec<Mat> = (0..starts.len()).map(|r| u.columns(r * k..(r + 1) * k)).collect();
    let found = dominant_within(data, store, starts, &guesses.iter().collect::<Vec<_>>(), 1e-10)?;
    Ok(Dominant {
        u: Mat::beside(&found.iter().map(|f| &f.u).collect::<Vec<_>>()),
        sigma2: found.iter().flat_map(|f| f.sigma2.iter().copied()).collect(),
        passes: found.iter().map(|f| f.passes).max().unwrap_or(0),
    })
}

/// As [`dominant()`] for each start with a guess of its own (features × k), until every residual is at most `tolerance·σ²` (float32: no finer than the format allows). The
/// error of the vectors is about that, that of σ² about its square.
pub fn dominant_within(
    data: &dyn Data,
    store: &mut dyn Store,
    starts: &[usize],
    guesses: &[&Mat],
    tolerance: f64,
) -> Result<Vec<Dominant>> {
    let k = guesses.first().map_or(0, |guess| guess.cols);
    if let Some(found) = store.dominant(k, guesses, tolerance, starts)? {
        return Ok(found);
    }
    let tolerance = match data.shape().precision {
        Precision::F64 => tolerance,
        Precision::F32 => tolerance.max(1e-5),
    };
    let mut u = Mat::beside(guesses).with_unit_columns();
    let width = u.cols;
    // A constant vector meets every nonzero nonnegative point; data of any sign need one that no cluster is
    // likely to be orthogonal to. A little of it goes into every guess, which could otherwise be caught in a part
    // of its cluster that shares no feature with the rest.
    let signed = data.facts().negative.is_some();
    let common = |f: usize| if signed { ((f + 1) as f64 * 0.618_033_988_749_895).fract() - 0.3 } else { 1.0 };
    let common = Mat::from_fn(u.rows, 1, |f, _| common(f)).with_unit_columns();
    for i in 0..width {
        let share = if (0..u.rows).all(|f| u[(f, i)] == 0.0) { 1.0 } else { 1e-5 };
        (0..u.rows).for_each(|f| u[(f, i)] += share * common[(f, 0)]);
    }
    u = u.with_unit_columns();
    let mut space = OfFeatures { store, starts };
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
    let (mut u, lambda, products) = dominant::dominant(&mut space, u, gu, tolerance)?;
    // For nonnegative G, |u|ᵀG|u| ≥ uᵀGu: of several dominant vectors this one is nonnegative too.
    // [P, Sec. 2.4, Perron–Frobenius]
    if !signed {
        u = u.map(f64::abs);
    }
    let sigma2 = lambda.iter().map(|l| l.max(0.0)).collect::<Vec<_>>();
    let empty: Vec<f64> = sigma2.iter().map(|&l| if l > 0.0 { 1.0 } else { 0.0 }).collect();
    u.scale_columns(&empty);
    let of = |r: usize| {
        let columns = r * k..(r + 1) * k;
        Dominant {
            u: u.columns(columns.clone()),
            sigma2: sigma2[columns].to_vec(),
            passes: passes + products,
        }
    };
    Ok((0..starts.len()).map(of).collect())
}
