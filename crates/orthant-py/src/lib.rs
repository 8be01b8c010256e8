//! The compiled part of the Python package: it converts arguments and results, and nothing else.
//!
//! Names and orientation are Python's on the outside (samples in rows, k × features factors) and the
//! library's on the inside; `errors` translates the names of parameters, `arrays` the orientation.

mod arrays;
mod errors;
mod fit;
mod generate;
mod prepare;
mod report;
mod scores;
mod study;
mod table;
mod work;

use pyo3::prelude::*;

#[pymodule]
mod _orthant {
    #[pymodule_export]
    use crate::errors::{EntryError, OrthantError};
    #[pymodule_export]
    use crate::fit::{angles, apply, check, fit};
    #[pymodule_export]
    use crate::generate::{generate, scene};
    #[pymodule_export]
    use crate::prepare::{read, weigh};
    #[pymodule_export]
    use crate::report::report;
    #[pymodule_export]
    use crate::scores::scores;
    #[pymodule_export]
    use crate::study::{advise, choose_k};
    #[pymodule_export]
    use crate::table::{certificates, methods, polishes, starts, version, weightings};
}
