//! What a method reached on a data set, over its runs: a row of a comparison.

use anyhow::Result;
use orthant::matrix::Data;
use orthant::report::{Compared, Mean};
use orthant::run::{Observer, Stop};
use orthant::{Job, cluster};
use serde_json::{Map, Value, json};

use crate::load::Truth;
use crate::summary::score;

/// The figures of all runs.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// Share of points in the right cluster, for each run, where a truth is known.
    pub accuracy: Vec<f64>,
    /// Normalised mutual information.
    pub nmi: Vec<f64>,
    /// Adjusted Rand index.
    pub ari: Vec<f64>,
    /// Share of points in the majority class of their cluster.
    pub purity: Vec<f64>,
    /// Relative error of the feasible factors.
    pub error: Vec<f64>,
    /// Iterations.
    pub iterations: Vec<f64>,
    /// Which run has the best objective.
    pub best: usize,
    /// Labels of that run.
    pub labels: Vec<i32>,
    /// Seconds of all runs together.
    pub seconds: f64,
    /// Runs that ended at the limit of iterations.
    pub at_limit: usize,
}

impl Figures {
    /// Runs a method and scores every run.
    pub fn of(
        data: &dyn Data,
        job: &Job,
        truth: Option<&Truth>,
        observer: &mut dyn Observer,
    ) -> Result<Figures> {
        let outcome = cluster(data, job, observer)?;
        let mut figures = Figures {
            best: outcome.best,
            labels: outcome.solution.labels.clone(),
            seconds: outcome.seconds,
            ..Figures::default()
        };
        for run in &outcome.runs {
            figures.error.push(run.relative_error);
            figures.iterations.push(run.iterations() as f64);
            figures.at_limit += usize::from(run.stop() == Stop::MaxIterations);
            if let Some(scores) = score(&run.labels, truth)? {
                figures.accuracy.push(scores.accuracy);
                figures.nmi.push(scores.nmi);
                figures.ari.push(scores.ari);
                figures.purity.push(scores.purity);
            }
        }
        Ok(figures)
    }

    /// Seconds of one run.
    pub fn seconds_per_run(&self) -> f64 {
        self.seconds / self.error.len() as f64
    }

    /// For a report.
    pub fn compared(&self, method: String, note: String) -> Compared {
        let mean = |x: &[f64]| (!x.is_empty()).then(|| Mean::of(x));
        Compared {
            method,
            runs: self.error.len(),
            accuracy: mean(&self.accuracy),
            nmi: mean(&self.nmi),
            ari: mean(&self.ari),
            purity: mean(&self.purity),
            error: mean(&self.error),
            best_error: self.error.iter().copied().reduce(f64::min),
            best_accuracy: self.accuracy.get(self.best).copied(),
            seconds: Some(Mean { mean: self.seconds_per_run(), deviation: 0.0, count: 1 }),
            note,
        }
    }

    /// For machines.
    pub fn object(&self) -> Map<String, Value> {
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| drop(object.insert(key.into(), value));
        put("runs", json!(self.error.len()));
        for (key, figures) in [
            ("accuracy", &self.accuracy),
            ("nmi", &self.nmi),
            ("ari", &self.ari),
            ("purity", &self.purity),
            ("relative_error", &self.error),
            ("iterations", &self.iterations),
        ] {
            if !figures.is_empty() {
                let Mean { mean, deviation, .. } = Mean::of(figures);
                put(
                    key,
                    json!({"mean": mean, "deviation": deviation, "of_best_objective": figures[self.best]}),
                );
            }
        }
        put("seconds", json!(self.seconds));
        put("seconds_per_run", json!(self.seconds_per_run()));
        put("runs_at_limit", json!(self.at_limit));
        object
    }
}

/// Mean ± deviation in print.
pub fn spread(x: &[f64], unit: f64, digits: usize) -> String {
    let Mean { mean, deviation, count } = Mean::of(x);
    match count {
        1 => format!("{:.digits$}", mean * unit),
        _ => format!("{:.digits$} ± {:.digits$}", mean * unit, deviation * unit),
    }
}
