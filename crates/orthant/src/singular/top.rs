//! The k largest singular values of M and their vectors, by a block Krylov method with Rayleigh–Ritz.
//!
//! The basis is extended by the residuals of the wanted vectors, a block at a time: in exact
//! arithmetic this is block Lanczos, but it needs no recurrence to hold. A block finds multiple
//! singular values, which a single vector would miss. Where there are few features the basis starts
//! as the identity and the first pass gives all of `MMᵀ`.

use nalgebra::DMatrix;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::matrix::kernels::tall::{Gram, Times};
use crate::matrix::kernels::{axpy, dot, run};
use crate::matrix::passes::{FillRandom, Normal, Products, Scores, Transform};
use crate::matrix::{Data, Format, Mat, Slots};
use crate::random::uniform;

use super::locally_optimal::Stopping;

/// The k largest singular values (of the scaled data, weights included) and left singular vectors.
#[derive(Debug, Clone)]
pub struct Singular {
    /// In decreasing order; those that are zero to rounding are 0.
    pub values: Vec<f64>,
    /// features × k, orthonormal columns.
    pub left: Mat,
    /// What the squares of the values may lack: the sum of ‖MMᵀu − σ²u‖ over the vectors. Rounding, except where
    /// the data have so little structure that the vectors have not converged.
    pub slack: f64,
}

/// Seed of the block that every decomposition starts from, and of what completes V beyond the rank.
const SEED: u64 = 0x5EED_0F57;

/// Data without structure may need more; not to have converged is no failure, but is told by the slack.
const MOST_STEPS: usize = 200;

/// Bytes of basis and images; with many features a shorter basis starts again more often instead.
const BASIS: usize = 256 << 20;

/// Columns, each contiguous.
pub(super) type Columns = Vec<Vec<f64>>;

pub(super) fn to_mat(columns: &[Vec<f64>], rows: usize) -> Mat {
    Mat::from_fn(rows, columns.len(), |i, j| columns[j][i])
}

pub(super) fn to_columns(mat: &Mat) -> Columns {
    let mut columns = vec![Vec::with_capacity(mat.rows); mat.cols];
    for row in mat.data.chunks_exact(mat.cols.max(1)) {
        columns.iter_mut().zip(row).for_each(|(column, &x)| column.push(x));
    }
    columns
}

/// Makes a block orthonormal and orthogonal to `basis`, dropping what depends on it.
pub(super) fn orthonormalize(basis: &[Vec<f64>], block: Columns) -> Columns {
    let mut kept: Columns = vec![];
    for mut column in block {
        let before = dot(&column, &column).sqrt();
        // Twice is enough: the second round removes what rounding left in the first.
        for _ in 0..2 {
            let products: Vec<f64> = basis.par_iter().map(|q| dot(q, &column)).collect();
            basis.iter().zip(products).for_each(|(q, p)| axpy(-p, q, &mut column));
            for q in &kept {
                let p = dot(q, &column);
                axpy(-p, q, &mut column);
            }
        }
        let after = dot(&column, &column).sqrt();
        if after > 1e-10 * before && after > 0.0 {
            column.iter_mut().for_each(|x| *x /= after);
            kept.push(column);
        }
    }
    kept
}

/// Many columns, in the blocks that they came in. The rows of a block are contiguous, so that a block is read once for all
/// columns that it is multiplied with: column by column, reading took three quarters of a decomposition's time.
struct Basis(Vec<Mat>);

impl Basis {
    /// Rows that are multiplied at a time: those of all blocks stay in the cache.
    const ROWS: usize = 1024;

    fn columns(&self) -> usize {
        self.0.iter().map(|block| block.cols).sum()
    }

    /// `QᵀB`: sums over rows in the order of the rows, whoever makes them.
    fn products(&self, b: &Mat) -> Mat {
        let (width, count) = (b.cols, b.rows.div_ceil(Self::ROWS));
        let of_rows = |part: usize| {
            let rows = part * Self::ROWS..((part + 1) * Self::ROWS).min(b.rows);
            let own = |mat: &'_ Mat| rows.start * mat.cols..rows.end * mat.cols;
            let (mut products, mut at) = (Mat::zeros(self.columns(), width), 0);
            for q in &self.0 {
                let gram = &mut products.data[at * width..(at + q.cols) * width];
                run(Gram { a: &q.data[own(q)], k: q.cols, b: &b.data[own(b)], l: width, gram });
                at += q.cols;
            }
            products
        };
        let parts: Vec<Mat> = (0..count).into_par_iter().map(of_rows).collect();
        let sum = parts.into_iter().reduce(|sum, part| sum.plus(1.0, &part));
        sum.unwrap_or_else(|| Mat::zeros(self.columns(), width))
    }

