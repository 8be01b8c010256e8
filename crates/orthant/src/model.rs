//! The four models of clusters that the paper's section 2.3 and counts bring: what can be advised and chosen.

use crate::algorithms::{Method, method};
use crate::error::{Error, Result};

/// A model that can be advised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// Clusters around centres.
    KMeans,
    /// Clusters along directions, all points alike.
    SphericalKMeans,
    /// Clusters along directions, long points count more.
    Onmf,
    /// Clusters of counts.
    KlOnmf,
}

/// All of them.
pub const MODELS: [Model; 4] = [Model::KMeans, Model::SphericalKMeans, Model::Onmf, Model::KlOnmf];

impl Model {
    /// A model by its name.
    pub fn named(name: &str) -> Result<Model> {
        MODELS.into_iter().find(|model| model.name() == name).ok_or_else(|| {
            let known = MODELS.map(Model::name).join(", ");
            Error::parameter("model", format!("there is no model '{name}'; there are {known}"))
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Model::KMeans => "k-means",
            Model::SphericalKMeans => "spherical-k-means",
            Model::Onmf => "onmf",
            Model::KlOnmf => "kl-onmf",
        }
    }

    /// Its name in print.
    pub fn title(self) -> &'static str {
        match self {
            Model::Onmf => "ONMF",
            other => other.method().title,
        }
    }

    /// The method that fits it from many starts.
    pub fn method(self) -> &'static Method {
        let name = if self == Model::Onmf { "em-onmf" } else { self.name() };
        method(name).expect("the table has it")
    }

    /// The method to use for it: the search for its best clusters.
    pub fn to_use(self) -> &'static str {
        match self {
            Model::KMeans => "best-k-means",
            Model::SphericalKMeans => "best-spherical-k-means",
            Model::Onmf => "best",
            Model::KlOnmf => "best-kl-onmf",
        }
    }
}
