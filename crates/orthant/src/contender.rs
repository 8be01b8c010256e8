//! Methods as comparisons name them: a method, a start, and what polishes the answer.

use crate::algorithms::{METHODS, Method, Polish, Values, method};
use crate::certificate::Rigour;
use crate::error::{Error, Result};
use crate::pipeline::Job;
use crate::start::Start;

/// Names of the paper for methods that begin elsewhere than usual.
const PRINTED: &[(&str, &str, &str)] = &[
    ("chnmf", "nndsvd", "CH(SVD)"),
    ("o-pnmf", "nndsvd", "O-P(SVD)"),
    // The paper's has a random start, whatever the default.
    ("spherical-k-means", "random", "spherical k-means"),
    ("spherical-k-means", "residual", "spherical k-means (residual)"),
];

/// Methods that hardly ever end by themselves.
const MULTIPLICATIVE: &[&str] = &["chnmf", "o-pnmf"];

/// One row of a comparison.
#[derive(Debug, Clone)]
pub struct Contender {
    /// The method.
    pub method: &'static Method,
    /// Its start.
    pub start: Start,
    /// What goes on from its answer.
    pub polish: Vec<Polish>,
}

impl Contender {
    /// NAME, NAME:START, NAME+em or NAME:START+em+moves; without a start every usual one.
    pub fn parse(text: &str) -> Result<Vec<Contender>> {
        let mut steps = text.split('+');
        let rest = steps.next().unwrap_or("");
        let polish: Vec<Polish> = steps.map(Polish::named).collect::<Result<_>>()?;
        let (name, start) = match rest.split_once(':') {
            Some((name, start)) => (name, Some(start)),
            None => (rest, None),
        };
        // Where such names are given, the parameter has this one.
        let method = method(name).map_err(|error| match error {
            Error::Parameter { problem, .. } => Error::Parameter { name: "methods".into(), problem },
            other => other,
        })?;
        let starts = match start {
            Some(start) => vec![Start::named(start)?],
            None => method.starts.iter().map(|s| Start::named(s)).collect::<Result<_>>()?,
        };
        Ok(starts.into_iter().map(|start| Contender { method, start, polish: polish.clone() }).collect())
    }

    /// Every method with every usual start, and ONP-MF followed by EM.
    pub fn all() -> Result<Vec<Contender>> {
        let mut all = vec![];
        for method in METHODS {
            all.extend(Contender::parse(method.name)?);
            if method.name == "onp-mf" {
                all.extend(Contender::parse("onp-mf+em")?);
            }
        }
        Ok(all)
    }

    /// Its name in print.
    pub fn title(&self) -> String {
        let start = self.start.name();
        let printed =
            PRINTED.iter().find(|p| (p.0, p.1) == (self.method.name, start)).map(|p| p.2.to_string());
        let title = printed.unwrap_or_else(|| match self.method.starts[0] == start {
            true => self.method.title.to_string(),
            false => format!("{} ({start})", self.method.title),
        });
        let step =
            |p: &Polish| if *p == Polish::Em { " + EM".to_string() } else { format!(" + {}", p.name()) };
        format!("{title}{}", self.polish.iter().map(step).collect::<String>())
    }

    /// Its name for machines, as [`Contender::parse`] takes it.
    pub fn name(&self) -> String {
        let polish: String = self.polish.iter().map(|p| format!("+{}", p.name())).collect();
        format!("{}:{}{polish}", self.method.name, self.start.name())
    }

    /// The work; `limit` holds for the multiplicative methods.
    pub fn job(&self, k: usize, runs: usize, seed: u64, limit: Option<usize>) -> Job {
        let values = match limit.filter(|_| MULTIPLICATIVE.contains(&self.method.name)) {
            Some(limit) => Values::new().set("max-iterations", limit as f64),
            None => Values::new(),
        };
        Job {
            method: self.method,
            k,
            values,
            start: Some(self.start.clone()),
            runs,
            race: None,
            seed,
            polish: self.polish.clone(),
            time: None,
            certificate: Rigour::default(),
            memory: None,
        }
    }
}
