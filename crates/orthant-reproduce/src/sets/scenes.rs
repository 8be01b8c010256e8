//! The images: Hubble and Urban from the user's files where they are, stand-ins otherwise; the swimmer.
//!
//! Pixels that are zero belong to nothing; they are left out for every method [P, Sec. 4.3, footnote].

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use orthant::generate::{Generated, Generator, Scene, Swimmer, Telescope};
use orthant::image::{ImageShape, Scan};
use orthant::matrix::{Dense, Mat, Matrix};
use orthant::read;
use serde_json::Value;

use super::Set;
use crate::shown::Verdict;

/// Materials of Hubble and Urban, and parts of the swimmer, that the paper looks for.
const HUBBLE_K: usize = 8;
const URBAN_K: usize = 6;
pub const SWIMMER_K: usize = 17;
/// A harder scene, on which methods can be told apart: noise, and how close the spectra are.
const HUBBLE_NOISE: f64 = 0.02;
const HUBBLE_CLOSENESS: f64 = 0.6;
/// Light of the simulated Urban where it varies within materials: as the scalings of the synthetic sets [P, Sec. 2.3].
const URBAN_LIGHT: f64 = 0.1;
/// Noise of the simulated Urban, whose reflectances lie between 0 and 1.
const URBAN_NOISE: f64 = 0.01;
/// The names in which the files circulate, without their ending.
const HUBBLE: &[&str] = &["Hubble", "hubble", "HUBBLE"];
const URBAN: &[&str] = &["Urban", "Urban_R162", "urban", "urban_R162", "URBAN"];
const ENDINGS: &[&str] = &["mat", "npy", "npz"];
/// Variables under which such files keep the image.
const VARIABLES: &[&str] = &["M", "Y", "A", "X", "V", "hubble", "Hubble", "urban", "Urban", "cube", "image"];

/// An image to be clustered.
pub struct Picture {
    /// What it is, as the title of its figure says.
    pub title: String,
    /// A short name, for cells and files.
    pub name: &'static str,
    /// Why nothing can be decided on it, where it stands for data that were not to be had.
    pub stand_in: Option<&'static str>,
    pub set: Arc<Set>,
}

impl Picture {
    /// What it decides: nothing where it stands in the place of another.
    pub fn verdict(&self, verdict: Verdict) -> Verdict {
        self.stand_in.map_or(verdict, Verdict::untestable)
    }
}

const NO_HUBBLE: &str = "Hubble was not to be had; what a scene made in its place shows refutes nothing.";
const NO_URBAN: &str = "Urban was not to be had; what stands in its place refutes nothing.";

/// Hubble, or scenes that stand for it.
pub fn hubble(data: Option<&Path>) -> Result<Vec<Picture>> {
    if let Some(path) = find(data, HUBBLE) {
        let set = from_file("hubble", &path, HUBBLE_K)?;
        return Ok(vec![Picture { title: "Hubble".into(), name: "hubble", stand_in: None, set }]);
    }
    let picture = |title: &str, name: &'static str, made: Telescope| -> Result<Picture> {
        let set = Arc::new(without_zeros(name, made.generate()?)?);
        Ok(Picture { title: title.into(), name, stand_in: Some(NO_HUBBLE), set })
    };
    let close = Telescope { noise: HUBBLE_NOISE, closeness: HUBBLE_CLOSENESS, ..Telescope::default() };
    Ok(vec![
        picture("a telescope-like scene in place of Hubble", "telescope", Telescope::default())?,
        picture("the same with spectra that are close, and noise", "telescope-close", close)?,
    ])
}

