//! The only iteration loop: it asks algorithms to step and decides when to stop.
//!
//! Whoever wants to watch is an [`Observer`], who may also end the work:
//!
//! ```
//! use orthant::{Job, cluster, generate::{Generator, Synthetic}, matrix::open};
//! use orthant::run::{Event, Go, Observer, Stop};
//!
//! struct FewIterations(usize);
//!
//! impl Observer for FewIterations {
//!     fn iteration(&mut self, event: &Event) -> Go {
//!         if event.iteration < self.0 { Go::On } else { Go::Stop }
//!     }
//! }
//!
//! let made = Synthetic { noise: 0.1, ..Synthetic::default() }.generate()?;
//! let outcome = cluster(&*open(&made.matrix, None)?, &Job::new("onp-mf", 6)?, &mut FewIterations(10))?;
//! assert_eq!(outcome.stop(), Stop::Cancelled);
//! assert_eq!(outcome.best().iterations(), 10);
//! # Ok::<(), orthant::Error>(())
//! ```

pub(crate) mod share;

use std::sync::Arc;
use std::time::Instant;

use crate::bytes::{Bytes, bytes_of};
use crate::error::{Error, Result};
use crate::matrix::{Mat, Rule};
use crate::saved::Saved;

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Stop {
    /// The method's own rule was met.
    Converged,
    /// The limit of iterations was reached.
    MaxIterations,
    /// The observer asked for it.
    Cancelled,
    /// The time that was given is over.
    OutOfTime,
    /// Others had come further: see [`Race`].
    LeftBehind,
}

impl Stop {
    /// A word for machines.
    pub fn name(self) -> &'static str {
        match self {
            Stop::Converged => "converged",
            Stop::MaxIterations => "max-iterations",
            Stop::Cancelled => "cancelled",
            Stop::OutOfTime => "out-of-time",
            Stop::LeftBehind => "left-behind",
        }
    }
}

const STOPS: [Stop; 5] =
    [Stop::Converged, Stop::MaxIterations, Stop::Cancelled, Stop::OutOfTime, Stop::LeftBehind];

impl Bytes for Stop {
    fn write(&self, to: &mut Vec<u8>) {
        (*self as u8).write(to);
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        STOPS.get(usize::from(u8::read(from)?)).copied()
    }
}

/// Of many starts, only the best of which is asked for, those that are furthest after some iterations go on, and of these a few
/// after three times as many. Methods that begin with rough iterations race, in batches; others do not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Race {
    /// After how many iterations the first are left behind.
    pub after: usize,
    /// Which share of the runs goes on, no fewer than go to their end.
    pub share: f64,
    /// How many of those go to their end, after three times as many iterations or where float32 can say no more.
    pub finals: usize,
}

bytes_of!(Race { after, share, finals });

impl Race {
    /// Fewer runs than this do not race.
    pub const FEWEST: usize = 8;
}

/// Of 30 starts of EM-ONMF the better half after 11 iterations, and of these the best three after 33, had the best among them in
/// 102 of 110 trials (eleven text sets, ten seeds each); in the others the objective is higher by 2e-6 to 1e-3 of it. (The best
/// third after 15, which takes longer, had it in as many.)
impl Default for Race {
    fn default() -> Self {
        Race { after: 11, share: 0.5, finals: 3 }
    }
}

/// What one iteration reached.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Progress {
    /// The method's objective, of the scaled data.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "or_none"))]
    pub objective: f64,
    /// What the method's stopping rule looks at: for ONP-MF `‖min(V, 0)‖/‖V‖`, for the methods that
    /// assign points the share of points that moved, for the multiplicative ones the relative change.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "or_none"))]
    pub residual: f64,
    /// Whether the stopping rule was met.
    pub converged: bool,
}

/// JSON has no word for what is not a number: `null` is read as NaN.
#[cfg(feature = "serde")]
fn or_none<'de, D: serde::Deserializer<'de>>(from: D) -> std::result::Result<f64, D::Error> {
    Ok(<Option<f64> as serde::Deserialize>::deserialize(from)?.unwrap_or(f64::NAN))
}

bytes_of!(Progress { objective, residual, converged });

/// One iteration, as an observer sees it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Event<'a> {
    /// Name of the method or polish that runs.
    pub method: &'a str,
    /// Its present stage, for a method that has several.
    pub stage: Option<Mark>,
    /// How it assigns points, which says what its objective is.
    pub rule: Rule,
    /// Which run, from 0.
    pub run: usize,
    /// Of how many.
    pub runs: usize,
    /// How many of them have ended.
    pub ended: usize,
    /// Iterations done in this run.
    pub iteration: usize,
    /// Their limit; `usize::MAX` where there is none.
    pub max_iterations: usize,
    /// What was reached.
    pub progress: Progress,
    /// How much of the work of all runs is done, from 0 to 1, as far as that can be known.
    pub share: Option<f64>,
    /// `‖M‖²` of the scaled data, to put an ONMF objective in relation to.
    pub norm2: f64,
}

