//! What is asked for: a method, k, and everything that decides the answer.

use crate::algorithms::{Asked, Effort, Method, Polish, Values, method};
use crate::bytes::{Bytes, digest};
use crate::certificate::Rigour;
use crate::error::Result;
use crate::matrix::Data;
use crate::run::Race;
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
    /// Whether those that fall behind are given up, since only the best is asked for.
    pub race: Option<Race>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// What goes on from what the method found, in order.
    pub polish: Vec<Polish>,
    /// Seconds after which to end with the best so far. The result then depends on the machine.
    pub time: Option<f64>,
    /// How much work to put into the lower bound.
    pub certificate: Rigour,
    /// Bytes that may be used beside the data; work that needs more is refused before it begins.
    pub memory: Option<u64>,
}

impl Job {
    /// A job by the name of a method, with its defaults, or by its parameters:
    ///
    /// ```
    /// use orthant::{Job, algorithms::OnpMf};
    ///
    /// let typed = Job::new(OnpMf { rho: 0.1, ..OnpMf::default() }, 9)?;
    /// let named = Job::new("onp-mf", 9)?;
    /// assert_eq!(typed.method.name, named.method.name);
    /// assert_eq!(typed.values.get("rho"), Some(0.1));
    /// assert!(Job::new(OnpMf { growth: 0.5, ..OnpMf::default() }, 9).is_err());
    /// # Ok::<(), orthant::Error>(())
    /// ```
    pub fn new(method: impl Asked, k: usize) -> Result<Job> {
        let (method, values) = method.asked()?;
        Ok(Job {
            method,
            k,
            values,
            start: None,
            runs: 1,
            race: None,
            seed: 0,
            polish: vec![],
            time: None,
            certificate: Rigour::default(),
            memory: None,
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
        let race = self
            .race
            .map_or(String::new(), |race| format!(" race={},{},{}", race.after, race.share, race.finals));
        let values: Vec<String> = self.values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!(
            "{} k={} {} start={}{given} runs={}{race} seed={} polish={} on {} x {} ({} entries, {:x})",
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
        if onmf || (self.method.rule.onmf && !self.polish.is_empty()) {
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

impl Bytes for Job {
    fn write(&self, to: &mut Vec<u8>) {
        self.method.name.to_string().write(to);
        self.k.write(to);
        self.values.iter().map(|(name, value)| (name.to_string(), value)).collect::<Vec<_>>().write(to);
        self.start.write(to);
        self.runs.write(to);
        self.race.write(to);
        self.seed.write(to);
        self.polish.iter().map(|polish| polish.name().to_string()).collect::<Vec<_>>().write(to);
        self.time.write(to);
        self.certificate.name().to_string().write(to);
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        Some(Job {
            method: method(&String::read(from)?).ok()?,
            k: Bytes::read(from)?,
            values: Vec::read(from)?
                .iter()
                .fold(Values::new(), |v, (name, x): &(String, f64)| v.set(name, *x)),
            start: Bytes::read(from)?,
            runs: Bytes::read(from)?,
            race: Bytes::read(from)?,
            seed: Bytes::read(from)?,
            polish: Vec::<String>::read(from)?
                .iter()
                .map(|name| Polish::named(name).ok())
                .collect::<Option<_>>()?,
            time: Bytes::read(from)?,
            certificate: Rigour::named(&String::read(from)?).ok()?,
            // Of this machine, not of the work.
            memory: None,
        })
    }
}
