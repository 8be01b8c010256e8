//! What comes out: every run with its stages, the solution and the certificate of the best.

use crate::algorithms::{Method, method};
use crate::bytes::{Bytes, bytes_of};
use crate::certificate::{Bound, Certificate};
use crate::error::Result;
use crate::finish::Solution;
use crate::matrix::{Data, Mat};
use crate::run::{Progress, Stop};

/// A stage of a run: the method itself (or one of its own stages), or a polish.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Stage {
    /// What it is called.
    pub name: String,
    /// The method whose objective it lowers.
    #[cfg_attr(feature = "serde", serde(with = "by_name"))]
    pub aim: &'static Method,
    /// `‖M − UV‖/‖M‖` of the best partition when it had ended.
    pub relative_error: f64,
    /// Objective and residual of every iteration (scaled data).
    pub history: Vec<Progress>,
    /// Why it ended.
    pub stop: Stop,
}

/// One run, finished.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Run {
    /// Its stages, in order.
    pub stages: Vec<Stage>,
    /// The method's own objective at the end, in the data's own units.
    pub objective: f64,
    /// The same of the scaled data, which neither over- nor underflows: runs are compared by it.
    pub scaled_objective: f64,
    /// `‖M − UV‖/‖M‖` of the best feasible U and V for its partition.
    pub relative_error: f64,
    /// Cluster of each point; −1 for a point without one.
    pub labels: Vec<i32>,
    /// The clusters' directions as well as the run knows them, for the finish; none in an [`Outcome`].
    pub directions: Option<Mat>,
    /// How far the last iterate was from nonnegative.
    pub iterate_negativity: f64,
    /// How far the last iterate was from orthogonal.
    pub iterate_orthogonality: f64,
}

impl Run {
    /// Iterations of all stages.
    pub fn iterations(&self) -> usize {
        self.stages.iter().map(|s| s.history.len()).sum()
    }

    /// Why the run ended: as its last stage, but cancelled if any was.
    pub fn stop(&self) -> Stop {
        if self.stages.iter().any(|s| s.stop == Stop::Cancelled) {
            return Stop::Cancelled;
        }
        let unfinished = self.stages.iter().find(|s| s.stop == Stop::OutOfTime);
        unfinished.or(self.stages.last()).map_or(Stop::Converged, |s| s.stop)
    }
}

/// What came out.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Outcome {
    /// Every run, in order, but for those that were left behind.
    pub runs: Vec<Run>,
    /// How many runs others have left behind ([`crate::run::Race`]).
    pub left_behind: usize,
    /// Why there are fewer than were asked for, or not all to their end.
    pub stopped: Option<Stop>,
    /// Which of them has the best objective.
    pub best: usize,
    /// The feasible solution of that one.
    pub solution: Solution,
    /// How good that one is.
    pub certificate: Certificate,
    /// Seconds from the data in memory to the finished runs.
    pub seconds: f64,
    /// Seconds for the certificate.
    pub certificate_seconds: f64,
}

impl Outcome {
    /// The best run.
    pub fn best(&self) -> &Run {
        &self.runs[self.best]
    }

    /// Why the work ended: before its time, or as the best run did.
    pub fn stop(&self) -> Stop {
        self.stopped.unwrap_or(self.best().stop())
    }

    /// Labels of other points: see [`Solution::predict`].
    pub fn predict(&self, data: &dyn Data) -> Result<Vec<i32>> {
        self.solution.predict(data)
    }

    /// Labels and strengths of other points: see [`Solution::transform`].
    pub fn transform(&self, data: &dyn Data) -> Result<(Vec<i32>, Vec<f64>)> {
        self.solution.transform(data)
    }

    /// Its figures without the factors, as the program prints them.
    pub fn figures(&self) -> Figures<'_> {
        let Outcome { solution, certificate, .. } = self;
        let best = self.best();
        let stage = |stage: &Stage| StageFigures {
            method: stage.name.clone(),
            iterations: stage.history.len(),
            stopped: stage.stop,
            relative_error: stage.relative_error,
        };
        let run = |run: &Run| RunFigures {
            objective: run.objective,
            relative_error: run.relative_error,
            iterations: run.iterations(),
            stopped: run.stop(),
            stages: run.stages.iter().map(stage).collect(),
        };
        Figures {
            relative_error: certificate.relative_error,
            lower_bound: certificate.lower_bound,
            bound: certificate.bound,
            at_most_above_best: certificate.at_most_above_best(),
            energy_share: certificate.energy_share,
            orthogonality_residual: certificate.orthogonality_residual,
            smallest_entry: certificate.smallest_entry,
            singular_values: &certificate.singular_values,
            objective: best.objective,
            iterations: best.iterations(),
            seconds: self.seconds,
            certificate_seconds: self.certificate_seconds,
            stopped: self.stop(),
            sizes: &solution.sizes,
            energies: &solution.energy,
            refilled_points: &solution.refilled,
            points_nearer_to_another_cluster: solution.relabelled,
            iterate_negativity: best.iterate_negativity,
            iterate_orthogonality: best.iterate_orthogonality,
            best_run: self.best,
            left_behind: self.left_behind,
            runs: self.runs.iter().map(run).collect(),
        }
    }
}

macro_rules! figures {
    ($(#[$about:meta])* $name:ident $(<$life:lifetime>)? { $($field:ident: $type:ty,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize))]
        #[non_exhaustive]
        #[allow(missing_docs)]
        pub struct $name $(<$life>)? { $(pub $field: $type,)* }
    };
}

figures! {
    /// What an outcome comes to in figures; names are those of its parts.
    Figures<'a> {
        relative_error: f64,
        lower_bound: f64,
        bound: Bound,
        at_most_above_best: Option<f64>,
        energy_share: f64,
        orthogonality_residual: f64,
        smallest_entry: f64,
        singular_values: &'a [f64],
        objective: f64,
        iterations: usize,
        seconds: f64,
        certificate_seconds: f64,
        stopped: Stop,
        sizes: &'a [usize],
        energies: &'a [f64],
        refilled_points: &'a [usize],
        points_nearer_to_another_cluster: usize,
        iterate_negativity: f64,
        iterate_orthogonality: f64,
        best_run: usize,
        left_behind: usize,
        runs: Vec<RunFigures>,
    }
}

figures! {
    /// What a run comes to.
    RunFigures {
        objective: f64,
        relative_error: f64,
        iterations: usize,
        stopped: Stop,
        stages: Vec<StageFigures>,
    }
}

figures! {
    /// What a stage comes to.
    StageFigures {
        method: String,
        iterations: usize,
        stopped: Stop,
        relative_error: f64,
    }
}

/// A method of the table by its name.
#[cfg(feature = "serde")]
mod by_name {
    use super::{Method, method};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(aim: &&'static Method, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(aim.name)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<&'static Method, D::Error> {
        method(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

impl Bytes for Stage {
    fn write(&self, to: &mut Vec<u8>) {
        self.name.write(to);
        self.aim.name.to_string().write(to);
        self.relative_error.write(to);
        self.history.write(to);
        self.stop.write(to);
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        let (name, aim): (String, String) = Bytes::read(from)?;
        Some(Stage {
            name,
            aim: method(&aim).ok()?,
            relative_error: Bytes::read(from)?,
            history: Bytes::read(from)?,
            stop: Bytes::read(from)?,
        })
    }
}

bytes_of!(Outcome { runs, left_behind, stopped, best, solution, certificate, seconds, certificate_seconds });
bytes_of!(Run {
    stages,
    objective,
    scaled_objective,
    relative_error,
    labels,
    directions,
    iterate_negativity,
    iterate_orthogonality,
});
