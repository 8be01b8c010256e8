//! `best`: several ways to a good partition, each polished, then moves and swaps on the best of them.
//!
//! Problem: that of EM-ONMF and ONP-MF, `min ‖M − UV‖²`. No single descent is the best on all data, but their
//! failures differ, so the stages are:
//! 1. ONP-MF continuations from the SVD on data scaled to one norm, so that the schedule means the same everywhere:
//!    fast ones, slow ones, without multipliers (α₀ = 0) and with them. Each is followed by EM.
//! 2. EM from residual seeding, many starts in the same passes.
//! 3. Moves of single points on the best few, then swaps of centroids on the best, then EM to the end.
//!
//! The work is counted, not timed: the result depends on the data, k, the effort and the seed alone. At normal effort
//! it is less than that of the published schedule of ONP-MF, which takes 2000 to 2700 iterations.

use super::em_onmf::{Directions, EmOnmf};
use super::improve::{Moves, Patience, Polish, Swaps};
use super::lloyd::Lloyd;
use super::{Algorithm, OnpMf, Setting, method};
use crate::checkpoint::{Saved, Unpacking};
use crate::error::Result;
use crate::matrix::{Mat, Store};
use crate::prepare::Problem;
use crate::run::{Conclusion, Mark, Progress, State};
use crate::singular::dominant;
use crate::start::{Start, Stream};
use rand::RngExt;

/// How much work to put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub enum Effort {
    /// Two continuations, a few starts, moves.
    Quick,
    /// Less work than the published schedule of ONP-MF.
    Normal,
    /// Several times that.
    Thorough,
    /// Until it is stopped.
    Endless,
}

/// Their names, in order.
pub const EFFORTS: &[&str] = &["quick", "normal", "thorough", "endless"];

/// `best` with its parameters.
#[derive(Debug, Clone, Copy)]
pub struct Best {
    /// How much work to put in.
    pub effort: Effort,
    /// Stop after this many iterations of all stages, where given.
    pub max_iterations: Option<usize>,
}

impl Best {
    pub(super) fn from_setting(s: &Setting) -> Self {
        let efforts = [Effort::Quick, Effort::Normal, Effort::Thorough, Effort::Endless];
        let max_iterations = s.given("max-iterations").map(|x| x as usize);
        Best { effort: efforts[s.get("effort") as usize], max_iterations }
    }

    /// The stages, in order.
    fn plan(self, start: &Start, k: usize) -> Vec<Step> {
        let mut plan = vec![];
        if *start != Start::Svd {
            plan.push(Step::Given);
        }
        let swaps = |tries: usize| Step::Swaps(Patience { failures: tries * k, ..Patience::normal(k) });
        plan.extend([Step::Continue(&FAST), Step::Continue(&STEADY)]);
        match self.effort {
            Effort::Quick => plan.extend([Step::Seed(6), Step::Moves]),
            Effort::Normal => {
                plan.extend([Step::Continue(&SLOW), Step::Continue(&MULTIPLIERS), Step::Seed(10)]);
                plan.extend([Step::Moves, Step::Moves, swaps(4), swaps(4), Step::Moves]);
            }
            Effort::Thorough | Effort::Endless => {
                plan.extend([Step::Continue(&SLOW), Step::Continue(&SLOWEST)]);
                plan.extend([
                    Step::Continue(&MULTIPLIERS),
                    Step::Continue(&LATE_MULTIPLIERS),
                    Step::Seed(200),
                ]);
                plan.extend([Step::Moves; 4]);
                plan.extend([swaps(8), swaps(4), swaps(4), Step::Moves, Step::Moves]);
                plan.extend([
                    Step::Kicks(16),
                    Step::Moves,
                    Step::Moves,
                    Step::Kicks(16),
                    Step::Moves,
                    Step::Moves,
                ]);
                plan.extend([swaps(8), Step::Moves]);
            }
        }
        plan.push(Step::Em);
        plan
    }
}

/// A schedule of ONP-MF.
#[derive(Debug)]
struct Schedule {
    name: &'static str,
    parameters: OnpMf,
}

