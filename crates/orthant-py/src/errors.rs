//! The library's errors as Python's, with the names that parameters have in the estimators.

use orthant::Error;
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};

create_exception!(
    orthant,
    OrthantError,
    PyRuntimeError,
    "The computation failed on data and parameters that looked right."
);

create_exception!(
    orthant,
    EntryError,
    PyValueError,
    "An entry of the data cannot be used: its value as text, its row and its column."
);

/// The library's names of parameters that have another name in scikit-learn.
const NAMES: &[(&str, &str)] = &[
    ("algorithm", "method"),
    ("k", "n_clusters"),
    ("max-iterations", "max_iter"),
    ("runs", "n_init"),
    ("seed", "random_state"),
    ("start", "init"),
    ("tolerance", "tol"),
    ("weights", "sample_weight"),
];

/// The name of a parameter in Python.
pub(crate) fn python_name(name: &str) -> String {
    match NAMES.iter().find(|(ours, _)| *ours == name) {
        Some((_, theirs)) => theirs.to_string(),
        None => name.replace('-', "_"),
    }
}

pub(crate) fn raise(error: Error) -> PyErr {
    match error {
        Error::Parameter { name, problem } => {
            PyValueError::new_err(format!("{}: {problem}", python_name(&name)))
        }
        Error::Entry { problem, row, column, .. } => EntryError::new_err((problem, row, column)),
        Error::Io { .. } => PyOSError::new_err(error.to_string()),
        // Data in Python's hands may be written to while a fit runs, which the library knows nothing of.
        Error::Computation(problem)
            if problem.contains("not finite") && !problem.contains("X was changed") =>
        {
            OrthantError::new_err(format!("{problem} (or X was changed during the fit)"))
        }
        Error::Computation(problem) => OrthantError::new_err(problem),
        Error::Stopped(_) => OrthantError::new_err(error.to_string()),
        error => PyValueError::new_err(error.to_string()),
    }
}
