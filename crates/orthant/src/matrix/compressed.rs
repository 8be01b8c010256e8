//! Sparse matrices of the crate `sprs`: points in (feature "sprs").
//!
//! ```
//! use orthant::{Job, cluster, matrix::open};
//! use sprs::TriMat;
//!
//! let mut counts = TriMat::new((4, 3));
//! for (row, column, count) in [(0, 0, 4.0), (1, 0, 2.0), (2, 1, 3.0), (2, 2, 6.0), (3, 1, 1.0), (3, 2, 2.0)] {
//!     counts.add_triplet(row, column, count);
//! }
//! let by_rows = counts.to_csr::<usize>();
//! let outcome = cluster(&*open(by_rows.view(), None)?, &Job::new("best", 2)?, &mut ())?;
//! assert_eq!(outcome.solution.labels, [1, 1, 0, 0]);
//!
//! // One that is compressed by columns is turned first.
//! let by_columns = counts.to_csc::<usize>();
//! let same = cluster(&*open(by_columns.view(), None)?, &Job::new("best", 2)?, &mut ())?;
//! assert_eq!(same.solution.u, outcome.solution.u);
//! # Ok::<(), orthant::Error>(())
//! ```

use sprs::CsMatView;

use super::{AnyPoints, Csr};

macro_rules! points_of {
    ($($t:ty),*) => { $(
        /// Points in rows, copied: columns are narrower here.
        impl From<CsMatView<'_, $t>> for AnyPoints<'static> {
            fn from(view: CsMatView<'_, $t>) -> Self {
                if !view.is_csr() {
                    return view.to_csr().view().into();
                }
                let offsets = view.indptr().to_proper().to_vec();
                let columns: Vec<i64> = view.indices().iter().map(|&column| column as i64).collect();
                Csr::new(view.cols(), offsets, columns, view.data().to_vec())
                    .expect("sprs keeps the columns of a row in order and in range")
                    .into()
            }
        }
    )* };
}
points_of!(f32, f64);