const fn schedule(name: &'static str, alpha: f64, rho: f64, growth: f64, tolerance: f64) -> Schedule {
    // The norm at which the figures below were found: ONP-MF depends on the scale of the data.
    let parameters = OnpMf { tolerance, max_iterations: 3000, alpha, rho, growth, scale: Some(24.0) };
    Schedule { name, parameters }
}

static FAST: Schedule = schedule("continuation, fast", 0.0, 20.0, 1.1, 0.1);
static STEADY: Schedule = schedule("continuation, steady", 0.0, 1.0, 1.05, 1e-2);
static SLOW: Schedule = schedule("continuation, slow", 0.0, 1.0, 1.015, 1e-2);
static SLOWEST: Schedule = schedule("continuation, slowest", 0.0, 1.0, 1.007, 1e-2);
static MULTIPLIERS: Schedule = schedule("continuation with multipliers", 100.0, 0.1, 1.02, 1e-2);
static LATE_MULTIPLIERS: Schedule =
    schedule("continuation with multipliers, shorter", 100.0, 1.0, 1.02, 1e-2);

#[derive(Debug, Clone, Copy)]
enum Step {
    /// EM from a start that the user gave.
    Given,
    /// A continuation, then EM.
    Continue(&'static Schedule),
    /// EM from so many residual starts.
    Seed(usize),
    /// Moves, from the best partition that has not had them.
    Moves,
    /// Swaps, from the best partition that has not had them.
    Swaps(Patience),
    /// EM from directions of random halves of the best partition's clusters, so often.
    Kicks(usize),
    /// EM from the best: labels that are those of the nearest direction.
    Em,
}

impl Step {
    fn name(&self) -> &'static str {
        match self {
            Step::Given => "em from the given start",
            Step::Continue(schedule) => schedule.name,
            Step::Seed(_) => "em from residual seeding",
            Step::Moves => "moves",
            Step::Swaps(_) => "swaps",
            Step::Kicks(_) => "em from halves of the best",
            Step::Em => "em",
        }
    }
}

/// What an endless search goes on with: random numbers depend on the position in the plan, and so are others.
fn another_round(k: usize) -> [Step; 7] {
    let patience = Patience { failures: 8 * k, ..Patience::normal(k) };
    let swaps = Step::Swaps(patience);
    [Step::Seed(16), Step::Moves, swaps, Step::Kicks(16), Step::Moves, swaps, Step::Em]
}

/// A partition and what it explains.
#[derive(Debug, Clone)]
struct Candidate {
    labels: Vec<i32>,
    explained: f64,
    /// Whether it is where moves and swaps have ended.
    moved: bool,
    swapped: bool,
}

/// A stage under way.
struct Part<'a> {
    state: Box<dyn State + 'a>,
    active: Vec<usize>,
    limit: usize,
    iteration: usize,
    /// Whether a continuation has ended and EM goes on from it.
    polishing: bool,
    /// The partition that it improves.
    origin: Option<usize>,
}

struct BestState<'a> {
    problem: &'a Problem<'a>,
    start: Start,
    stream: Stream,
    endless: bool,
    plan: Vec<Step>,
    position: usize,
    /// Partitions found, the best first, no two that explain the same.
    found: Vec<Candidate>,
    part: Option<Part<'a>>,
    marks: Vec<Mark>,
    /// Holds the labels that the run concludes with.
    store: Box<dyn Store + 'a>,
}

/// So many partitions are remembered.
const REMEMBERED: usize = 6;

impl Algorithm for Best {
    fn begin<'a>(
        &self,
        problem: &'a Problem<'a>,
        start: &Start,
        streams: &[Stream],
    ) -> Result<Box<dyn State + 'a>> {
        start.check(problem)?;
        assert_eq!(streams.len(), 1, "the table says that runs of best are not batched");
        Ok(Box::new(BestState {
            problem,
            start: start.clone(),
            stream: streams[0],
            endless: self.effort == Effort::Endless,
            plan: self.plan(start, problem.k),
            position: 0,
            found: vec![],
            part: None,
            marks: vec![],
            store: problem.data.store()?,
        }))
    }

    fn max_iterations(&self, _start: &Start) -> usize {
        self.max_iterations.unwrap_or(usize::MAX)
    }
}

