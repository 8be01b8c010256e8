//! What is asked for: a method, k, and everything that decides the answer.

use crate::algorithms::{Effort, Method, Polish, Values, method};
use crate::bytes::digest;
use crate::certificate::Rigour;
use crate::error::Result;
use crate::matrix::{Data, Rule};
use crate::start::Start;

/// The method that the program and the Python package use unless told otherwise.
pub const DEFAULT_METHOD: &str = "best";

/// What to do with the data.
#[derive(Debug, Clone)]
pub struct Job {
    /// The method.
    pub method: &'static Method,
    /// Number of clusters.
    pub k: usize,
    /// Values of the method's parameters, where they differ from the defaults.
    pub values: Values,
    /// Where to start; `None`: the method's usual start.
    pub start: Option<Start>,
    /// How many runs with different random numbers.
    pub runs: usize,
    /// Seed of all random numbers.
    pub seed: u64,
    /// What goes on from what the method found, in order.
    pub polish: Vec<Polish>,
    /// Seconds after which to end with the best so far. The result then depends on the machine.
    pub time: Option<f64>,
    /// How much work to put into the lower bound.
    pub certificate: Rigour,
}

impl Job {
    /// A job with the method's defaults.
    pub fn new(name: &str, k: usize) -> Result<Job> {
        Ok(Job {
            method: method(name)?,
            k,
            values: Values::new(),
            start: None,
            runs: 1,
            seed: 0,
            polish: vec![],
            time: None,
            certificate: Rigour::default(),
        })
    }

    /// What identifies this work on these data.
    pub fn fingerprint(&self, data: &dyn Data) -> String {
        let (shape, facts) = (data.shape(), data.facts());
        let given = match &self.start {
            Some(Start::Labels(labels)) => format!(" {:x}", digest(labels.iter().map(|&l| l as u64))),
            Some(Start::Centroids(u)) => format!(" {:x}", digest(u.data.iter().map(|x| x.to_bits()))),
            _ => String::new(),
        };
        let values: Vec<String> = self.values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!(
            "{} k={} {} start={}{given} runs={} seed={} polish={} on {} x {} ({} entries, {:x})",
            self.method.name,
            self.k,
            values.join(" "),
            self.start().name(),
            self.runs,
            self.seed,
            self.polish.iter().map(|p| p.name()).collect::<Vec<_>>().join(","),
            shape.points,
            shape.features,
            shape.nonzeros,
            facts.digest
        )
    }

    /// The method whose objective and rule the answer has: after a polish by EM or moves that of ONMF.
    pub fn aim(&self) -> &'static Method {
        let onmf = self.polish.iter().any(|p| p.is_onmf());
        if onmf || (self.method.rule == Rule::Power && !self.polish.is_empty()) {
            method("em-onmf").expect("the table has it")
        } else {
            self.method
        }
    }

    /// The values of the parameters; a search with a time limit ends by that alone unless its effort is set.
    pub(crate) fn values(&self) -> Values {
        let searches = self.method.parameters.iter().any(|p| p.name == "effort");
        if self.time.is_some() && searches && self.values.get("effort").is_none() {
            return self.values.clone().set("effort", Effort::Endless as usize as f64);
        }
        self.values.clone()
    }

    /// The start that will be used.
    pub fn start(&self) -> Start {
        self.start
            .clone()
            .unwrap_or_else(|| Start::named(self.method.starts[0]).expect("the table names known starts"))
    }
}
