//! Small dense matrices: factors (features × k) and their k × k algebra, always float64.

use nalgebra::DMatrix;
use rayon::prelude::*;

use super::kernels::{Real, dense, dot, run, tall};
use crate::bytes::Bytes;

/// Products of fewer multiplications than this are not worth a second thread.
const LARGE: usize = 1 << 20;

/// Rows that are walked together where columns are few.
const ROWS: usize = 8;

/// A row-major float64 matrix.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Mat {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// `rows × cols` numbers, row after row.
    pub data: Vec<f64>,
}

impl std::ops::Index<(usize, usize)> for Mat {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.data[i * self.cols + j]
    }
}

impl std::ops::IndexMut<(usize, usize)> for Mat {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.data[i * self.cols + j]
    }
}

impl Bytes for Mat {
    fn write(&self, to: &mut Vec<u8>) {
        (self.rows, self.cols).write(to);
        self.data.write(to);
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        let (rows, cols): (usize, usize) = Bytes::read(from)?;
        let data: Vec<f64> = Bytes::read(from)?;
        (rows.checked_mul(cols) == Some(data.len())).then_some(Mat { rows, cols, data })
    }
}

/// `A·B` for rows of numbers in either format, as long as B has rows.
pub(crate) fn wide_times<T: Real>(a: &[T], b: &Mat) -> Mat {
    let (features, width) = (b.rows, b.cols);
    let mut product = Mat::zeros(a.len() / features, width);
    if width == 0 {
        return product;
    }
    let u = &dense::Packed::new(b, 1.0);
    // Rows do not depend on each other: any cut gives the same bits.
    let rows = if a.len() * width < LARGE { product.rows.max(1) } else { 64 };
    let parts = product.data.par_chunks_mut(rows * width).zip(a.par_chunks(rows * features));
    parts.for_each(|(out, x)| run(dense::Scores { x, features, list: None, u, out }));
    product
}