impl<'a> BestState<'a> {
    /// Random numbers that depend on the stage, not on what happened before.
    fn stream(&self, number: usize) -> Stream {
        Stream {
            seed: self.stream.seed,
            run: self.stream.run << 40 | (self.position as u64 + 1) << 16 | number as u64,
        }
    }

    /// The first seeds are those that EM-ONMF itself would take for its runs: as many of them, with the same seed,
    /// cannot do better.
    fn seeding(&self, number: usize) -> Stream {
        let earlier = self.plan[..self.position].iter().any(|step| matches!(step, Step::Seed(_)));
        let run = self.stream.run << 40 | number as u64;
        if earlier { self.stream(number) } else { Stream { seed: self.stream.seed, run } }
    }

    /// The partition that a stage improves; `None` where all have had what it does.
    fn origin(&self, step: Step) -> Option<usize> {
        match step {
            Step::Given | Step::Continue(_) | Step::Seed(_) => None,
            Step::Moves => self.found.iter().position(|c| !c.moved),
            Step::Swaps(_) => self.found.iter().position(|c| !c.swapped),
            Step::Kicks(_) | Step::Em => Some(0),
        }
    }

    /// Begins the stage at the present position.
    fn open(&self) -> Result<Part<'a>> {
        let problem = self.problem;
        let em = EmOnmf::default();
        let mut active = vec![0];
        let origin = self.origin(self.plan[self.position]);
        let labels = || self.found[origin.unwrap_or(0)].labels.as_slice();
        let (state, limit): (Box<dyn State + 'a>, usize) = match self.plan[self.position] {
            Step::Given => (em.begin(problem, &self.start, &[self.stream])?, em.max_iterations),
            Step::Continue(schedule) => {
                let onp = schedule.parameters;
                (onp.begin(problem, &Start::Svd, &[self.stream(0)])?, onp.max_iterations)
            }
            Step::Seed(runs) => {
                let streams: Vec<Stream> = (0..runs).map(|run| self.seeding(run)).collect();
                active = (0..runs).collect();
                (em.begin(problem, &Start::Residual, &streams)?, em.max_iterations)
            }
            Step::Moves => (Box::new(Moves::begin(problem, labels())?), 1000),
            Step::Swaps(patience) => {
                (Box::new(Swaps::begin(Directions, problem, labels(), self.stream(0), patience)?), 1000)
            }
            Step::Kicks(runs) => {
                active = (0..runs).collect();
                (self.kicks(labels(), runs)?, em.max_iterations)
            }
            Step::Em => Polish::Em.begin(problem, method("em-onmf")?, labels(), self.stream(0))?,
        };
        Ok(Part { state, active, limit, iteration: 0, polishing: false, origin })
    }

    /// EM from where a continuation has ended.
    fn polish(&self, labels: &[i32]) -> Result<Part<'a>> {
        let (state, limit) = Polish::Em.begin(self.problem, method("em-onmf")?, labels, self.stream(0))?;
        Ok(Part { state, active: vec![0], limit, iteration: 0, polishing: true, origin: None })
    }

    /// EM from the directions that random halves of a partition's clusters have, all in the same passes.
    fn kicks(&self, labels: &[i32], runs: usize) -> Result<Box<dyn State + 'a>> {
        let k = self.problem.k;
        let mut store = self.problem.data.store()?;
        let mut generators = vec![];
        for run in 0..runs {
            let mut generator = self.stream(run).generator();
            let half: Vec<i32> =
                labels.iter().map(|&l| if generator.random::<bool>() { l } else { -1 }).collect();
            store.set_labels(run, &half)?;
            generators.push(generator);
        }
        let all: Vec<usize> = (0..runs).collect();
        let guess = Mat::zeros(self.problem.data.shape().features, runs * k);
        let u = dominant(self.problem.data, &mut *store, &all, &guess)?.u;
        let starts =
            generators.into_iter().enumerate().map(|(run, g)| (u.columns(run * k..(run + 1) * k), g));
        Ok(Box::new(Lloyd::from_centroids(Directions, self.problem, store, starts.collect())))
    }

    /// What the runs of a stage have reached, into the list of partitions.
    fn take(&mut self, part: &mut Part<'a>) -> Result<()> {
        let step = self.plan[self.position];
        let runs = match step {
            Step::Seed(runs) | Step::Kicks(runs) => runs,
            _ => 1,
        };
        let mut guesses = vec![];
        for run in 0..runs {
            guesses.push(part.state.conclude(run)?.centroids);
        }
        let all: Vec<usize> = (0..runs).collect();
        let guess = Mat::beside(&guesses.iter().collect::<Vec<_>>());
        let sigma2 = dominant(self.problem.data, part.state.store(), &all, &guess)?.sigma2;
        let k = self.problem.k;
        // Moves, swaps and EM never lose: what they began with has served.
        let origin = if runs == 1 { part.origin.map(|at| self.found.remove(at)) } else { None };
        for run in 0..runs {
            let mut new = Candidate {
                labels: part.state.store().labels(run)?,
                explained: sigma2[run * k..(run + 1) * k].iter().sum(),
                moved: false,
                swapped: false,
            };
            if let Some(origin) = &origin {
                // But for rounding, above which EM has the last word: its labels are those of the nearest direction.
                let lost = new.explained < origin.explained;
                if lost && !(matches!(step, Step::Em) && new.explained >= origin.explained * (1.0 - 1e-9)) {
                    (new.labels, new.explained) = (origin.labels.clone(), origin.explained);
                }
                let same = new.labels == origin.labels;
                new.moved = matches!(step, Step::Moves) || (same && origin.moved);
                new.swapped = matches!(step, Step::Swaps(_)) || (same && origin.swapped);
            }
            let twin =
                self.found.iter().position(|c| (c.explained - new.explained).abs() <= 1e-13 * new.explained);
            match twin {
                // The same partition by another way: it has had what either has had.
                Some(at) if matches!(step, Step::Em) => self.found[at] = new,
                Some(at) => {
                    self.found[at].moved |= new.moved;
                    self.found[at].swapped |= new.swapped;
                }
                None => self.found.push(new),
            }
        }
        self.found.sort_by(|a, b| b.explained.total_cmp(&a.explained));
        self.found.truncate(REMEMBERED);
        let reached = self.error2(self.found[0].explained);
        self.marks.last_mut().expect("every stage has made its mark").objective = reached;
        Ok(())
    }

    fn error2(&self, explained: f64) -> f64 {
        (self.problem.facts().norm2 - explained).max(0.0)
    }
}

