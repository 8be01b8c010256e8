//! Dominant eigenvectors of many Gram matrices at once, by a locally optimal conjugate gradient method: the best
//! vector in the span of the current one, its residual and the last direction. It converges like Lanczos but
//! keeps three vectors, and one product a step serves all matrices.

use crate::error::Result;
use crate::matrix::Mat;

/// Where the vectors live: how the matrices multiply them, and which entries belong to which vector.
pub(super) trait Space {
    /// `G·x` for every vector.
    fn image(&mut self, x: &Mat) -> Result<Mat>;
    /// `aᵀb` for every pair.
    fn dots(&self, a: &Mat, b: &Mat) -> Vec<f64>;
    /// `y ← y + s·x` for every vector.
    fn add(&self, y: &mut Mat, s: &[f64], x: &Mat);
    /// `x ← s·x` for every vector.
    fn scale(&self, x: &mut Mat, s: &[f64]);
}

/// Whether to stop with what there is.
pub(crate) type Stopping<'a> = &'a (dyn Fn() -> bool + Sync);

fn inverse(x: f64) -> f64 {
    if x > 0.0 { 1.0 / x } else { 0.0 }
}

/// `x ← x − (qᵀx)q` for unit vectors q, images alongside.
fn project_out(space: &dyn Space, x: &mut Mat, gx: &mut Mat, q: &Mat, gq: &Mat) {
    let dots: Vec<f64> = space.dots(q, x).iter().map(|d| -d).collect();
    space.add(x, &dots, q);
    space.add(gx, &dots, gq);
}

fn normalise(space: &dyn Space, x: &mut Mat, gx: &mut Mat) {
    // What is left after projecting a unit vector out of itself is rounding, not a direction.
    let scale: Vec<f64> =
        space.dots(x, x).iter().map(|n| if *n > 1e-24 { 1.0 / n.sqrt() } else { 0.0 }).collect();
    space.scale(x, &scale);
    space.scale(gx, &scale);
}

/// From unit vectors x and their images: the dominant vectors, `λ = xᵀGx`, and how many products that took. A
/// vector is done when `‖Gx − λx‖ ≤ tolerance·λ`.
pub(super) fn locally_optimal(
    space: &mut dyn Space,
    mut x: Mat,
    mut gx: Mat,
    tolerance: f64,
    is_to_stop: Stopping,
) -> Result<(Mat, Vec<f64>, usize)> {
    let mut lambda = space.dots(&x, &gx);
    let width = lambda.len();
    // The last direction and its image: none yet.
    let (mut p, mut gp) = (Mat::zeros(x.rows, x.cols), Mat::zeros(x.rows, x.cols));
    let mut products = 0;
    for _ in 0..200 {
        let mut r = gx.clone();
        space.add(&mut r, &lambda.iter().map(|l| -l).collect::<Vec<_>>(), &x);
        let norms: Vec<f64> = space.dots(&r, &r).iter().map(|n| n.sqrt()).collect();
        let moving: Vec<bool> =
            norms.iter().zip(&lambda).map(|(n, l)| *n > tolerance * l && *l > 0.0).collect();
        if !moving.contains(&true) || is_to_stop() {
            break;
        }
        // Vectors that have converged ask for nothing: their residual is set to zero.
        let scale: Vec<f64> =
            norms.iter().zip(&moving).map(|(n, m)| if *m { inverse(*n) } else { 0.0 }).collect();
        space.scale(&mut r, &scale);
        let mut gr = space.image(&r)?;
        products += 1;

        // Orthonormalise r and p against x and each other, images alongside; then a 3 × 3 problem each.
        project_out(space, &mut r, &mut gr, &x, &gx);
        normalise(space, &mut r, &mut gr);
        project_out(space, &mut p, &mut gp, &x, &gx);
        project_out(space, &mut p, &mut gp, &r, &gr);
        normalise(space, &mut p, &mut gp);
        let parts = [(&x, &gx), (&r, &gr), (&p, &gp)];
        let mut gram = vec![Mat::zeros(3, 3); width];
        for a in 0..3 {
            for b in a..3 {
                for (i, d) in space.dots(parts[a].0, parts[b].1).into_iter().enumerate() {
                    gram[i][(a, b)] = d;
                    gram[i][(b, a)] = d;
                }
            }
        }
        let mut weights = [vec![0.0; width], vec![0.0; width], vec![0.0; width]];
        for i in 0..width {
            if moving[i] {
                let (_, vectors) = gram[i].symmetric_eigen();
                let sign = if vectors[(0, 0)] < 0.0 { -1.0 } else { 1.0 };
                (0..3).for_each(|a| weights[a][i] = sign * vectors[(a, 0)]);
            } else {
                weights[0][i] = 1.0;
            }
        }
        // The new direction is the part outside x; the new x is x's share plus it.
        let (mut step, mut image) = (r, gr);
        space.scale(&mut step, &weights[1]);
        space.scale(&mut image, &weights[1]);
        space.add(&mut step, &weights[2], &p);
        space.add(&mut image, &weights[2], &gp);
        space.scale(&mut x, &weights[0]);
        space.scale(&mut gx, &weights[0]);
        let ones = vec![1.0; width];
        space.add(&mut x, &ones, &step);
        space.add(&mut gx, &ones, &image);
        (p, gp) = (step, image);
        normalise(space, &mut x, &mut gx);
        lambda = space.dots(&x, &gx);
    }
    Ok((x, lambda, products))
}