    /// `QR`, for R with a row for each column.
    fn combined(&self, r: &Mat) -> Mat {
        let width = r.cols;
        let mut all = Mat::zeros(self.0.first().map_or(0, |block| block.rows), width);
        let of_rows = |(part, out): (usize, &mut [f64])| {
            let (from, count) = (part * Self::ROWS, out.len() / width);
            let (mut more, mut at) = (vec![], 0);
            for q in &self.0 {
                let a = &q.data[from * q.cols..(from + count) * q.cols];
                let r = &r.data[at * width..(at + q.cols) * width];
                if at == 0 {
                    run(Times { a, k: q.cols, r, l: width, out: &mut *out });
                } else {
                    more.resize(out.len(), 0.0);
                    run(Times { a, k: q.cols, r, l: width, out: &mut more });
                    axpy(1.0, &more, out);
                }
                at += q.cols;
            }
        };
        if width > 0 {
            all.data.par_chunks_mut(Self::ROWS * width).enumerate().for_each(of_rows);
        }
        all
    }

    /// Makes columns orthonormal and orthogonal to these, dropping what depends on them.
    fn complement(&self, columns: &Mat, is_to_stop: Stopping) -> Result<Mat> {
        // So many that are made orthogonal one by one, and then to all others at once.
        const FEW: usize = 16;
        let mut new = Basis(vec![]);
        for from in (0..columns.cols).step_by(FEW) {
            go_on(is_to_stop)?;
            let mut block = columns.columns(from..(from + FEW).min(columns.cols));
            // Twice: the second round removes what rounding left in the first, and made large where little was left.
            for _ in 0..2 {
                let before = block.column_norms2();
                for known in [self, &new].into_iter().filter(|known| known.columns() > 0) {
                    block = block.plus(-1.0, &known.combined(&known.products(&block)));
                }
                let after = block.column_norms2();
                let kept = to_columns(&block).into_iter().zip(after.iter().zip(&before));
                let kept = kept.filter(|(_, (after, before))| **after > 1e-20 * **before);
                let orthonormal = orthonormalize(&[], kept.map(|(column, _)| column).collect());
                block = to_mat(&orthonormal, block.rows);
            }
            new.0.push(block);
        }
        Ok(Mat::beside(&new.0.iter().collect::<Vec<_>>()))
    }
}

/// `QᵀAQ` for a basis that has grown by a block, from what it was before and the images AQ.
fn extended(before: Mat, basis: &Basis, images: &Basis) -> Mat {
    let (Some(q), Some(aq)) = (basis.0.last(), images.0.last()) else { return before };
    // Both products, which rounding makes unequal.
    let (one, other) = (basis.products(aq), images.products(q));
    let known = before.rows;
    Mat::from_fn(basis.columns(), basis.columns(), |i, j| {
        let (i, j) = (i.max(j), i.min(j));
        if i < known { before[(i, j)] } else { 0.5 * (one[(j, i - known)] + other[(j, i - known)]) }
    })
}

/// Gives up what is under way when it is to stop.
fn go_on(is_to_stop: Stopping) -> Result<()> {
    if is_to_stop() { Err(Error::Stopped("the singular values were known")) } else { Ok(()) }
}

/// The k largest singular values of M with their left vectors.
pub fn top(data: &dyn Data, k: usize) -> Result<Singular> {
    top_until(data, k, &|| false)
}