impl<'a> State for BestState<'a> {
    fn step(&mut self, _runs: &[usize]) -> Result<Vec<Progress>> {
        let mut part = match self.part.take() {
            Some(part) => part,
            None => {
                // The last stage always has something to do.
                while matches!(self.plan[self.position], Step::Moves | Step::Swaps(_))
                    && self.origin(self.plan[self.position]).is_none()
                {
                    self.position += 1;
                }
                let (stage, planned) = (self.position, self.plan.len());
                self.marks.push(Mark {
                    stage,
                    planned,
                    name: self.plan[self.position].name(),
                    iterations: 0,
                    objective: f64::NAN,
                });
                self.open()?
            }
        };
        let steps = part.state.step(&part.active)?;
        part.iteration += 1;
        let mark = self.marks.last_mut().expect("every stage has made its mark");
        mark.iterations += 1;
        let least = steps.iter().map(|p| p.objective).fold(f64::INFINITY, f64::min);
        let residual = steps.iter().map(|p| p.residual).fold(0.0, f64::max);
        let left = part.active.iter().zip(&steps).filter(|(_, p)| !p.converged).map(|(&run, _)| run);
        part.active = left.collect();
        let mut ended = part.active.is_empty() || part.iteration >= part.limit;
        if ended && matches!(self.plan[self.position], Step::Continue(_)) && !part.polishing {
            part.state.conclude(0)?;
            let labels = part.state.store().labels(0)?;
            part = self.polish(&labels)?;
            ended = false;
        }
        let mut converged = false;
        if ended {
            self.take(&mut part)?;
            self.position += 1;
            // Where nothing is left to explain, EM has the last word at once.
            let explained = self.found[0].explained;
            let done = self.error2(explained) <= 1e-13 * self.problem.facts().norm2;
            if done {
                self.position = self.position.max(self.plan.len() - 1);
            }
            if self.position == self.plan.len() && self.endless && !done {
                self.plan.extend(another_round(self.problem.k));
            }
            converged = self.position == self.plan.len();
        } else {
            self.part = Some(part);
        }
        let objective = self.found.first().map_or(least, |c| self.error2(c.explained));
        Ok(vec![Progress { objective, residual, converged }])
    }

