//! The tables of methods and starts, from which the estimators take their documentation and checks.

use orthant::algorithms::{METHODS, POLISHES};
use orthant::certificate::RIGOURS;
use orthant::start::STARTS;
use orthant::weighting::WEIGHTINGS;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::python_name;

/// The version of the library.
#[pyfunction]
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Where the documentation is; none until Cargo.toml has an address.
#[pyfunction]
pub(crate) fn documentation() -> Option<&'static str> {
    Some(env!("CARGO_PKG_HOMEPAGE")).filter(|address| !address.contains("example.org"))
}

/// All methods.
#[pyfunction]
pub(crate) fn methods(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    METHODS
        .iter()
        .map(|method| {
            let entry = PyDict::new(py);
            entry.set_item("name", method.name)?;
            entry.set_item("title", method.title)?;
            entry.set_item("summary", method.summary)?;
            entry.set_item("objective", method.objective)?;
            entry.set_item("signed", method.signed)?;
            entry.set_item("rule", method.rule.name)?;
            entry.set_item("starts", method.starts.to_vec())?;
            let parameters = PyDict::new(py);
            for parameter in method.parameters {
                let facts = PyDict::new(py);
                facts.set_item("key", parameter.name)?;
                facts.set_item("default", Some(parameter.default).filter(|x| !x.is_nan()))?;
                facts.set_item("range", parameter.range)?;
                facts.set_item("whole", parameter.whole)?;
                facts.set_item("names", parameter.names.to_vec())?;
                facts.set_item("help", parameter.help)?;
                parameters.set_item(python_name(parameter.name), facts)?;
            }
            entry.set_item("parameters", parameters)?;
            Ok(entry)
        })
        .collect()
}

/// Names of what can go on from a partition.
#[pyfunction]
pub(crate) fn polishes() -> Vec<&'static str> {
    POLISHES.iter().map(|p| p.0).collect()
}

/// Names of the levels of work on the lower bound.
#[pyfunction]
pub(crate) fn certificates() -> Vec<&'static str> {
    RIGOURS.iter().map(|l| l.0).collect()
}

/// The named starts with a line of help each.
#[pyfunction]
pub(crate) fn starts() -> Vec<(&'static str, &'static str)> {
    STARTS.to_vec()
}

/// Names of the steps of weighting.
#[pyfunction]
pub(crate) fn weightings() -> Vec<&'static str> {
    WEIGHTINGS.iter().map(|w| w.0).collect()
}
