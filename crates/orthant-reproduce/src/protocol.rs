//! How often, how long, from which seed: the paper's protocol, or a shorter one.

use orthant::Job;

use crate::Settings;
use crate::cells::Key;
use crate::engine::Engines;
use crate::sets::Set;
use orthant::contender::Contender;

/// The paper's eight methods, in the order of its tables.
pub const PAPER: &[&str] = &[
    "k-means:random",
    "spherical-k-means:random",
    "chnmf:random",
    "chnmf:nndsvd",
    "o-pnmf:random",
    "o-pnmf:nndsvd",
    "em-onmf:random",
    "onp-mf:svd",
];
/// ONP-MF followed by EM, which its cell gives as well.
pub const POLISHED: &str = "onp-mf:svd+em";
/// Methods beyond the paper.
pub const BEYOND: &[&str] = &[POLISHED, "best:svd", "kl-onmf:random"];

/// Parameters of a method that differ from its own, and their values.
pub type Variant = &'static [(&'static str, f64)];
/// The method as it is.
pub const PLAIN: Variant = &[];

/// Repetitions where the start is random [P, Sec. 4], and on the synthetic sets [P, Sec. 2.3].
pub const RUNS: usize = 30;
const SYNTHETIC_RUNS: usize = 10;
/// Synthetic sets for each level of noise [P, Sec. 2.3].
pub const SETS: usize = 10;
/// Sets on which the models are compared in pairs: ten are too few to tell.
const PAIRED_SETS: usize = 50;
/// A short protocol: repetitions, and the limit of iterations of CHNMF and O-PNMF.
const QUICK_RUNS: usize = 3;
const QUICK_LIMIT: usize = 200;

/// The protocol of a run.
#[derive(Debug, Clone)]
pub struct Protocol {
    /// Repetitions where the start is random.
    pub runs: usize,
    /// The same on the synthetic sets.
    pub synthetic_runs: usize,
    /// Synthetic sets for each level of noise.
    pub sets: usize,
    /// Sets on which models are compared in pairs.
    pub paired_sets: usize,
    /// The limit of iterations of CHNMF and O-PNMF; unless given the paper's: 5000, and 20000 from an SVD start.
    pub limit: Option<usize>,
    /// Whether it is the short one.
    pub quick: bool,
    /// Seed of all random numbers.
    pub seed: u64,
    /// The engine of each method.
    pub engines: Engines,
}

impl Protocol {
    /// As the settings say.
    pub fn new(settings: &Settings, engines: Engines) -> Protocol {
        let runs = settings.runs.unwrap_or(if settings.quick { QUICK_RUNS } else { RUNS });
        Protocol {
            runs,
            synthetic_runs: runs.min(SYNTHETIC_RUNS),
            sets: settings.sets.unwrap_or(SETS),
            paired_sets: settings.sets.unwrap_or(PAIRED_SETS),
            limit: settings.quick.then_some(QUICK_LIMIT),
            quick: settings.quick,
            seed: settings.seed,
            engines,
        }
    }

    /// How it is shorter than the paper's, in words; nothing where it is not.
    pub fn cut_short(&self) -> Option<String> {
        let mut how = vec![];
        if self.runs < RUNS {
            how.push(format!("{} of {RUNS} repetitions", self.runs));
        }
        if self.sets < SETS {
            how.push(format!("{} of {SETS} synthetic sets a level", self.sets));
        }
        if let Some(limit) = self.limit {
            how.push(format!("{limit} iterations of CHNMF and O-PNMF at most"));
        }
        (!how.is_empty()).then(|| format!("The protocol was cut short: {}.", how.join(", ")))
    }

    /// The work of a method on a set. Methods whose runs do not share passes do one run at a time, from a seed of
    /// its own; `run` is its number.
    pub fn job(&self, contender: &Contender, k: usize, runs: usize, run: usize, variant: Variant) -> Job {
        let has = |name: &str| contender.method.parameters.iter().any(|p| p.name == name);
        // Of all methods the multiplicative ones alone have a floor.
        let limit = self.limit.filter(|_| has("floor"));
        let mut job = contender.job(k, runs, self.seed.wrapping_add(run as u64), limit);
        // A search beyond the paper is not what a short protocol should wait for.
        if self.quick && has("effort") {
            job.values = job.values.set("effort", 0.0);
        }
        job.values = variant.iter().fold(job.values, |values, (name, value)| values.set(name, *value));
        job
    }

    /// What a run of a method on a set is kept under.
    pub fn key(&self, contender: &Contender, set: &Set, data: &str) -> Key {
        self.key_of(contender, set, data, PLAIN)
    }

    /// The same of a variant.
    pub fn key_of(&self, contender: &Contender, set: &Set, data: &str, variant: Variant) -> Key {
        let job = self.job(contender, set.k, 1, 0, variant);
        let mut settings = format!("k={} seed={}", set.k, self.seed);
        job.values.iter().for_each(|(name, value)| settings += &format!(" {name}={value}"));
        let method = contender.name();
        let engine = self.engines.of(&method).to_string();
        Key { set: set.name.clone(), data: data.to_string(), method, settings, engine }
    }
}