    fn conclude(&mut self, run: usize) -> Result<Conclusion> {
        // Stopped in the middle of a stage: what that has reached counts too.
        if let Some(mut part) = self.part.take() {
            self.take(&mut part)?;
        }
        self.store.set_labels(run, &self.found[0].labels)?;
        let centroids = Mat::zeros(self.problem.data.shape().features, self.problem.k);
        let objective = Some(self.error2(self.found[0].explained));
        Ok(Conclusion { centroids, objective, negativity: 0.0, orthogonality: 0.0 })
    }

    fn store(&mut self) -> &mut dyn Store {
        &mut *self.store
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }

    fn save(&mut self) -> Result<Saved> {
        let mut saved = Saved::default();
        saved.words.extend([self.position as u64, self.plan.len() as u64, self.found.len() as u64]);
        for candidate in &self.found {
            saved.words.extend([u64::from(candidate.moved), u64::from(candidate.swapped)]);
            saved.numbers.push(vec![candidate.explained]);
            saved.labels.push(candidate.labels.clone());
        }
        saved.words.push(self.marks.len() as u64);
        for mark in &self.marks {
            saved.words.extend([mark.stage as u64, mark.iterations as u64, mark.objective.to_bits()]);
        }
        saved.words.push(u64::from(self.part.is_some()));
        if let Some(part) = &mut self.part {
            saved.words.extend([part.iteration as u64, u64::from(part.polishing), part.active.len() as u64]);
            saved.words.extend(part.active.iter().map(|&run| run as u64));
            let inner = part.state.save()?;
            saved.words.extend(inner.words);
            saved.numbers.extend(inner.numbers);
            saved.labels.extend(inner.labels);
        }
        Ok(saved)
    }

    fn restore(&mut self, saved: Saved) -> Result<()> {
        let points = self.problem.data.shape().points;
        let mut saved = Unpacking::new(saved);
        self.position = saved.word()? as usize;
        let (planned, found) = (saved.word()? as usize, saved.word()?);
        while self.endless && self.plan.len() < planned {
            self.plan.extend(another_round(self.problem.k));
        }
        self.found = (0..found)
            .map(|_| {
                let (moved, swapped) = (saved.word()? == 1, saved.word()? == 1);
                Ok(Candidate { explained: saved.number()?, labels: saved.labels(points)?, moved, swapped })
            })
            .collect::<Result<_>>()?;
        let marks = saved.word()?;
        if self.position >= self.plan.len() || marks as usize > self.plan.len() {
            return Err(Unpacking::missing());
        }
        self.marks = (0..marks)
            .map(|_| {
                let (stage, iterations) = (saved.word()? as usize, saved.word()? as usize);
                let name = self.plan.get(stage).ok_or_else(Unpacking::missing)?.name();
                Ok(Mark { stage, planned, name, iterations, objective: f64::from_bits(saved.word()?) })
            })
            .collect::<Result<_>>()?;
        if saved.word()? == 1 {
            let (iteration, polishing, active) = (saved.word()? as usize, saved.word()? == 1, saved.word()?);
            let active = (0..active).map(|_| Ok(saved.word()? as usize)).collect::<Result<Vec<_>>>()?;
            let mut part = if polishing { self.polish(&vec![-1; points])? } else { self.open()? };
            part.state.restore(saved.rest())?;
            self.part = Some(Part { active, iteration, ..part });
        }
        Ok(())
    }
}
