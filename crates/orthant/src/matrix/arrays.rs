//! Arrays of the crate `ndarray`: points in, factors out (feature "ndarray").
//!
//! ```
//! use ndarray::{Array2, array};
//! use orthant::{Job, cluster, matrix::open};
//!
//! let x = array![[4.0, 0.1, 0.0], [2.0, 0.0, 0.1], [0.0, 3.0, 6.0], [0.1, 1.0, 2.0]];
//! let outcome = cluster(&*open(x.view(), None)?, &Job::new("best", 2)?, &mut ())?;
//! assert_eq!(outcome.solution.labels, [1, 1, 0, 0]);
//! let u = Array2::from(&outcome.solution.u);
//! assert_eq!(u.dim(), (3, 2));
//!
//! // An array that does not lie row after row is copied.
//! let turned = x.t().to_owned();
//! let same = cluster(&*open(turned.t(), None)?, &Job::new("best", 2)?, &mut ())?;
//! assert_eq!(same.solution.u, outcome.solution.u);
//! # Ok::<(), orthant::Error>(())
//! ```

use std::borrow::Cow;

use ndarray::{Array2, ArrayView2};

use super::{AnyPoints, Dense, Mat};

macro_rules! points_of {
    ($($t:ty),*) => { $(
        /// Points in rows: borrowed where they lie row after row, else copied.
        impl<'a> From<ArrayView2<'a, $t>> for AnyPoints<'a> {
            fn from(view: ArrayView2<'a, $t>) -> Self {
                let (points, features) = view.dim();
                let data = match view.to_slice() {
                    Some(slice) => Cow::Borrowed(slice),
                    None => Cow::Owned(view.iter().copied().collect()),
                };
                Dense::new(points, features, data).expect("an array has as many entries as its shape says").into()
            }
        }
    )* };
}
points_of!(f32, f64);

impl From<ArrayView2<'_, f64>> for Mat {
    fn from(view: ArrayView2<'_, f64>) -> Self {
        let (rows, cols) = view.dim();
        Mat { rows, cols, data: view.iter().copied().collect() }
    }
}

impl From<&Mat> for Array2<f64> {
    fn from(mat: &Mat) -> Self {
        Array2::from_shape_fn((mat.rows, mat.cols), |at| mat[at])
    }
}
