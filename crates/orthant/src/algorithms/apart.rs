//! Runs that share nothing but the data, each on a thread of its own.
//!
//! Where points are sparse and in memory the time goes into fetching centroids, and those of one run fit the cache where
//! those of all do not. So a thread takes one run through several iterations before it turns to the next.

use super::lloyd::{Lloyd, Model};
use crate::error::Result;
use crate::matrix::threads;
use crate::prepare::Problem;
use crate::run::{Conclusion, Progress, State};
use crate::saved::Saved;
use crate::start::{Start, Stream};

/// At most so many iterations of a run at a time.
const MOST: usize = 8;
/// No more multiplications than this at a time, unless a single iteration has more: an observer waits for them.
const WORK: usize = 1 << 27;

/// Whether runs are faster apart than side by side in the same passes.
pub(super) fn better(problem: &Problem, streams: &[Stream]) -> bool {
    streams.len() > 1 && problem.data.in_memory() && problem.data.shape().sparse
}

/// A batch of runs from their starts: apart or side by side, whichever is faster.
pub(super) fn begin<'a, M: Model + Clone + 'a>(
    model: M,
    problem: &'a Problem<'a>,
    start: &Start,
    streams: &[Stream],
) -> Result<Box<dyn State + 'a>> {
    if !better(problem, streams) {
        return Ok(Box::new(Lloyd::begin(model, problem, start, streams)?));
    }
    let runs = streams.iter().map(|&stream| Lloyd::begin(model.clone(), problem, start, &[stream]));
    of(problem, runs.collect::<Result<_>>()?)
}

/// Of batches of one run each.
pub(super) fn of<'a, M: Model + 'a>(
    problem: &'a Problem<'a>,
    runs: Vec<Lloyd<'a, M>>,
) -> Result<Box<dyn State + 'a>> {
    let work = problem.data.shape().nonzeros.saturating_mul(problem.k);
    let most = (WORK / work.max(1)).clamp(1, MOST);
    Ok(Box::new(Apart { most, runs }))
}

struct Apart<'a, M> {
    most: usize,
    runs: Vec<Lloyd<'a, M>>,
}

impl<M: Model> State for Apart<'_, M> {
    /// As many as keep all threads busy to the end of a step; what more would remember only takes memory.
    fn at_once(&self) -> usize {
        4 * rayon::current_num_threads()
    }

    fn step(&mut self, runs: &[usize]) -> Result<Vec<Progress>> {
        Ok(self.steps(runs, 1)?.into_iter().flatten().collect())
    }

    fn steps(&mut self, runs: &[usize], most: usize) -> Result<Vec<Vec<Progress>>> {
        let most = most.min(self.most);
        let jobs = self.runs.iter_mut().enumerate().filter(|(at, _)| runs.contains(at)).collect();
        let steps = threads::apart(jobs, |(_, run)| {
            let mut steps = vec![];
            while steps.len() < most && !steps.last().is_some_and(|p: &Progress| p.converged) {
                steps.extend(run.step(&[0])?);
                if run.stop_is_asked() {
                    break;
                }
            }
            if steps.last().is_some_and(|p| p.converged) {
                run.forget(0)?;
            }
            Ok(steps)
        });
        steps.into_iter().collect()
    }

    fn conclude(&mut self, run: usize) -> Result<Conclusion> {
        self.runs[run].conclude(0)
    }

    fn save(&mut self) -> Result<Saved> {
        let mut saved = Saved::default();
        let runs = self.runs.iter_mut().map(|run| run.save_run(0)).collect::<Result<Vec<_>>>()?;
        saved.put("runs", &runs);
        Ok(saved)
    }

    fn restore(&mut self, mut saved: Saved) -> Result<()> {
        let count = self.runs.len();
        let all: Vec<Saved> = saved.take_if("runs", |runs: &Vec<Saved>| runs.len() == count)?;
        self.runs.iter_mut().zip(all).try_for_each(|(run, saved)| run.restore_run(0, saved))
    }
}
