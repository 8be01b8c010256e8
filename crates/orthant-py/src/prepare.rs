//! Files and weightings: what happens to data before they are clustered.

use std::path::PathBuf;

use numpy::IntoPyArray;
use orthant::image::{ImageShape, Scan};
use orthant::read::{Columns, Loaded, Options, Precision, read as read_file};
use orthant::texts::Vocabulary;
use orthant::weighting::{Fitted, Weighting};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Samples, matrix};
use crate::errors::raise;

/// What a file holds; see `_orthant.pyi` for what comes back.
#[pyfunction]
#[pyo3(signature = (path, *, format=None, variable=None, single_precision=None, header=None, id=None, truth=None,
                    text=None, drop=vec![], vocabulary=None))]
#[allow(clippy::too_many_arguments)] // They are Python's keywords.
pub(crate) fn read<'py>(
    py: Python<'py>,
    path: PathBuf,
    format: Option<String>,
    variable: Option<String>,
    single_precision: Option<bool>,
    header: Option<bool>,
    id: Option<String>,
    truth: Option<String>,
    text: Option<String>,
    drop: Vec<String>,
    vocabulary: Option<&str>,
) -> PyResult<Bound<'py, PyDict>> {
    let vocabulary = vocabulary
        .map(serde_json::from_str::<Vocabulary>)
        .transpose()
        .map_err(|error| PyValueError::new_err(format!("it does not say how texts were counted: {error}")))?;
    let precision = single_precision.map(|single| if single { Precision::F32 } else { Precision::F64 });
    #[allow(clippy::needless_update)] // Readers learn options that Python does not know.
    let options = Options {
        format,
        variable,
        precision,
        header,
        columns: Columns { id, truth, text, drop },
        vocabulary,
        ..Options::default()
    };
    let loaded = py.detach(|| read_file(&path, &options)).map_err(raise)?;
    let Loaded {
        matrix: numbers,
        truth,
        vocabulary,
        names,
        image,
        feature_image,
        wavelengths,
        format,
        notes,
        ..
    } = loaded;
    let shape = |image: Option<ImageShape>| image.map(|image| (image.height, image.width));
    let order = |image: ImageShape| if image.scan == Scan::Columns { "F" } else { "C" };
    let out = PyDict::new(py);
    out.set_item("data", matrix(py, numbers)?)?;
    out.set_item("truth", truth)?;
    out.set_item("feature_names", vocabulary)?;
    out.set_item("sample_names", names)?;
    out.set_item("shape", shape(image))?;
    out.set_item("feature_shape", shape(feature_image))?;
    out.set_item("order", image.or(feature_image).map(order))?;
    out.set_item("wavelengths", wavelengths.map(|w| w.into_pyarray(py)))?;
    out.set_item("format", format)?;
    out.set_item("notes", notes)?;
    Ok(out)
}

/// A factor for each feature, for the steps that have learned some.
type Learned = Vec<Option<Vec<f64>>>;

/// The samples weighted by each step, and what was learned: a factor for each feature, or None.
/// With `learned` the steps are those of other samples.
#[pyfunction]
#[pyo3(signature = (x, steps, learned=None))]
pub(crate) fn weigh<'py>(
    py: Python<'py>,
    x: Samples<'py>,
    steps: Vec<String>,
    learned: Option<Learned>,
) -> PyResult<(Bound<'py, PyAny>, Learned)> {
    let view = x.view()?;
    let weighted = py.detach(|| {
        let mut matrix = view.owned()?;
        let mut factors = vec![];
        for (at, name) in steps.iter().enumerate() {
            let fitted = match learned.as_ref().and_then(|learned| learned.get(at)) {
                Some(Some(factors)) => Fitted::Features(factors.clone()),
                _ => Weighting::named(name)?.fit(&matrix),
            };
            matrix = fitted.apply(&matrix)?;
            factors.push(match fitted {
                Fitted::Features(factors) => Some(factors),
                // The others learn nothing from the samples.
                _ => None,
            });
        }
        Ok((matrix, factors))
    });
    let (weighted, factors) = weighted.map_err(raise)?;
    Ok((matrix(py, weighted)?, factors))
}