impl Mat {
    /// All zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Mat { rows, cols, data: vec![0.0; rows * cols] }
    }

    /// The identity.
    pub fn identity(k: usize) -> Self {
        let mut eye = Self::zeros(k, k);
        for i in 0..k {
            eye[(i, i)] = 1.0;
        }
        eye
    }

    /// From a function of row and column.
    pub fn from_fn(rows: usize, cols: usize, mut f: impl FnMut(usize, usize) -> f64) -> Self {
        let mut data = Vec::with_capacity(rows * cols);
        for i in 0..rows {
            for j in 0..cols {
                data.push(f(i, j));
            }
        }
        Mat { rows, cols, data }
    }

    /// One row.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// One row, to write.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// One column, copied.
    pub fn column(&self, j: usize) -> Vec<f64> {
        (0..self.rows).map(|i| self[(i, j)]).collect()
    }

    /// Writes one column.
    pub fn set_column(&mut self, j: usize, column: &[f64]) {
        for (i, &x) in column.iter().enumerate() {
            self[(i, j)] = x;
        }
    }

    /// The columns `range`, copied.
    pub fn columns(&self, range: std::ops::Range<usize>) -> Mat {
        Mat::from_fn(self.rows, range.len(), |i, j| self[(i, range.start + j)])
    }

    /// Matrices of so many columns each, side by side in this one.
    pub fn apart(&self, each: usize) -> Vec<Mat> {
        (0..self.cols).step_by(each.max(1)).map(|from| self.columns(from..from + each)).collect()
    }

    /// Which columns are zero.
    pub fn zero_columns(&self) -> Vec<bool> {
        let mut zero = vec![true; self.cols];
        for row in self.data.chunks_exact(self.cols.max(1)) {
            zero.iter_mut().zip(row).for_each(|(zero, x)| *zero &= *x == 0.0);
        }
        zero
    }

    /// Several matrices with the same rows, side by side.
    pub fn beside(parts: &[&Mat]) -> Mat {
        let rows = parts.first().map_or(0, |p| p.rows);
        let cols = parts.iter().map(|p| p.cols).sum();
        let mut data = Vec::with_capacity(rows * cols);
        for i in 0..rows {
            for part in parts {
                data.extend_from_slice(part.row(i));
            }
        }
        Mat { rows, cols, data }
    }

    /// `Aᵀ`.
    pub fn transpose(&self) -> Mat {
        // Rows by the dozen: one entry of each at a time would fetch a line of the cache for every number.
        const ROWS: usize = 16;
        let mut turned = Mat::zeros(self.cols, self.rows);
        for (from, rows) in self.data.chunks(ROWS * self.cols.max(1)).enumerate() {
            for i in 0..self.cols {
                let to = &mut turned.data[i * self.rows + from * ROWS..];
                to.iter_mut().zip(rows.chunks_exact(self.cols)).for_each(|(to, row)| *to = row[i]);
            }
        }
        turned
    }

    /// `A·B`, for tall A.
    pub fn times(&self, b: &Mat) -> Mat {
        assert_eq!(self.cols, b.rows);
        let mut product = Mat::zeros(self.rows, b.cols);
        let (k, r, l) = (self.cols, &b.data, b.cols);
        if self.data.len() * l < LARGE {
            run(tall::Times { a: &self.data, k, r, l, out: &mut product.data });
        } else {
            // Rows do not depend on each other: any cut gives the same bits.
            let parts = product.data.par_chunks_mut(64 * l).zip(self.data.par_chunks(64 * k));
            parts.for_each(|(out, a)| run(tall::Times { a, k, r, l, out }));
        }
        product
    }

    /// `A·B`, for A with many columns.
    pub fn wide_times(&self, b: &Mat) -> Mat {
        assert_eq!(self.cols, b.rows);
        if b.rows == 0 { Mat::zeros(self.rows, b.cols) } else { wide_times(&self.data, b) }
    }

    /// `Aᵀ·B`, for tall A and B.
    pub fn transpose_times(&self, b: &Mat) -> Mat {
        assert_eq!(self.rows, b.rows);
        let mut product = Mat::zeros(self.cols, b.cols);
        run(tall::Gram { a: &self.data, k: self.cols, b: &b.data, l: b.cols, gram: &mut product.data });
        product
    }

    /// `AᵀA`, for tall A: in blocks of rows that stay in the cache.
    pub fn gram(&self) -> Mat {
        const ROWS: usize = 1024;
        let k = self.cols;
        let of_rows = |a: &[f64]| {
            let mut gram = Mat::zeros(k, k);
            run(tall::Gram { a, k, b: a, l: k, gram: &mut gram.data });
            gram
        };
        let parts: Vec<Mat> = self.data.par_chunks(ROWS * k.max(1)).map(of_rows).collect();
        parts.into_iter().reduce(|sum, part| sum.plus(1.0, &part)).unwrap_or_else(|| Mat::zeros(k, k))
    }

    /// `⟨A, B⟩`, the sum of the products of their entries.
    pub fn dot(&self, b: &Mat) -> f64 {
        dot(&self.data, &b.data)
    }

    /// `‖A‖²` (Frobenius).
    pub fn norm2(&self) -> f64 {
        self.dot(self)
    }

    /// The sum of `f(a, b)` over the entries of each column of A and B.
    fn column_sums(&self, b: &Mat, f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        assert_eq!((self.rows, self.cols), (b.rows, b.cols));
        // Several rows at a time: k numbers alone would not fill a vector.
        let size = ROWS * self.cols;
        let mut sums = vec![0.0; size];
        for (a, b) in self.data.chunks(size.max(1)).zip(b.data.chunks(size.max(1))) {
            sums.iter_mut().zip(a).zip(b).for_each(|((sum, &a), &b)| *sum += f(a, b));
        }
        (0..self.cols).map(|i| (0..ROWS).map(|row| sums[row * self.cols + i]).sum()).collect()
    }

    /// Squared norms of the columns.
    pub fn column_norms2(&self) -> Vec<f64> {
        self.column_sums(self, |x, _| x * x)
    }

    /// `aᵢᵀbᵢ` of all columns.
    pub fn column_dots(&self, b: &Mat) -> Vec<f64> {
        self.column_sums(b, |x, y| x * y)
    }

    /// `‖aᵢ − bᵢ‖²` of all columns.
    pub fn column_distances2(&self, b: &Mat) -> Vec<f64> {
        self.column_sums(b, |x, y| (x - y) * (x - y))
    }

    /// Every entry through `f`.
    pub fn map(mut self, f: impl Fn(f64) -> f64) -> Mat {
        self.data.iter_mut().for_each(|x| *x = f(*x));
        self
    }

    /// Column j multiplied by `factors[j]`.
    pub fn scale_columns(&mut self, factors: &[f64]) {
        let factors = factors.repeat(ROWS);
        let rows = self.data.chunks_mut((ROWS * self.cols).max(1));
        rows.for_each(|rows| rows.iter_mut().zip(&factors).for_each(|(x, s)| *x *= s));
    }

    /// `A + s·B`.
    pub fn plus(&self, s: f64, b: &Mat) -> Mat {
        let data = self.data.iter().zip(&b.data).map(|(x, y)| x + s * y).collect();
        Mat { rows: self.rows, cols: self.cols, data }
    }

    /// Columns divided by their norms; columns that are zero stay so.
    pub fn with_unit_columns(mut self) -> Mat {
        let inverse = |x: &f64| if *x > 0.0 { 1.0 / x } else { 0.0 };
        let mut norms2 = self.column_norms2();
        // Columns as small as 1e-200 keep their direction: those whose squares leave the range of numbers are scaled first.
        let within = |norm2: &f64| (1e-200..1e200).contains(norm2);
        if !norms2.iter().all(within) {
            let mut largest = vec![0.0f64; self.cols];
            for row in self.data.chunks(self.cols.max(1)) {
                largest.iter_mut().zip(row).for_each(|(l, x)| *l = l.max(x.abs()));
            }
            let scales = norms2.iter().zip(&largest).map(|(n, l)| if within(n) { 1.0 } else { inverse(l) });
            self.scale_columns(&scales.collect::<Vec<_>>());
            norms2 = self.column_norms2();
        }
        let norms: Vec<f64> = norms2.iter().map(|n| n.sqrt()).collect();
        self.scale_columns(&norms.iter().map(inverse).collect::<Vec<_>>());
        self
    }

    /// Eigenvalues in decreasing order, and the eigenvectors as columns, of a symmetric matrix.
    pub fn symmetric_eigen(&self) -> (Vec<f64>, Mat) {
        assert_eq!(self.rows, self.cols);
        let matrix = DMatrix::from_row_slice(self.rows, self.cols, &self.data);
        // Without a limit, entries that are not finite would keep it busy for ever.
        let finite = self.data.iter().all(|x| x.is_finite());
        let found =
            finite.then(|| matrix.try_symmetric_eigen(f64::EPSILON, 100 * (self.rows + 10))).flatten();
        let Some(eigen) = found else {
            return (vec![f64::NAN; self.rows], Mat::identity(self.rows));
        };
        let mut order: Vec<usize> = (0..self.rows).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
        let values = order.iter().map(|&i| eigen.eigenvalues[i]).collect();
        let vectors = Mat::from_fn(self.rows, self.rows, |i, j| eigen.eigenvectors[(i, order[j])]);
        (values, vectors)
    }

    /// `f(A)` for a symmetric A, through its eigenvalues.
    pub fn symmetric_function(&self, f: impl Fn(f64) -> f64) -> Mat {
        let (values, q) = self.symmetric_eigen();
        let mut scaled = q.clone();
        scaled.scale_columns(&values.iter().map(|&x| f(x)).collect::<Vec<_>>());
        scaled.times(&q.transpose())
    }
}
