//! Points ready to be clustered, in memory or on disk, and what came with them.

use std::path::PathBuf;

use anyhow::Result;
use orthant::Error;
use orthant::advise::Model;
use orthant::auto::{self, Chosen};
use orthant::called::Called;
use orthant::image::ImageShape;
use orthant::matrix::{Budget, Data, Matrix, Shape, Source, open, stream_within};
use orthant::read::Origin;
use orthant::recipe::Learned;
use orthant::report::{Features, nouns};
use orthant::run::Observer;
use serde_json::{Map, Value, json};

use super::lists::Truth;
use super::locate;

/// Where the points are.
pub enum Points {
    /// In memory.
    Held(Matrix),
    /// On disk, read in every pass.
    Streamed(Box<dyn Source>, Budget),
}

impl std::fmt::Debug for Points {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Points").field(&self.shape()).finish()
    }
}

impl Points {
    /// How large they are.
    pub fn shape(&self) -> Shape {
        match self {
            Points::Held(matrix) => orthant::matrix::AnyPoints::from(matrix).shape(),
            Points::Streamed(source, _) => source.shape(),
        }
    }

    /// How many points.
    pub fn points(&self) -> usize {
        self.shape().points
    }

    /// How many features.
    pub fn features(&self) -> usize {
        self.shape().features
    }

    /// Entries that are not zero; of dense points on disk all of them.
    pub fn nonzeros(&self) -> usize {
        match self {
            Points::Held(matrix) => matrix.nonzeros(),
            Points::Streamed(source, _) => source.shape().nonzeros,
        }
    }

    /// As algorithms see them.
    pub fn open(&self, weights: Option<Vec<f64>>) -> orthant::Result<Box<dyn Data + '_>> {
        match self {
            Points::Held(matrix) => open(matrix, weights),
            Points::Streamed(source, budget) => {
                stream_within(WithWeights { source: &**source, weights }, budget.clone())
            }
        }
    }
}

/// Weights that were given beside the points count instead of those that came with them.
struct WithWeights<'a> {
    source: &'a dyn Source,
    weights: Option<Vec<f64>>,
}

impl Source for WithWeights<'_> {
    fn shape(&self) -> Shape {
        self.source.shape()
    }
    fn points(&self, rows: std::ops::Range<usize>) -> orthant::Result<orthant::matrix::AnyPoints<'_>> {
        self.source.points(rows)
    }
    fn weights(&self) -> Option<Vec<f64>> {
        self.weights.clone().or_else(|| self.source.weights())
    }
    fn take_back(&self, points: orthant::matrix::AnyPoints<'_>) {
        self.source.take_back(points);
    }
}

/// Points ready to be clustered.
#[derive(Debug)]
pub struct Input {
    /// Where they came from.
    pub path: PathBuf,
    /// The points, prepared.
    pub points: Points,
    /// How often texts have each word, where that was weighted without being asked.
    pub counts: Option<Matrix>,
    /// Weights of the points.
    pub weights: Option<Vec<f64>>,
    /// Classes of the points.
    pub truth: Option<Truth>,
    /// Names of the features.
    pub vocabulary: Option<Vec<String>>,
    /// Names of the points.
    pub names: Option<Vec<String>>,
    /// The beginning of every text.
    pub excerpts: Option<Vec<String>>,
    /// The points are pixels.
    pub image: Option<ImageShape>,
    /// The features are pixels.
    pub feature_image: Option<ImageShape>,
    /// The wavelength of every feature.
    pub wavelengths: Option<Vec<f64>>,
    /// What points and features are called.
    pub called: Option<Called>,
    /// Where on earth the pixels are, and in which kind of file that was said.
    pub origin: Option<Origin>,
    /// What the reader of the file had to say.
    pub notes: Vec<String>,
    /// What was done to them, so that it can be done to others.
    pub learned: Learned,
    /// What became of entries that were not observed.
    pub completed: Option<Completed>,
    /// Seconds from the file to memory.
    pub read_seconds: f64,
}

/// Entries that were not observed, after what was has been clustered.
#[derive(Debug)]
pub struct Completed {
    /// How many they are.
    pub entries: usize,
    /// How often they were filled in.
    pub rounds: usize,
    /// The error over the others.
    pub relative_error: f64,
}

impl Input {
    /// What the objects of `advise` and `choose-k` begin with.
    pub fn studied(&self, seed: u64, threads: usize) -> Map<String, Value> {
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| drop(object.insert(key.into(), value));
        put("program", json!(format!("orthant {}", env!("CARGO_PKG_VERSION"))));
        put("data", json!(self.path.display().to_string()));
        put("cluster", json!(self.learned.orientation.name()));
        put("points", json!(self.points.points()));
        put("features", json!(self.points.features()));
        put("seed", json!(seed));
        put("threads", json!(threads));
        object
    }

    /// The points as algorithms see them.
    pub fn open(&self) -> Result<Box<dyn Data + '_>> {
        Ok(self.points.open(self.weights.clone())?)
    }

    /// The model that the data ask for.
    pub fn choose(&self, k: usize, seed: u64, observer: &mut dyn Observer) -> Result<Chosen> {
        let chosen = match self.asks_for_counts(k, seed, observer)? {
            Some(chosen) => return Ok(chosen),
            None => auto::choose(&*self.open()?, k, seed, observer),
        };
        chosen.map_err(|error| self.located(error))
    }

    /// The model of counts, where texts ask for it before they are weighted: afterwards it cannot be seen what they were.
    pub fn asks_for_counts(
        &self,
        k: usize,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> Result<Option<Chosen>> {
        let Some(counts) = &self.counts else { return Ok(None) };
        let chosen = open(counts, self.weights.clone())
            .and_then(|data| auto::choose(&*data, k, seed, observer))
            .map_err(|error| self.located(error))?;
        Ok((chosen.model == Model::KlOnmf).then_some(chosen))
    }
    /// The name of the data, for people.
    pub fn title(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// What the features of pixels are: fewer than there are pixels, they are taken for bands of a spectrum,
    /// otherwise for pictures of a collection.
    pub fn features(&self) -> Features {
        match self.image {
            _ if self.wavelengths.is_some() => Features::Bands,
            Some(_) if self.vocabulary.is_some() => Features::Named,
            Some(image) if self.points.features() < image.pixels() => Features::Bands,
            Some(_) => Features::Pictures,
            None => Features::Named,
        }
    }

    /// What points and features are called.
    pub fn called(&self) -> Called {
        nouns(self.features(), self.image.is_some(), self.feature_image.is_some(), self.called)
    }

    /// An error about the points, told in terms of the file.
    pub fn located(&self, error: Error) -> anyhow::Error {
        locate(error, &self.path, self.learned.orientation)
    }
}
