//! The command `orthant`.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Does what a command line says, the program's name first, and gives the code to exit with.
#[pyfunction]
pub(crate) fn program(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| orthant_cli::run(words))
}
