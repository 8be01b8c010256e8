//! What comes out: every run with its stages, the solution and the certificate of the best.

use crate::algorithms::{Method, method};
use crate::bytes::{Bytes, bytes_of};
use crate::certificate::Certificate;
use crate::finish::Solution;
use crate::matrix::Mat;
use crate::run::{Progress, Stop};

/// A stage of a run: the method itself (or one of its own stages), or a polish.
#[derive(Debug, Clone)]
pub struct Stage {
    /// What it is called.
    pub name: String,
    /// The method whose objective it lowers.
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
pub struct Outcome {
    /// Every run, in order.
    pub runs: Vec<Run>,
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
