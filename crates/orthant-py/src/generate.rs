//! Data with a known truth.

use numpy::{IntoPyArray, PyReadonlyArray2};
use orthant::generate::{Generated, Scene, generator};
use orthant::image::{ImageShape, Scan};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{factor, matrix};
use crate::errors::raise;

/// Data of a named generator; values are given as text, as on a command line.
#[pyfunction]
pub(crate) fn generate<'py>(
    py: Python<'py>,
    name: &str,
    values: Vec<(String, String)>,
) -> PyResult<Bound<'py, PyDict>> {
    let made = py.detach(|| {
        let mut generator = generator(name)?;
        for (name, value) in &values {
            generator.set(name, value)?;
        }
        generator.generate()
    });
    bunch(py, made.map_err(raise)?)
}

/// Pixels mixed from the spectra of materials (materials × bands) by abundances (pixels × materials).
#[pyfunction]
#[pyo3(signature = (endmembers, abundances, materials, noise, seed, single_precision, shape=None, columns=false))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn scene<'py>(
    py: Python<'py>,
    endmembers: PyReadonlyArray2<'py, f64>,
    abundances: PyReadonlyArray2<'py, f64>,
    materials: Vec<String>,
    noise: f64,
    seed: u64,
    single_precision: bool,
    shape: Option<(usize, usize)>,
    columns: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let scan = if columns { Scan::Columns } else { Scan::Rows };
    let scene = Scene {
        materials,
        noise,
        seed,
        single_precision,
        image: shape.map(|(height, width)| ImageShape { height, width, scan }),
        ..Scene::new(factor(&endmembers), factor(&abundances))
    };
    let made = py.detach(|| scene.generate());
    bunch(py, made.map_err(raise)?)
}

fn bunch(py: Python<'_>, made: Generated) -> PyResult<Bound<'_, PyDict>> {
    let bunch = PyDict::new(py);
    bunch.set_item("n_clusters", made.k())?;
    let target: Vec<i64> = made.truth.iter().map(|&class| class as i64).collect();
    bunch.set_item("target", target.into_pyarray(py))?;
    bunch.set_item("target_names", made.classes)?;
    bunch.set_item("background", made.background)?;
    bunch.set_item("shape", made.image.map(|image| (image.height, image.width)))?;
    bunch.set_item("order", made.image.map(|image| if image.scan == Scan::Columns { "F" } else { "C" }))?;
    bunch.set_item("data", matrix(py, made.matrix)?)?;
    Ok(bunch)
}
