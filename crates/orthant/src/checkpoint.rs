//! Saved work: everything that it takes to go on to the same bits, behind a magic word and before a checksum.

use crate::bytes::{Bytes, bytes_of, checksum};
use crate::error::{Error, Result};
use crate::matrix::Mat;
use crate::outcome::{Run, Stage};
use crate::run::{Conclusion, Trace};
use crate::saved::Saved;

const MAGIC: &[u8; 8] = b"orthant4";
/// What those of all versions begin with.
const ANY: &[u8] = b"orthant";

/// Work in progress: the runs that have ended and the batch that is under way.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    /// What was to be done with which data: work goes on only for the same.
    pub of: String,
    /// Runs that have ended.
    pub finished: Vec<Run>,
    /// How many were left behind.
    pub left_behind: usize,
    /// The batch under way; none between two, and when all have ended.
    pub(crate) batch: Option<BatchSaved>,
}
bytes_of!(Checkpoint { of, finished, left_behind, batch });

/// A batch under way.
#[derive(Debug, Clone)]
pub(crate) struct BatchSaved {
    /// Courses of the runs of the method, or of the one that is polished.
    pub(crate) traces: Vec<Trace>,
    /// State of the method, or of the polish.
    pub(crate) state: Saved,
    /// Where the method has ended: what each run has reached, and which of them is polished by which polish.
    pub(crate) polish: Option<PolishSaved>,
}
bytes_of!(BatchSaved { traces, state, polish });

#[derive(Debug, Clone)]
pub(crate) struct PolishSaved {
    pub(crate) reached: Vec<Reached>,
    pub(crate) run: usize,
    pub(crate) polish: usize,
}
bytes_of!(PolishSaved { reached, run, polish });

/// The best partition of a run so far.
#[derive(Debug, Clone)]
pub(crate) struct Reached {
    pub(crate) stages: Vec<Stage>,
    pub(crate) labels: Vec<i32>,
    pub(crate) directions: Mat,
    /// Σσ₁² of its clusters.
    pub(crate) explained: f64,
    /// The objective of the method, or of the last polish.
    pub(crate) objective: f64,
    /// How far the method's last iterate was from nonnegative and from orthogonal.
    pub(crate) negativity: f64,
    pub(crate) orthogonality: f64,
}
bytes_of!(Reached { stages, labels, directions, explained, objective, negativity, orthogonality });

impl Reached {
    pub(crate) fn new(conclusion: Conclusion, directions: Mat, explained: f64, last: f64) -> Self {
        Reached {
            stages: vec![],
            labels: conclusion.labels,
            directions,
            explained,
            objective: conclusion.objective.unwrap_or(last),
            negativity: conclusion.negativity,
            orthogonality: conclusion.orthogonality,
        }
    }

    fn is_sound(&self, points: usize, features: usize, k: usize) -> bool {
        self.labels.len() == points
            && self.labels.iter().all(|l| (-1..k as i32).contains(l))
            && (self.directions.rows, self.directions.cols) == (features, k)
            && self.directions.data.iter().all(|x| x.is_finite())
            && self.explained.is_finite()
    }
}

impl Checkpoint {
    /// As bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        self.write(&mut bytes);
        checksum(&bytes).write(&mut bytes);
        bytes
    }

    /// Whether bytes are those of a checkpoint, of whatever version and however damaged: something that may be replaced.
    pub fn is_one(bytes: &[u8]) -> bool {
        bytes.starts_with(ANY)
    }

    /// From bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Checkpoint> {
        let broken = |problem: &str| Error::Data(format!("the checkpoint {problem}: start without it"));
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            return Err(broken("is not one that this version wrote"));
        };
        let Some((body, sum)) = rest.split_last_chunk::<8>() else {
            return Err(broken("ends too early"));
        };
        if u64::from_le_bytes(*sum) != checksum(&bytes[..bytes.len() - 8]) {
            return Err(broken("is damaged or not complete"));
        }
        <Checkpoint as Bytes>::from_bytes(body).ok_or_else(|| broken("makes no sense"))
    }

    /// Whether every field is one that work on such data can have.
    pub(crate) fn is_sound(&self, points: usize, features: usize, k: usize, runs: usize) -> bool {
        let labels =
            |labels: &[i32]| labels.len() == points && labels.iter().all(|l| (-1..k as i32).contains(l));
        let finished = self.finished.iter().all(|run| labels(&run.labels) && !run.stages.is_empty());
        let polish = self.batch.iter().flat_map(|batch| &batch.polish);
        let reached = polish.flat_map(|polish| &polish.reached).all(|r| r.is_sound(points, features, k));
        // Whoever was left behind was so by others, which have ended.
        let raced = self.left_behind == 0 || !self.finished.is_empty();
        raced && self.finished.len().saturating_add(self.left_behind) <= runs && finished && reached
    }
}
