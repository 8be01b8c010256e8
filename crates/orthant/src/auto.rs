//! The model without asking: looks at the data for seconds, chooses k-means, spherical k-means, ONMF or KL-ONMF as
//! [`advise`] would, and says why in one line.
//!
//! ```
//! use orthant::advise::Model;
//! use orthant::auto::choose;
//! use orthant::cluster;
//! use orthant::generate::{Generator, Kind, Models};
//! use orthant::matrix::open;
//!
//! let made = Models { kind: Kind::Scale, ..Models::default() }.generate()?;
//! let data = open(&made.matrix, None)?;
//! let chosen = choose(&*data, 6, 0, &mut ())?;
//! assert_eq!(chosen.model, Model::KMeans);
//! let outcome = cluster(&*data, &chosen.job(6)?, &mut ())?;
//! assert_eq!(outcome.solution.sizes.len(), 6);
//! # Ok::<(), orthant::Error>(())
//! ```

use crate::advise::{self, Advise, Model};
use crate::error::Result;
use crate::job::Job;
use crate::matrix::Data;
use crate::run::Observer;

/// The name of this choice where methods are named.
pub const AUTO: &str = "auto";

/// Methods whose start is random are run so often where nothing else is said.
pub const RUNS: usize = 10;

/// Starts of every fit to the sample.
pub const STARTS: usize = 5;

/// What was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// The model.
    pub model: Model,
    /// Why, in one sentence.
    pub reason: String,
}

impl Chosen {
    /// The search for the best clusters of that model.
    pub fn job(&self, k: usize) -> Result<Job> {
        let job = Job::new(self.model.to_use(), k)?;
        Ok(Job { runs: if job.start().is_random() { RUNS } else { 1 }, ..job })
    }
}

/// Chooses from the data alone, at most 2000 points of them; the seed decides which.
pub fn choose(data: &dyn Data, k: usize, seed: u64, observer: &mut dyn Observer) -> Result<Chosen> {
    let ask = Advise { k: Some(k), runs: STARTS, divisions: 0, seed, ..Advise::default() };
    let verdict = advise::quickly(data, &ask, observer)?;
    let reason = verdict.reasons.into_iter().next().unwrap_or_default();
    Ok(Chosen { model: verdict.best, reason })
}