/// Urban; or its simulation and a real crop, whichever of the two can be had.
pub fn urban(data: Option<&Path>) -> Result<Vec<Picture>> {
    if let Some(path) = find(data, URBAN) {
        let set = from_file("urban", &path, URBAN_K)?;
        return Ok(vec![Picture { title: "Urban".into(), name: "urban", stand_in: None, set }]);
    }
    let mut found = vec![];
    let file =
        |name: &str| data.map(|data| data.join("hyperspectral").join(name)).filter(|path| path.is_file());
    if let (Some(endmembers), Some(abundances)) =
        (file("urban_gt6.endmembers.npy"), file("urban_gt6.abundances.npy"))
    {
        for (title, name, light) in [
            ("Urban, simulated from its ground truth", "urban-simulated", 1.0),
            ("the same in a light that varies within materials", "urban-lit", URBAN_LIGHT),
        ] {
            let set = simulated(name, light, &endmembers, &abundances)?;
            found.push(Picture { title: title.into(), name, stand_in: Some(NO_URBAN), set });
        }
    }
    if let Some(path) = file("urban_crop80x100.npy") {
        let set = from_file("urban-crop", &path, URBAN_K)?;
        found.push(Picture {
            title: "a real crop of Urban, 80 × 100 pixels".into(),
            name: "urban-crop",
            stand_in: Some(NO_URBAN),
            set,
        });
    }
    Ok(found)
}

/// The swimmer, 20 × 11 pixels: the file where it is, the same drawn here otherwise.
pub fn swimmer(data: Option<&Path>) -> Result<Picture> {
    let file = data.map(|data| data.join("images/swimmer_20x11.npy")).filter(|path| path.is_file());
    let mut made = Swimmer::default().generate()?;
    if let (Some(path), Some(image)) = (file, made.image) {
        let matrix = read::read(&path, &read::Options::default())?.matrix;
        if matrix.points() == image.pixels() {
            // Pixels of a part are lit together: equal rows are a part.
            if let Some(truth) = parts(&matrix) {
                made = Generated { matrix, truth, ..made };
            }
        }
    }
    let set = Arc::new(without_zeros("swimmer", made)?);
    Ok(Picture { title: "the swimmer".into(), name: "swimmer", stand_in: None, set })
}

/// Rows that are equal, numbered in order; zero rows last. None unless there are as many as there should be.
fn parts(matrix: &Matrix) -> Option<Vec<usize>> {
    let mut kinds: Vec<Vec<f64>> = vec![];
    let mut truth = vec![];
    for p in 0..matrix.points() {
        let row = matrix.point(p);
        if row.iter().all(|&x| x == 0.0) {
            truth.push(SWIMMER_K);
            continue;
        }
        let known = kinds.iter().position(|kind| *kind == row);
        truth.push(known.unwrap_or(kinds.len()));
        if known.is_none() {
            kinds.push(row);
        }
    }
    (kinds.len() == SWIMMER_K).then_some(truth)
}

fn find(data: Option<&Path>, names: &[&str]) -> Option<PathBuf> {
    let data = data?;
    let folders = [data.to_path_buf(), data.join("hyperspectral")];
    let paths = folders.iter().flat_map(|folder| {
        names
            .iter()
            .flat_map(move |name| ENDINGS.iter().map(move |ending| folder.join(format!("{name}.{ending}"))))
    });
    paths.into_iter().find(|path| path.is_file())
}

/// An image from a file: pixels × bands or bands × pixels, or a cube.
fn from_file(name: &str, path: &Path, k: usize) -> Result<Arc<Set>> {
    let with = |variable: Option<&str>| {
        let variable = variable.map(str::to_string);
        read::read(path, &read::Options { variable, ..read::Options::default() })
    };
    let mut loaded = with(None);
    for variable in VARIABLES {
        if loaded.is_ok() {
            break;
        }
        if let Ok(found) = with(Some(variable)) {
            loaded = Ok(found);
        }
    }
    let loaded = loaded?;
    let mut matrix = loaded.matrix;
    let image = match loaded.image.or(loaded.feature_image) {
        Some(image) => image,
        // There are more pixels than bands.
        None => shape(path, matrix.points().max(matrix.features()))?,
    };
    if image.pixels() != matrix.points() {
        matrix = matrix.transposed();
    }
    image.check(matrix.points()).with_context(|| path.display().to_string())?;
    let labels = path.with_extension("labels");
    let truth = if labels.is_file() {
        let tokens = read::lines(&labels)?;
        if tokens.len() != image.pixels() {
            bail!("{}: has {} lines for {} pixels", labels.display(), tokens.len(), image.pixels());
        }
        Some(orthant::evaluate::classes(&tokens))
    } else {
        None
    };
    let classes = named(path).or(truth.as_ref().map(|t| t.1.clone())).unwrap_or_default();
    let made = Generated {
        matrix,
        truth: truth.as_ref().map_or(vec![0; image.pixels()], |t| t.0.clone()),
        classes,
        background: None,
        image: Some(image),
    };
    let mut set = without_zeros(name, made)?;
    if truth.is_none() {
        set.truth = None;
        set.classes.clear();
    }
    set.k = k;
    Ok(Arc::new(set))
}

