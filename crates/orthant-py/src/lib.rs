//! The compiled part of the Python package: it converts arguments and results, and nothing else.
//!
//! Names and orientation are Python's on the outside (samples in rows, k × features factors) and the
//! library's on the inside; `errors` translates the names of parameters, `arrays` the orientation.

mod arrays;
mod disk;
mod errors;
mod fit;
mod fitted;
mod generate;
mod prepare;
mod program;
mod report;
mod scores;
mod shards;
mod study;
mod table;
mod work;

use pyo3::prelude::*;

#[pymodule]
mod _orthant {
    #[pymodule_export]
    use crate::disk::{BlockWriter, available_memory, on_disk};
    #[pymodule_export]
    use crate::errors::{EntryError, OrthantError};
    #[pymodule_export]
    use crate::fit::{angles, centroids_of_file, check, fit, settle};
    #[pymodule_export]
    use crate::fitted::Fitted;
    #[pymodule_export]
    use crate::generate::{generate, scene};
    #[pymodule_export]
    use crate::prepare::{read, weigh};
    #[pymodule_export]
    use crate::program::program;
    #[pymodule_export]
    use crate::report::{findings, report};
    #[pymodule_export]
    use crate::scores::scores;
    #[pymodule_export]
    use crate::shards::{Fleet, Holder, folder};
    #[pymodule_export]
    use crate::study::{advise, choose_k, choose_model};
    #[pymodule_export]
    use crate::table::{certificates, documentation, methods, polishes, starts, version, weightings};
}