/// The same, unless it is to stop before: then [`Error::Stopped`]. Values that have not converged bound nothing.
pub fn top_until(data: &dyn Data, k: usize, is_to_stop: Stopping) -> Result<Singular> {
    go_on(is_to_stop)?;
    let mut slots = data.slots()?;
    let shape = data.shape();
    let m = shape.features;
    let wanted = k.min(m);
    let (accurate, rounding) = match shape.format {
        Format::F64 => (2e-11, 2e-15),
        // Products are rounded to float32 on the way.
        Format::F32 => (1e-6, 1e-7),
    };
    // Basis and images together hold at most so many bytes, unless fewer columns would no longer converge.
    let room = (BASIS / (16 * m.max(1))).max(4 * wanted + 8);
    let most = (10 * wanted).max(64).min(room) + wanted;
    let whole = m <= (4 * wanted).max(64);

    let first = if whole {
        Mat::identity(m)
    } else {
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        // Two more than wanted, so that the last wanted vector converges too.
        let block: Columns =
            (0..wanted + 2).map(|_| (0..m).map(|_| uniform(&mut random) - 0.3).collect()).collect();
        Basis(vec![]).complement(&to_mat(&block, m), is_to_stop)?
    };
    // A·Q for A = MMᵀ, block by block with the basis.
    let mut images = Basis(vec![slots.sweep(&Normal::new(first.clone()))?.1]);
    let mut basis = Basis(vec![first]);

    let mut projected = Mat::zeros(0, 0);
    for step in 0.. {
        go_on(is_to_stop)?;
        // Rayleigh–Ritz on the whole basis.
        let size = basis.columns();
        projected = extended(projected, &basis, &images);
        go_on(is_to_stop)?;
        let (values, vectors) = projected.symmetric_eigen();
        let count = wanted.min(size);
        let best = vectors.columns(0..count);
        go_on(is_to_stop)?;
        let ritz = basis.combined(&best);
        let mut known = ritz.clone();
        known.scale_columns(&values[..count]);
        let residuals = images.combined(&best).plus(-1.0, &known);
        let largest = values[0].max(0.0);
        let norms: Vec<f64> = residuals.column_norms2().iter().map(|norm2| norm2.sqrt()).collect();
        let slack: f64 = norms.iter().sum();
        // ‖Mv − σu‖ = ‖MMᵀu − σ²u‖/σ is to be at most a share of σ₁.
        let short = |j: &usize| {
            norms[*j] > accurate * (largest * values[*j].max(0.0)).sqrt() && norms[*j] > rounding * largest
        };
        let short: Vec<usize> = (0..count).filter(short).collect();
        let done = whole || short.is_empty() || step == MOST_STEPS;
        let extension = match done {
            true => Mat::zeros(m, 0),
            false => {
                let short = Mat::from_fn(m, short.len(), |f, j| residuals[(f, short[j])]);
                basis.complement(&short, is_to_stop)?
            }
        };
        if extension.cols == 0 {
            let zero = 1e-15 * largest;
            let mut left = ritz;
            if left.cols < k {
                left = Mat::beside(&[&left, &Mat::zeros(m, k - left.cols)]);
            }
            let mut sigma: Vec<f64> =
                values[..count].iter().map(|&x| if x > zero { x.sqrt() } else { 0.0 }).collect();
            sigma.resize(k, 0.0);
            return Ok(Singular { values: sigma, left, slack });
        }
        if size + extension.cols > most {
            // Start again from the best part of the basis.
            let keep = (3 * wanted).min(size);
            let best = vectors.columns(0..keep);
            (basis, images) = (Basis(vec![basis.combined(&best)]), Basis(vec![images.combined(&best)]));
            projected = Mat::from_fn(keep, keep, |i, j| if i == j { values[i] } else { 0.0 });
        }
        images.0.push(slots.sweep(&Normal::new(extension.clone()))?.1);
        basis.0.push(extension);
    }
    unreachable!("the loop returns after its last step")
}

