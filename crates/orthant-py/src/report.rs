//! The page of a fit.

use numpy::{IntoPyArray, PyReadonlyArray1};
use orthant::evaluate::scores;
use orthant::findings::{Findings, Standing};
use orthant::image::{ImageShape, Scan};
use orthant::report::{Features, Made, Report, Truth, html};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::Samples;
use crate::fitted::Fitted;
use crate::work::{Watch, detached};

/// How the result came about and what the data are, for the page.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct About {
    title: String,
    command: String,
    date: String,
    threads: usize,
    notes: Vec<String>,
    vocabulary: Option<Vec<String>>,
    names: Option<Vec<String>>,
    image: Option<(usize, usize)>,
    feature_image: Option<(usize, usize)>,
    by_columns: bool,
    wavelengths: Option<Vec<f64>>,
    truth: Option<(Vec<usize>, Vec<String>)>,
}

/// The page of a fit.
#[pyfunction]
#[pyo3(signature = (x, fitted, about, *, weights=None, threads=1))]
pub(crate) fn report<'py>(
    py: Python<'py>,
    x: Samples<'py>,
    fitted: &Fitted,
    about: About,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    threads: usize,
) -> PyResult<String> {
    let Fitted { job, outcome, .. } = fitted;
    let weights = weights.map(|w| w.as_array().to_vec());
    let view = x.view()?;
    let watch = Watch { call: None, interval: std::time::Duration::ZERO };
    let done = detached(py, threads, watch, |_| {
        let data = view.open(weights, job.method.signed)?;
        let scored = about.truth.as_ref().map(|t| scores(&outcome.solution.labels, &t.0)).transpose()?;
        let truth = about.truth.as_ref().zip(scored.as_ref());
        let scan = if about.by_columns { Scan::Columns } else { Scan::Rows };
        let image =
            |shape: Option<(usize, usize)>| shape.map(|(height, width)| ImageShape { height, width, scan });
        let mut findings = Findings::new(&*data, &outcome.solution)?;
        if about.feature_image.is_some() {
            findings = findings.with_points(&*data)?;
        }
        if let (Some(image), Features::Bands) = (image(about.image), features(&about, data.shape().features))
        {
            findings = findings.with_scene(&*data, image, about.wavelengths.as_deref())?;
        }
        html(&Report {
            made: Made {
                command: Some(&about.command),
                version: None,
                date: Some(&about.date),
                threads: Some(about.threads),
                read_seconds: None,
                notes: &about.notes,
            },
            features: features(&about, data.shape().features),
            vocabulary: about.vocabulary.as_deref(),
            names: about.names.as_deref(),
            image: image(about.image),
            feature_image: image(about.feature_image),
            wavelengths: about.wavelengths.as_deref(),
            truth: truth.map(|(t, scores)| Truth { labels: &t.0, classes: &t.1, scores }),
            ..Report::new(&about.title, &findings, job, outcome)
        })
    })?;
    match done.exception {
        Some(exception) => Err(exception),
        None => Ok(done.result),
    }
}

/// What a fit says of its clusters and points: see `_orthant.pyi`.
#[pyfunction]
#[pyo3(signature = (x, fitted, *, weights=None, threads=1))]
pub(crate) fn findings<'py>(
    py: Python<'py>,
    x: Samples<'py>,
    fitted: &Fitted,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let Fitted { job, outcome, .. } = fitted;
    let weights = weights.map(|w| w.as_array().to_vec());
    let view = x.view()?;
    let watch = Watch { call: None, interval: std::time::Duration::ZERO };
    let done = detached(py, threads, watch, |_| {
        Findings::new(&*view.open(weights, job.method.signed)?, &outcome.solution)
    })?;
    if let Some(exception) = done.exception {
        return Err(exception);
    }
    let found = done.result;
    let out = PyDict::new(py);
    let clusters = found.clusters.iter().map(|cluster| {
        let entry = PyDict::new(py);
        entry.set_item("top", &cluster.top)?;
        let markers = cluster.markers.iter().map(|m| (m.feature, m.share, m.elsewhere, m.score));
        entry.set_item("markers", markers.collect::<Vec<_>>())?;
        entry.set_item("typical", &cluster.typical)?;
        Ok(entry)
    });
    out.set_item("clusters", clusters.collect::<PyResult<Vec<_>>>()?)?;
    let margins: Vec<f64> = found.standings.iter().map(|of| f64::from(of.margin())).collect();
    out.set_item("margins", margins.into_pyarray(py))?;
    let second = |of: &Standing| of.second().and_then(|second| i32::try_from(second).ok()).unwrap_or(-1);
    out.set_item("second", found.standings.iter().map(second).collect::<Vec<i32>>().into_pyarray(py))?;
    Ok(out)
}

/// What the features of pixels are: fewer than there are pixels, they are taken for bands of a spectrum,
/// otherwise for pictures of a collection. (As the program does.)
fn features(about: &About, features: usize) -> Features {
    match about.image {
        _ if about.wavelengths.is_some() => Features::Bands,
        Some(_) if about.vocabulary.is_some() => Features::Named,
        Some((height, width)) if features < height * width => Features::Bands,
        Some(_) => Features::Pictures,
        None => Features::Named,
    }
}