impl Event<'_> {
    /// The same under a name that lives elsewhere.
    pub fn named(self, method: &str) -> Event<'_> {
        let Event {
            stage, rule, run, runs, ended, iteration, max_iterations, progress, share, norm2, ..
        } = self;
        Event { method, stage, rule, run, runs, ended, iteration, max_iterations, progress, share, norm2 }
    }
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Go {
    /// With the next iteration.
    On,
    /// No further: finish with the best so far.
    Stop,
}

/// Whether to stop: asked from any thread, between passes over the data, where it may be long to the next iteration.
pub type StopAsked = Arc<dyn Fn() -> bool + Send + Sync>;

/// Sees every iteration and may stop the work.
pub trait Observer {
    /// Called after every iteration of every run.
    fn iteration(&mut self, event: &Event) -> Go;
    /// Who can be asked whether to stop while a start, a singular value decomposition or a descent is under way. The work
    /// then goes on with what it has to its next iteration, whose answer must be [`Go::Stop`] too.
    fn stop_asked(&self) -> Option<StopAsked> {
        None
    }
    /// Asked after every iteration of a batch: whether the work should be saved now.
    fn wants_to_save(&mut self) -> bool {
        false
    }
    /// Called with the saved work, to be kept for [`crate::pipeline::resume`].
    fn save(&mut self, _checkpoint: &[u8]) -> Result<()> {
        Ok(())
    }
}

/// Watches nothing.
impl Observer for () {
    fn iteration(&mut self, _event: &Event) -> Go {
        Go::On
    }
}

/// A batch of runs of an algorithm in progress.
pub trait State {
    /// One iteration of each of the given runs (positions in the batch). One that is given up because it is to stop
    /// ([`Error::Stopped`]) leaves them as they were.
    fn step(&mut self, runs: &[usize]) -> Result<Vec<Progress>>;
    /// How many runs to step at once; the next begin when one has ended.
    fn at_once(&self) -> usize {
        usize::MAX
    }
    /// One or, where that is faster, several iterations of each of the given runs, no more than `most`.
    fn steps(&mut self, runs: &[usize], _most: usize) -> Result<Vec<Vec<Progress>>> {
        Ok(self.step(runs)?.into_iter().map(|progress| vec![progress]).collect())
    }
    /// Runs that the last steps have left behind for good.
    fn left_behind(&mut self) -> Vec<usize> {
        vec![]
    }
    /// How much of the work of the batch is done, from 0 to 1, by the courses of its runs; none where nothing but the limit of
    /// iterations tells.
    fn share(&self, _traces: &[Trace]) -> Option<f64> {
        None
    }
    /// What a run has reached; [`Error::Stopped`] where that is nothing yet.
    fn conclude(&mut self, run: usize) -> Result<Conclusion>;
    /// What several runs have reached, all of which may have been ended before their time: labels, and directions to go on from.
    fn conclude_all(&mut self, runs: &[usize]) -> Result<Vec<Conclusion>> {
        runs.iter().map(|&run| self.conclude(run)).collect()
    }
    /// The stages so far, for a method that has several; their iterations add up to those of the run.
    fn marks(&self) -> &[Mark] {
        &[]
    }
    /// All that the batch needs to go on to the same bits.
    fn save(&mut self) -> Result<Saved>;
    /// Goes back to what was saved, on a batch that was begun in the same way.
    fn restore(&mut self, saved: Saved) -> Result<()>;
}

/// A stage of a method that has several.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mark {
    /// Its place in the method's plan.
    pub stage: usize,
    /// How many stages the plan has.
    pub planned: usize,
    /// What it does.
    pub name: &'static str,
    /// How many iterations it took.
    pub iterations: usize,
    /// The objective of the best partition when it ended (scaled data).
    pub objective: f64,
}

/// What a run hands over to the finish.
#[derive(Debug, Clone)]
pub struct Conclusion {
    /// Cluster of each point; −1 for a point without one.
    pub labels: Vec<i32>,
    /// The clusters' directions, features × k, as well as the run knows them: zero columns where it does not.
    pub directions: Mat,
    /// `Σσ₁²` of the partition, where the iterations have told it.
    pub explained: Option<f64>,
    /// The method's own objective of what was reached (scaled data), where the last iteration has not told it.
    pub objective: Option<f64>,
    /// `‖min(V, 0)‖/‖V‖` of the iterate.
    pub negativity: f64,
    /// `‖VVᵀ − I‖` of the iterate with rows scaled to norm 1.
    pub orthogonality: f64,
}