/// The shape of an image: from the file beside it, or a square.
fn shape(path: &Path, pixels: usize) -> Result<ImageShape> {
    let beside = about(path);
    let size = |key: &str| beside.as_ref()?.get(key)?.as_u64().and_then(|x| usize::try_from(x).ok());
    let side = pixels.isqrt();
    let (height, width) = match (size("height"), size("width")) {
        (Some(height), Some(width)) => (height, width),
        _ if side * side == pixels => (side, side),
        _ => bail!(
            "{}: {pixels} pixels are no square: write height and width to a .json beside it",
            path.display()
        ),
    };
    Ok(ImageShape { height, width, scan: Scan::Columns })
}

/// The .json file beside an image.
fn about(path: &Path) -> Option<Value> {
    serde_json::from_str(&std::fs::read_to_string(path.with_extension("json")).ok()?).ok()
}

/// Names of the materials, where the file beside the image has them: without their numbers.
fn named(path: &Path) -> Option<Vec<String>> {
    let about = about(path)?;
    let names = about.get("class_names")?.as_array()?.iter().filter_map(Value::as_str);
    Some(
        names
            .map(|name| name.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-').to_lowercase())
            .collect(),
    )
}

/// Endmembers times abundances, plus noise, at full size.
fn simulated(name: &str, least_light: f64, endmembers: &Path, abundances: &Path) -> Result<Arc<Set>> {
    let read = |path: &Path| -> Result<Mat> {
        let matrix = read::read(path, &read::Options::default())?.matrix;
        let rows: Vec<Vec<f64>> = (0..matrix.points()).map(|j| matrix.point(j)).collect();
        Ok(Mat::from_fn(matrix.points(), matrix.features(), |i, j| rows[i][j]))
    };
    let beside = endmembers.with_file_name("urban_gt6.json");
    let (endmembers, abundances) = (read(endmembers)?, read(abundances)?);
    let image = shape(&beside, abundances.cols)?;
    let made = Scene {
        noise: URBAN_NOISE,
        least_light,
        materials: named(&beside).unwrap_or_default(),
        single_precision: true,
        image: Some(image),
        ..Scene::new(endmembers, abundances)
    };
    Ok(Arc::new(without_zeros(name, made.generate()?)?))
}

/// Leaves pixels out that are zero, and those of the background, which may hold noise.
fn without_zeros(name: &str, made: Generated) -> Result<Set> {
    let k = made.k();
    let points = made.matrix.points();
    let bright = |p: usize| match &made.matrix {
        Matrix::DenseF32(x) => x.point(p).iter().any(|v| *v != 0.0),
        matrix => matrix.point(p).iter().any(|v| *v != 0.0),
    };
    let lit: Vec<usize> =
        (0..points).filter(|&p| Some(made.truth[p]) != made.background && bright(p)).collect();
    let set = |matrix, truth: Vec<usize>, pixels| Set {
        name: name.to_string(),
        matrix,
        k,
        truth: Some(truth),
        classes: made.classes[..k.min(made.classes.len())].to_vec(),
        image: made.image,
        pixels,
    };
    if lit.len() == points {
        return Ok(set(made.matrix.clone(), made.truth.clone(), None));
    }
    let data: Vec<f64> = lit.iter().flat_map(|&p| made.matrix.point(p)).collect();
    let matrix = Matrix::DenseF64(Dense::new(lit.len(), made.matrix.features(), data)?);
    let truth = lit.iter().map(|&p| made.truth[p]).collect();
    Ok(set(matrix, truth, Some(lit)))
}
