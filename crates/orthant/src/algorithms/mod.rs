//! The algorithms: the trait, the table, one file each.
//!
//! A new one is a file here, which declares its parameters, and a line in [`METHODS`]; the command line, Python, the conformance tests
//! and the documentation read the table. See CONTRIBUTING.md.

mod best;
mod chnmf;
mod em_onmf;
mod improve;
mod k_means;
mod kl_onmf;
mod lloyd;
mod multiplicative;
mod o_pnmf;
mod onp_mf;
mod parameters;
mod rough;
mod search;
mod spherical_k_means;

pub use best::{Best, BestKMeans, BestKlOnmf, BestSphericalKMeans};
pub use chnmf::{Chnmf, Rows};
pub use em_onmf::EmOnmf;
use std::sync::Arc;

use improve::Swaps;
pub use improve::{POLISHES, Polish};
pub use k_means::KMeans;
pub use kl_onmf::KlOnmf;
pub use o_pnmf::OPnmf;
pub use onp_mf::OnpMf;
pub use parameters::{Asked, Declared, Parameter, Values};
pub use search::Effort;
pub use spherical_k_means::SphericalKMeans;

use crate::error::{Error, Result};
use crate::matrix::{Rule, rule};
use crate::prepare::{Needs, Problem};
use crate::run::State;
use crate::start::{Start, Stream};

/// An algorithm with its parameters.
pub trait Algorithm: Send + Sync {
    /// Begins a batch of runs: the same start with different random streams.
    fn begin<'a>(
        &self,
        problem: &'a Problem<'a>,
        start: &Start,
        streams: &[Stream],
    ) -> Result<Box<dyn State + 'a>>;
    /// The limit of iterations, which may depend on the start.
    fn max_iterations(&self, start: &Start) -> usize;

    /// How points belong to the clusters that it finds.
    fn rule(&self) -> Rule {
        rule::Power.into()
    }

    /// Begins swaps of centroids, by its own objective.
    fn swaps<'a>(
        &self,
        problem: &'a Problem<'a>,
        labels: &[i32],
        stream: Stream,
    ) -> Result<Box<dyn State + 'a>> {
        Ok(Box::new(Swaps::of_labels(Arc::new(em_onmf::Directions), problem, labels, stream)?))
    }

    /// Whether products of points with each other are all that it goes by, and any data with the same ones do: as a method of
    /// its own, or where runs race. (True of others too, but the last digits of a method are those of the data as they are.)
    fn goes_by_products(&self, _race: bool) -> bool {
        false
    }

    /// How many arrays of points × k it holds beside the data.
    fn arrays(&self) -> usize {
        0
    }
}

/// What a better objective is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// Smaller.
    Least,
    /// Larger.
    Most,
}

/// A line of the table of methods.
#[derive(Debug)]
#[non_exhaustive]
pub struct Method {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in print.
    pub title: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Whether it takes negative entries.
    pub signed: bool,
    /// Whether runs share passes over the data.
    pub batched: bool,
    /// Names of the starts it is commonly used with; the first is the default.
    pub starts: &'static [&'static str],
    /// What its objective is called.
    pub objective: &'static str,
    /// Which way is better.
    pub goal: Goal,
    /// How it grows with the data: cM has c to this power times the objective.
    pub degree: i32,
    /// How a new point is assigned.
    pub rule: Rule,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// With a number for each of them.
    build: fn(&[f64]) -> Box<dyn Algorithm>,
}

/// What methods of ONMF have in common.
const ONMF: Method = Method {
    name: "",
    title: "",
    summary: "",
    signed: false,
    batched: false,
    starts: &[],
    objective: "‖M − UV‖²",
    goal: Goal::Least,
    degree: 2,
    rule: Rule::Power(rule::Power),
    parameters: &[],
    build: |_| unreachable!("every method has its own"),
};

/// All methods.
pub static METHODS: &[Method] = &[
    Best::METHOD,
    BestKlOnmf::METHOD,
    BestSphericalKMeans::METHOD,
    BestKMeans::METHOD,
    OnpMf::METHOD,
    EmOnmf::METHOD,
    KlOnmf::METHOD,
    Chnmf::METHOD,
    OPnmf::METHOD,
    KMeans::METHOD,
    SphericalKMeans::METHOD,
];

/// A method by its name.
pub fn method(name: &str) -> Result<&'static Method> {
    METHODS.iter().find(|m| m.name == name).ok_or_else(|| {
        let known: Vec<&str> = METHODS.iter().map(|m| m.name).collect();
        Error::parameter("algorithm", format!("there is no method '{name}'; there are {}", known.join(", ")))
    })
}

impl Method {
    /// What it takes.
    pub fn needs(&self) -> Needs {
        Needs { signed: self.signed, zero_is_a_point: self.rule.distance }
    }

    /// Whether an objective is better than another.
    pub fn better(&self, a: f64, b: f64) -> bool {
        match self.goal {
            Goal::Least => a < b,
            Goal::Most => a > b,
        }
    }
}
