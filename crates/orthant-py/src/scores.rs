//! Scores of labels against a truth.

use numpy::PyReadonlyArray1;
use orthant::evaluate;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::raise;

/// All scores by name, for classes numbered from 0 and labels from −1 (no cluster: left out).
#[pyfunction]
pub(crate) fn scores<'py>(
    py: Python<'py>,
    truth: PyReadonlyArray1<'py, i64>,
    labels: PyReadonlyArray1<'py, i32>,
) -> PyResult<Bound<'py, PyDict>> {
    let truth: Vec<usize> = truth.as_array().iter().map(|&class| class as usize).collect();
    let labels = labels.as_array().to_vec();
    let confusion = py.detach(|| evaluate::Confusion::new(&labels, &truth)).map_err(raise)?;
    let scores = PyDict::new(py);
    for score in evaluate::SCORES {
        scores.set_item(score.name, (score.compute)(&confusion))?;
    }
    scores.set_item("n_scored", confusion.points())?;
    Ok(scores)
}
