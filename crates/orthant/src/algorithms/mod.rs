//! The algorithms: the trait, the table, one file each.
//!
//! A new one is a file here and a line in [`METHODS`]; the command line, Python, the conformance tests
//! and the documentation read the table. See CONTRIBUTING.md.

mod apart;
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
mod spherical_k_means;

pub use best::{Best, EFFORTS, Effort};
pub use chnmf::Chnmf;
pub use em_onmf::EmOnmf;
pub use improve::{POLISHES, Polish};
pub use k_means::KMeans;
pub use kl_onmf::KlOnmf;
pub(crate) use kl_onmf::{SMOOTHING, logarithms};
pub use o_pnmf::OPnmf;
pub use onp_mf::OnpMf;
pub use spherical_k_means::SphericalKMeans;

use crate::error::{Error, Result};
use crate::matrix::Rule;
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
}

/// What a better objective is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// Smaller.
    Least,
    /// Larger.
    Most,
}

/// A parameter of a method: declared once, set from the command line, Python and Rust.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name, in kebab-case.
    pub name: &'static str,
    /// Its value unless set; NaN where it depends on the start.
    pub default: f64,
    /// Least and greatest value allowed.
    pub range: (f64, f64),
    /// Whether only whole numbers make sense.
    pub whole: bool,
    /// Names of the values 0, 1, … where it has names instead of numbers.
    pub names: &'static [&'static str],
    /// One line of help.
    pub help: &'static str,
}

/// Values for some of a method's parameters.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Values(Vec<(String, f64)>);

impl Values {
    /// None set.
    pub fn new() -> Self {
        Values::default()
    }

    /// Sets one.
    pub fn set(mut self, name: &str, value: f64) -> Self {
        self.0.retain(|(n, _)| n != name);
        self.0.push((name.to_string(), value));
        self
    }

    /// The value of one, where it was set.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, v)| *v)
    }

    /// All that were set.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(n, v)| (n.as_str(), *v))
    }
}

/// A line of the table of methods.
#[derive(Debug)]
pub struct Method {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in print.
    pub title: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Whether it takes negative entries.
    pub signed: bool,
    /// Whether a zero point is a point like any other.
    pub zero_is_a_point: bool,
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
    /// With the given values.
    pub build: fn(&Setting) -> Box<dyn Algorithm>,
}

/// Checked values for all parameters of a method.
#[derive(Debug)]
pub struct Setting<'a> {
    parameters: &'a [Parameter],
    values: &'a Values,
}

impl Setting<'_> {
    /// The value of a parameter: set, or its default.
    pub fn get(&self, name: &str) -> f64 {
        let default = || self.parameters.iter().find(|p| p.name == name).map_or(f64::NAN, |p| p.default);
        self.values.get(name).unwrap_or_else(default)
    }

    /// The same, where NaN means that the method chooses.
    pub fn given(&self, name: &str) -> Option<f64> {
        Some(self.get(name)).filter(|x| !x.is_nan())
    }
}

const fn whole(name: &'static str, default: f64, least: f64, help: &'static str) -> Parameter {
    Parameter { name, default, range: (least, 1e15), whole: true, names: &[], help }
}

const fn real(name: &'static str, default: f64, range: (f64, f64), help: &'static str) -> Parameter {
    Parameter { name, default, range, whole: false, names: &[], help }
}

static BEST: [Parameter; 2] = [
    Parameter {
        name: "effort",
        default: 1.0,
        range: (0.0, 3.0),
        whole: true,
        names: EFFORTS,
        help: "how much work to put in (endless: until the time is over or it is stopped)",
    },
    whole(
        "max-iterations",
        f64::NAN,
        1.0,
        "stop after this many iterations (of all stages; unless set: no limit)",
    ),
];
const ASSIGNING: &[Parameter] = &[whole("max-iterations", 100.0, 1.0, "stop after this many iterations")];
const KMEANS: &[Parameter] = &[whole("max-iterations", 300.0, 1.0, "stop after this many iterations")];

const KL: &[Parameter] = &[
    whole("max-iterations", 100.0, 1.0, "stop after this many iterations"),
    real(
        "smoothing",
        SMOOTHING,
        (1e-12, 1e6),
        "what is added to the centroids in the loop, relative to their mean entry",
    ),
];

const fn multiplicative(tolerance: f64, help: &'static str) -> [Parameter; 3] {
    [
        real("tolerance", tolerance, (0.0, 1.0), help),
        whole(
            "max-iterations",
            f64::NAN,
            1.0,
            "stop after this many iterations (5000; 20000 from an SVD start)",
        ),
        real("floor", 1e-16, (0.0, 1.0), "entries do not fall below this"),
    ]
}
static CHNMF: [Parameter; 4] = {
    let [tolerance, most, floor] =
        multiplicative(1e-8, "stop when the error changes by less, relative to what it was");
    let rows = Parameter {
        name: "rows",
        default: 0.0,
        range: (0.0, 1.0),
        whole: true,
        names: chnmf::ROWS,
        help: "divide every row of V by its sum in each iteration, or leave it plain",
    };
    [tolerance, most, floor, rows]
};
static O_PNMF: [Parameter; 3] = multiplicative(1e-5, "stop when V changes by less, relative to ‖V‖");