/// Right singular vectors into V: k orthonormal rows, with their singular values and left
/// vectors refined to match. Beyond the rank, V is completed by a fixed random block. [`Error::Stopped`] where it is to
/// stop before.
pub fn right_vectors(
    slots: &mut dyn Slots,
    singular: &Singular,
    k: usize,
    is_to_stop: Stopping,
) -> Result<Singular> {
    let largest = singular.values.first().copied().unwrap_or(0.0);
    // Below this the quotient Mᵀu/σ is mostly rounding.
    let rank = singular.values.iter().take(k).take_while(|&&s| s > 1e-7 * largest).count();
    let mut u = singular.left.columns(0..k);
    let inverse: Vec<f64> = (0..k).map(|i| if i < rank { 1.0 / singular.values[i] } else { 0.0 }).collect();
    u.scale_columns(&inverse);
    slots.tell(&Scores::new(u))?;
    if rank < k {
        slots.tell(&FillRandom { rows: rank..k, k, seed: SEED, stream: 0 })?;
    }
    // Gram–Schmidt by Cholesky factors of VVᵀ, twice: random rows give way to singular vectors.
    for _ in 0..3 {
        go_on(is_to_stop)?;
        let vvt = slots.tell(&Products { k })?;
        slots.tell(&Transform { a: inverse_cholesky(&vvt) })?;
    }
    go_on(is_to_stop)?;
    // B = MVᵀ = Q·R and R = U Σ Wᵀ make M·(WᵀV)ᵀ = (QU)Σ to rounding; not through BᵀB, which would
    // leave singular values below √ε·σ₁ to chance.
    let mvt = slots.sweep(&Products { k })?.1;
    go_on(is_to_stop)?;
    let qr = DMatrix::from_row_slice(mvt.rows, k, &mvt.data).qr();
    // Without a limit, entries that are not finite would keep it busy for ever.
    let finite = mvt.data.iter().all(|x| x.is_finite());
    let svd = finite.then(|| qr.r().try_svd(true, true, f64::EPSILON, 100 * (k + 10))).flatten();
    let Some((svd, (small, wt))) = svd.and_then(|mut svd| {
        let vectors = (svd.u.take()?, svd.v_t.take()?);
        Some((svd, vectors))
    }) else {
        return Err(Error::Computation("the singular value decomposition of a k x k matrix failed".into()));
    };
    let mut order: Vec<usize> = (0..svd.singular_values.len()).collect();
    order.sort_by(|&a, &b| svd.singular_values[b].total_cmp(&svd.singular_values[a]));
    let rows = order.len();
    // With fewer features than clusters, R is wide: the rest of V is what Wᵀ leaves out.
    let mut w = Mat::from_fn(rows, k, |i, j| wt[(order[i], j)]);
    if rows < k {
        let rest = orthonormalize(&to_columns(&w.transpose()), to_columns(&Mat::identity(k)));
        w = Mat::beside(&[&w.transpose(), &to_mat(&rest, k)]).transpose();
    }
    go_on(is_to_stop)?;
    slots.tell(&Transform { a: w })?;
    let q = qr.q() * small;
    let left = Mat::from_fn(mvt.rows, k, |f, i| if i < rows { q[(f, order[i])] } else { 0.0 });
    let values = (0..k).map(|i| if i < rows { svd.singular_values[order[i]] } else { 0.0 }).collect();
    Ok(Singular { values, left, slack: singular.slack })
}

/// Makes the rows of V orthonormal in their order; one that depends on those before it becomes a random one.
pub(crate) fn orthonormalize_rows(slots: &mut dyn Slots, k: usize) -> Result<()> {
    for attempt in 0..=2 * k as u64 {
        let vvt = slots.tell(&Products { k })?;
        // Row norms of the inverse factor: large where a row is nearly dependent.
        let inverse = inverse_cholesky(&vvt);
        let dependent = (0..k).find(|&i| inverse[(i, i)] * vvt[(i, i)].sqrt() > 1e5 || vvt[(i, i)] <= 0.0);
        match dependent {
            Some(i) if attempt < 2 * k as u64 => {
                slots.tell(&FillRandom { rows: i..i + 1, k, seed: SEED, stream: 1 + attempt })?;
            }
            _ => {
                slots.tell(&Transform { a: inverse })?;
                break;
            }
        }
    }
    for _ in 0..2 {
        let vvt = slots.tell(&Products { k })?;
        slots.tell(&Transform { a: inverse_cholesky(&vvt) })?;
    }
    Ok(())
}

/// `L⁻¹` for `A = LLᵀ`; pivots that vanish are replaced by a small one.
fn inverse_cholesky(a: &Mat) -> Mat {
    let k = a.rows;
    let mut l = Mat::zeros(k, k);
    for i in 0..k {
        for j in 0..=i {
            let mut sum = a[(i, j)];
            for t in 0..j {
                sum -= l[(i, t)] * l[(j, t)];
            }
            l[(i, j)] = if i == j {
                sum.max(1e-14 * a[(i, i)].max(f64::MIN_POSITIVE)).sqrt()
            } else {
                sum / l[(j, j)]
            };
        }
    }
    let mut inverse = Mat::zeros(k, k);
    for c in 0..k {
        for i in c..k {
            let mut sum = if i == c { 1.0 } else { 0.0 };
            for t in c..i {
                sum -= l[(i, t)] * inverse[(t, c)];
            }
            inverse[(i, c)] = sum / l[(i, i)];
        }
    }
    inverse
}
