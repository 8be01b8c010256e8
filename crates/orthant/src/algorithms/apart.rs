//! Runs that share nothing but the data, each on a thread of its own.
//!
//! Where points are sparse the time goes into fetching centroids, and those of one run fit the cache where those of all
//! do not. So a thread takes one run through several iterations before it turns to the next.

use super::lloyd::{Lloyd, Model};
use crate::checkpoint::{Saved, Unpacking};
use crate::error::Result;
use crate::matrix::{Store, in_order};
use crate::prepare::Problem;
use crate::run::{Conclusion, Progress, State};
use crate::start::{Start, Stream};

/// At most so many iterations of a run at a time,
const MOST: usize = 8;
/// and no more multiplications than this unless a single iteration has more: an observer waits for them.
const WORK: usize = 1 << 27;

/// Whether the data prefer such runs apart.
pub(super) fn better(problem: &Problem, streams: &[Stream]) -> bool {
    streams.len() > 1 && problem.data.prefers_runs_apart()
}

/// A batch of runs from their starts: apart or side by side, whichever the data prefer.
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
    Ok(Box::new(Apart { most, runs, store: problem.data.store()? }))
}

struct Apart<'a, M> {
    most: usize,
    runs: Vec<Lloyd<'a, M>>,
    /// Labels of the runs that have been concluded.
    store: Box<dyn Store + 'a>,
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
        let alone = runs.len() >= rayon::current_num_threads();
        let jobs = self.runs.iter_mut().enumerate().filter(|(at, _)| runs.contains(at)).collect();
        let steps = in_order(jobs, |(_, run)| {
            run.store.set_alone(alone);
            let mut steps = vec![];
            while steps.len() < most && !steps.last().is_some_and(|p: &Progress| p.converged) {
                steps.extend(run.step(&[0])?);
            }
            if steps.last().is_some_and(|p| p.converged) {
                run.forget()?;
            }
            Ok(steps)
        });
        steps.into_iter().collect()
    }

    fn conclude(&mut self, run: usize) -> Result<Conclusion> {
        let concluded = &mut self.runs[run];
        self.store.set_labels(run, &concluded.store.labels(0)?)?;
        concluded.conclude(0)
    }

    fn explained(&self, run: usize) -> Option<f64> {
        self.runs[run].explained(0)
    }

    fn store(&mut self) -> &mut dyn Store {
        &mut *self.store
    }

    fn save(&mut self) -> Result<Saved> {
        let mut all = Saved::default();
        for run in &mut self.runs {
            let Saved { words, numbers, labels } = run.save()?;
            all.words.extend(words);
            all.numbers.extend(numbers);
            all.labels.extend(labels);
        }
        Ok(all)
    }

    fn restore(&mut self, saved: Saved) -> Result<()> {
        let mut saved = Unpacking::new(saved);
        self.runs.iter_mut().try_for_each(|run| run.unpack(&mut saved))
    }
}