/// All methods.
pub static METHODS: &[Method] = &[
    Method {
        name: "best",
        title: "best",
        summary: "several continuations and starts, each polished, then moves and swaps on the best of them",
        signed: false,
        zero_is_a_point: false,
        batched: false,
        starts: &["svd"],
        objective: "‖M − UV‖²",
        goal: Goal::Least,
        degree: 2,
        rule: Rule::Power,
        parameters: &BEST,
        build: |s| Box::new(Best::from_setting(s)),
    },
    Method {
        name: "onp-mf",
        title: "ONP-MF",
        summary: "augmented Lagrangian: orthogonal at every step, nonnegative in the limit (Alg. 2 of the paper)",
        signed: false,
        zero_is_a_point: false,
        batched: false,
        starts: &["svd"],
        objective: "‖M − UV‖²",
        goal: Goal::Least,
        degree: 2,
        rule: Rule::Power,
        parameters: onp_mf::PARAMETERS,
        build: |s| Box::new(OnpMf::from_setting(s)),
    },
    Method {
        name: "em-onmf",
        title: "EM-ONMF",
        summary: "assign points to directions, directions are dominant singular vectors (Alg. 1 of the paper)",
        signed: false,
        zero_is_a_point: false,
        batched: true,
        starts: &["random", "residual"],
        objective: "‖M − UV‖²",
        goal: Goal::Least,
        degree: 2,
        rule: Rule::Power,
        parameters: ASSIGNING,
        build: |s| Box::new(EmOnmf { max_iterations: s.get("max-iterations") as usize }),
    },
    Method {
        name: "kl-onmf",
        title: "KL-ONMF",
        summary: "ONMF with the Kullback–Leibler divergence, for counts: a hard mixture of multinomials",
        signed: false,
        zero_is_a_point: false,
        batched: true,
        starts: &["random", "residual"],
        objective: "D_KL(M | UV)",
        goal: Goal::Least,
        degree: 1,
        rule: Rule::Kl,
        parameters: KL,
        build: |s| {
            Box::new(KlOnmf {
                max_iterations: s.get("max-iterations") as usize,
                smoothing: s.get("smoothing"),
            })
        },
    },
    Method {
        name: "chnmf",
        title: "CHNMF",
        summary: "multiplicative updates along the Stiefel manifold (Choi 2008); labels by V_ij·‖uᵢ‖₁",
        signed: false,
        zero_is_a_point: false,
        batched: false,
        starts: &["random", "nndsvd"],
        objective: "‖M − UV‖²",
        goal: Goal::Least,
        degree: 2,
        rule: Rule::Power,
        parameters: &CHNMF,
        build: |s| Box::new(Chnmf::from_setting(s)),
    },
    Method {
        name: "o-pnmf",
        title: "O-PNMF",
        summary: "orthogonal projective NMF by multiplicative updates (Yang and Oja 2010)",
        signed: false,
        zero_is_a_point: false,
        batched: false,
        starts: &["random", "nndsvd"],
        objective: "‖M − MVᵀV‖²",
        goal: Goal::Least,
        degree: 2,
        rule: Rule::Power,
        parameters: &O_PNMF,
        build: |s| Box::new(OPnmf::from_setting(s)),
    },
    Method {
        name: "k-means",
        title: "k-means",
        summary: "Lloyd's algorithm: the nearest centre by Euclidean distance",
        signed: true,
        zero_is_a_point: true,
        batched: true,
        starts: &["random", "residual"],
        objective: "inertia",
        goal: Goal::Least,
        degree: 2,
        rule: Rule::Euclid,
        parameters: KMEANS,
        build: |s| Box::new(KMeans { max_iterations: s.get("max-iterations") as usize }),
    },
    Method {
        name: "spherical-k-means",
        title: "spherical k-means",
        summary: "the smallest angle; every point counts the same, whatever its norm",
        signed: true,
        zero_is_a_point: false,
        batched: true,
        starts: &["residual", "random"],
        objective: "Σ cos",
        goal: Goal::Most,
        degree: 0,
        rule: Rule::Cosine,
        parameters: KMEANS,
        build: |s| Box::new(SphericalKMeans { max_iterations: s.get("max-iterations") as usize }),
    },
];

/// A method by its name.
pub fn method(name: &str) -> Result<&'static Method> {
    METHODS.iter().find(|m| m.name == name).ok_or_else(|| {
        let known: Vec<&str> = METHODS.iter().map(|m| m.name).collect();
        Error::parameter("algorithm", format!("there is no method '{name}'; there are {}", known.join(", ")))
    })
}

impl Method {
    /// The algorithm with the given values, after checking them against the table.
    pub fn with(&self, values: &Values) -> Result<Box<dyn Algorithm>> {
        for (name, value) in values.iter() {
            let Some(parameter) = self.parameters.iter().find(|p| p.name == name) else {
                let known: Vec<&str> = self.parameters.iter().map(|p| p.name).collect();
                return Err(Error::parameter(
                    name,
                    format!("{} has no such parameter; it has {}", self.name, known.join(", ")),
                ));
            };
            let (least, most) = parameter.range;
            if !(least..=most).contains(&value) || (parameter.whole && value.fract() != 0.0) {
                let kind = if parameter.whole { "a whole number" } else { "a number" };
                let [value, least, most] = [value, least, most].map(crate::error::Short);
                return Err(Error::parameter(
                    name,
                    format!("{value} was given, {kind} from {least} to {most} is needed"),
                ));
            }
        }
        Ok((self.build)(&Setting { parameters: self.parameters, values }))
    }

    /// What it takes.
    pub fn needs(&self) -> Needs {
        Needs { signed: self.signed, zero_is_a_point: self.zero_is_a_point }
    }

    /// Whether an objective is better than another.
    pub fn better(&self, a: f64, b: f64) -> bool {
        match self.goal {
            Goal::Least => a < b,
            Goal::Most => a > b,
        }
    }
}
