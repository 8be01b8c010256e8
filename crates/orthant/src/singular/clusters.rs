//! The dominant left singular vector of every cluster, all clusters (and starts) in the same passes.
//!
//! Each cluster runs a locally optimal conjugate gradient method on its Gram matrix `G = MᵢMᵢᵀ`: the
//! best vector in the span of the current one, its residual and the last direction. It converges
//! like Lanczos but keeps three vectors, and one pass a step serves all clusters.

use crate::error::Result;
use crate::matrix::{Data, Mat, Precision, Store};

/// Dominant vectors and squared singular values.
#[derive(Debug, Clone)]
pub struct Dominant {
    /// features × (starts·k), unit columns (zero for an empty cluster).
    pub u: Mat,
    /// `σ₁²` of each cluster.
    pub sigma2: Vec<f64>,
    /// Passes over the data.
    pub passes: usize,
}

fn column_dots(a: &Mat, b: &Mat) -> Vec<f64> {
    let mut dots = vec![0.0; a.cols];
    for (a, b) in a.data.chunks_exact(a.cols.max(1)).zip(b.data.chunks_exact(b.cols.max(1))) {
        for (dot, (x, y)) in dots.iter_mut().zip(a.iter().zip(b)) {
            *dot += x * y;
        }
    }
    dots
}

/// `y ← y + s∘x`, column by column.
fn add_columns(y: &mut Mat, s: &[f64], x: &Mat) {
    for (y, x) in y.data.chunks_exact_mut(s.len().max(1)).zip(x.data.chunks_exact(s.len().max(1))) {
        for i in 0..s.len() {
            y[i] += s[i] * x[i];
        }
    }
}

fn inverse(x: f64) -> f64 {
    if x > 0.0 { 1.0 / x } else { 0.0 }
}

/// The dominant vectors of the clusters that the labels of `starts` describe, from the guesses `u`
/// (features × starts·k). Columns of `u` that are zero stay so unless their cluster has points that
/// an all-positive guess reaches, which it then starts from.
pub fn dominant(data: &dyn Data, store: &mut dyn Store, starts: &[usize], u: &Mat) -> Result<Dominant> {
    let tolerance = match data.shape().precision {
        Precision::F64 => 1e-10,
        Precision::F32 => 1e-5,
    };
    let width = u.cols;
    let mut u = u.clone().with_unit_columns();
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
    let mut gu = store.sum_by_label(&u, starts)?;
    // A guess that is orthogonal to its whole cluster cannot grow: start those from the constant too.
    let lost: Vec<usize> =
        column_dots(&u, &gu).iter().enumerate().filter(|(_, l)| **l <= 0.0).map(|(i, _)| i).collect();
    let mut passes = 1;
    if !lost.is_empty() {
        for &i in &lost {
            (0..u.rows).for_each(|f| u[(f, i)] = common[(f, 0)]);
        }
        gu = store.sum_by_label(&u, starts)?;
        passes += 1;
    }
    let mut lambda = column_dots(&u, &gu);
    // The last direction and its image: none yet.
    let (mut p, mut gp) = (Mat::zeros(u.rows, width), Mat::zeros(u.rows, width));
    for _ in 0..200 {
        let mut r = gu.clone();
        add_columns(&mut r, &lambda.iter().map(|l| -l).collect::<Vec<_>>(), &u);
        let norms: Vec<f64> = r.column_norms2().iter().map(|n| n.sqrt()).collect();
        let moving: Vec<bool> =
            norms.iter().zip(&lambda).map(|(n, l)| *n > tolerance * l && *l > 0.0).collect();
        if !moving.contains(&true) {
            break;
        }
        // Converged columns ask for nothing: their residual is set to zero.
        let scale: Vec<f64> =
            norms.iter().zip(&moving).map(|(n, m)| if *m { inverse(*n) } else { 0.0 }).collect();
        r.scale_columns(&scale);
        let gr = store.sum_by_label(&r, starts)?;
        passes += 1;

        // Orthonormalise r and p against u and each other, images alongside; then a 3 × 3 problem each.
        let (mut r, mut gr) = (r, gr);
        project_out(&mut r, &mut gr, &u, &gu);
        normalise(&mut r, &mut gr);
        project_out(&mut p, &mut gp, &u, &gu);
        project_out(&mut p, &mut gp, &r, &gr);
        normalise(&mut p, &mut gp);
        let parts = [(&u, &gu), (&r, &gr), (&p, &gp)];
        let mut gram = vec![Mat::zeros(3, 3); width];
        for a in 0..3 {
            for b in a..3 {
                for (i, d) in column_dots(parts[a].0, parts[b].1).into_iter().enumerate() {
                    gram[i][(a, b)] = d;
                    gram[i][(b, a)] = d;
                }
            }
        }
        let mut weights = [vec![0.0; width], vec![0.0; width], vec![0.0; width]];
        for i in 0..width {
            let (_, vectors) = gram[i].symmetric_eigen();
            let sign = if vectors[(0, 0)] < 0.0 { -1.0 } else { 1.0 };
            for a in 0..3 {
                weights[a][i] = if moving[i] { sign * vectors[(a, 0)] } else { f64::from(u8::from(a == 0)) };
            }
        }
        // The new direction is the part outside u; the new u is u's share plus it.
        let mut step = Mat::zeros(u.rows, width);
        let mut image = Mat::zeros(u.rows, width);
        for a in 1..3 {
            add_columns(&mut step, &weights[a], parts[a].0);
            add_columns(&mut image, &weights[a], parts[a].1);
        }
        let mut new_u = step.clone();
        let mut new_gu = image.clone();
        add_columns(&mut new_u, &weights[0], &u);
        add_columns(&mut new_gu, &weights[0], &gu);
        (u, gu, p, gp) = (new_u, new_gu, step, image);
        normalise(&mut u, &mut gu);
        lambda = column_dots(&u, &gu);
    }
    // For nonnegative G, |u|ᵀG|u| ≥ uᵀGu: of several dominant vectors this one is nonnegative too.
    // [P, Sec. 2.4, Perron–Frobenius]
    if data.facts().negative.is_none() {
        u = u.map(f64::abs);
    }
    let sigma2 = lambda.iter().map(|l| l.max(0.0)).collect::<Vec<_>>();
    let empty: Vec<f64> = sigma2.iter().map(|&l| if l > 0.0 { 1.0 } else { 0.0 }).collect();
    u.scale_columns(&empty);
    Ok(Dominant { u, sigma2, passes })
}

/// `x ← x − (qᵀx)q` for unit columns q, images alongside.
fn project_out(x: &mut Mat, gx: &mut Mat, q: &Mat, gq: &Mat) {
    let dots: Vec<f64> = column_dots(q, x).iter().map(|d| -d).collect();
    add_columns(x, &dots, q);
    add_columns(gx, &dots, gq);
}

fn normalise(x: &mut Mat, gx: &mut Mat) {
    // What is left after projecting a unit vector out of itself is rounding, not a direction.
    let scale: Vec<f64> =
        x.column_norms2().iter().map(|n| if *n > 1e-24 { 1.0 / n.sqrt() } else { 0.0 }).collect();
    x.scale_columns(&scale);
    gx.scale_columns(&scale);
}