/// The course of one run.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// Objective and residual of every iteration.
    pub history: Vec<Progress>,
    /// Why it ended.
    pub stop: Option<Stop>,
}

bytes_of!(Trace { history, stop });

/// Who is running, for observers.
#[derive(Debug, Clone, Copy)]
pub struct Running<'a> {
    /// Name of the method or polish.
    pub method: &'a str,
    /// How it assigns points.
    pub rule: Rule,
    /// Number of the batch's first run.
    pub first: usize,
    /// Number of all runs.
    pub runs: usize,
    /// The limit of iterations.
    pub max_iterations: usize,
    /// `‖M‖²` of the scaled data.
    pub norm2: f64,
    /// When the time is over.
    pub deadline: Option<Instant>,
}

impl Running<'_> {
    /// Of all runs, where a share of so many from the first on is done.
    fn share(&self, of_batch: f64, batch: usize) -> f64 {
        (self.first as f64 + of_batch * batch as f64) / self.runs.max(1) as f64
    }
}

/// Makes something to save of a batch and its courses, unless it is nothing to go on from.
pub type Keeping<'a> = &'a dyn Fn(Saved, &[Trace]) -> Option<Vec<u8>>;

/// Steps a batch of runs until every one has met its rule or the limit. `traces` are their courses so
/// far; `checkpoint` makes something to save of the batch, unless it is nothing to go on from. Says why it ended if that was before its time, for whatever
/// was to come after the batch.
pub fn iterate(
    state: &mut dyn State,
    mut traces: Vec<Trace>,
    running: Running,
    observer: &mut dyn Observer,
    checkpoint: Keeping,
) -> Result<(Vec<Trace>, Option<Stop>)> {
    let mut active: Vec<usize> = (0..traces.len()).filter(|&run| traces[run].stop.is_none()).collect();
    loop {
        let left = |run: usize| running.max_iterations.saturating_sub(traces[run].history.len());
        let over: Vec<usize> = active.iter().copied().filter(|&run| left(run) == 0).collect();
        active.retain(|&run| left(run) > 0);
        let now = active[..active.len().min(state.at_once())].to_vec();
        let most = now.iter().map(|&run| left(run)).min();
        over.into_iter().for_each(|run| traces[run].stop = Some(Stop::MaxIterations));
        let Some(most) = most else { return Ok((traces, None)) };
        let (steps, mut go) = match state.steps(&now, most) {
            // Given up: what there was before is what there is.
            Err(Error::Stopped(_)) => (vec![], Go::Stop),
            steps => (steps?, Go::On),
        };
        let mut told = vec![];
        for (&run, steps) in now.iter().zip(steps) {
            for progress in steps {
                traces[run].history.push(progress);
                told.push((run, traces[run].history.len(), progress));
                if progress.converged {
                    traces[run].stop = Some(Stop::Converged);
                }
            }
        }
        state.left_behind().into_iter().for_each(|run| traces[run].stop = Some(Stop::LeftBehind));
        let ended = traces.iter().filter(|trace| trace.stop.is_some()).count();
        let share = [state.share(&traces), share::by_limit(&traces, running.max_iterations)];
        let share = share.into_iter().flatten().reduce(f64::max);
        for (run, iteration, progress) in told {
            let event = Event {
                method: running.method,
                stage: state.marks().last().copied(),
                rule: running.rule,
                run: running.first + run,
                runs: running.runs,
                ended: running.first + ended,
                iteration,
                max_iterations: running.max_iterations,
                progress,
                share: share.map(|share| running.share(share, traces.len())),
                norm2: running.norm2,
            };
            if observer.iteration(&event) == Go::Stop {
                go = Go::Stop;
            }
        }
        active.retain(|&run| traces[run].stop.is_none());
        let begun = traces.iter().any(|trace| !trace.history.is_empty());
        if begun
            && observer.wants_to_save()
            && let Some(checkpoint) = checkpoint(state.save()?, &traces)
        {
            observer.save(&checkpoint)?;
        }
        let late = running.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if go == Go::Stop || late {
            let stop = if go == Go::Stop { Stop::Cancelled } else { Stop::OutOfTime };
            active.iter().for_each(|&run| traces[run].stop = Some(stop));
            return Ok((traces, Some(stop)));
        }
    }
}

/// An observer that sees everything but saves nothing.
pub(crate) struct Unsaved<'a>(pub(crate) &'a mut dyn Observer);

impl Observer for Unsaved<'_> {
    fn iteration(&mut self, event: &Event) -> Go {
        self.0.iteration(event)
    }
    fn stop_asked(&self) -> Option<StopAsked> {
        self.0.stop_asked()
    }
}
