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
use super::{Algorithm, OnpMf, Setting, method};
use crate::checkpoint::{Saved, Unpacking};
use crate::error::Result;
use crate::matrix::{Mat, Store};
use crate::prepare::Problem;
use crate::run::{Conclusion, Mark, Progress, State};
use crate::singular::dominant;
use crate::start::{Start, Stream};

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
}

impl Best {
    pub(super) fn from_setting(s: &Setting) -> Self {
        let efforts = [Effort::Quick, Effort::Normal, Effort::Thorough, Effort::Endless];
        Best { effort: efforts[s.get("effort") as usize] }
    }

    /// The stages, in order.
    fn plan(self, start: &Start, k: usize) -> Vec<Step> {
        let mut plan = vec![];
        if *start != Start::Svd {
            plan.push(Step::Given);
        }
        let failures = |tries_for_each: usize| Patience { failures: tries_for_each * k, ..Patience::normal(k) };
        match self.effort {
            Effort::Quick => plan.extend([
                Step::Continue(&FAST),
                Step::Continue(&STEADY),
                Step::Seed(6),
                Step::Moves(0),
                Step::Em,
            ]),
            Effort::Normal => plan.extend([
                Step::Continue(&FAST),
                Step::Continue(&STEADY),
                Step::Continue(&SLOW),
                Step::Continue(&MULTIPLIERS),
                Step::Seed(10),
                Step::Moves(0),
                Step::Moves(1),
                Step::Swaps(0, failures(2)),
                Step::Moves(0),
                Step::Em,
            ]),
            Effort::Thorough | Effort::Endless => plan.extend([
                Step::Continue(&FAST),
                Step::Continue(&STEADY),
                Step::Continue(&SLOW),
                Step::Continue(&SLOWEST),
                Step::Continue(&MULTIPLIERS),
                Step::Continue(&SLOW_MULTIPLIERS),
                Step::Seed(100),
                Step::Moves(0),
                Step::Moves(1),
                Step::Moves(2),
                Step::Swaps(0, failures(8)),
                Step::Swaps(1, failures(4)),
                Step::Swaps(2, failures(4)),
                Step::Moves(0),
                Step::Swaps(0, failures(8)),
                Step::Moves(0),
                Step::Em,
            ]),
        }
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
static SLOWEST: Schedule = schedule("continuation, slowest", 0.0, 1.0, 1.005, 1e-3);
static MULTIPLIERS: Schedule = schedule("continuation with multipliers", 100.0, 0.1, 1.02, 1e-2);
static SLOW_MULTIPLIERS: Schedule = schedule("continuation with multipliers, slow", 100.0, 0.01, 1.01, 1e-3);

#[derive(Debug, Clone, Copy)]
enum Step {
    /// EM from a start that the user gave.
    Given,
    /// A continuation, then EM.
    Continue(&'static Schedule),
    /// EM from so many residual starts.
    Seed(usize),
    /// Moves from the partition of this rank.
    Moves(usize),
    /// Swaps from the partition of this rank.
    Swaps(usize, Patience),
    /// EM from the best: labels that are those of the nearest direction.
    Em,
}

impl Step {
    fn name(&self) -> &'static str {
        match self {
            Step::Given => "em from the given start",
            Step::Continue(schedule) => schedule.name,
            Step::Seed(_) => "em from residual seeding",
            Step::Moves(_) => "moves",
            Step::Swaps(..) => "swaps",
            Step::Em => "em",
        }
    }
}

/// What an endless search goes on with: random numbers depend on the position in the plan, and so are others.
fn another_round(k: usize) -> [Step; 5] {
    let patience = Patience { failures: 8 * k, ..Patience::normal(k) };
    [Step::Seed(16), Step::Swaps(0, patience), Step::Swaps(1, patience), Step::Moves(0), Step::Em]
}

/// A partition and what it explains.
#[derive(Debug, Clone)]
struct Candidate {
    labels: Vec<i32>,
    explained: f64,
}

/// A stage under way.
struct Part<'a> {
    state: Box<dyn State + 'a>,
    active: Vec<usize>,
    limit: usize,
    iteration: usize,
    /// Whether a continuation has ended and EM goes on from it.
    polishing: bool,
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
const REMEMBERED: usize = 4;

impl Algorithm for Best {
    fn begin<'a>(&self, problem: &'a Problem<'a>, start: &Start, streams: &[Stream]) -> Result<Box<dyn State + 'a>> {
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
        match self.effort {
            Effort::Quick => 1_000,
            Effort::Normal => 3_000,
            Effort::Thorough => 20_000,
            Effort::Endless => usize::MAX,
        }
    }
}

impl<'a> BestState<'a> {
    /// Random numbers that depend on the stage, not on what happened before.
    fn stream(&self, number: usize) -> Stream {
        Stream { seed: self.stream.seed, run: self.stream.run << 40 | (self.position as u64 + 1) << 16 | number as u64 }
    }

    fn ranked(&self, rank: usize) -> &Candidate {
        &self.found[rank.min(self.found.len() - 1)]
    }

    /// Begins the stage at the present position.
    fn open(&self) -> Result<Part<'a>> {
        let problem = self.problem;
        let em = EmOnmf::default();
        let mut active = vec![0];
        let (state, limit): (Box<dyn State + 'a>, usize) = match self.plan[self.position] {
            Step::Given => (em.begin(problem, &self.start, &[self.stream])?, em.max_iterations),
            Step::Continue(schedule) => {
                let onp = schedule.parameters;
                (onp.begin(problem, &Start::Svd, &[self.stream(0)])?, onp.max_iterations)
            }
            Step::Seed(runs) => {
                let streams: Vec<Stream> = (0..runs).map(|run| self.stream(run)).collect();
                active = (0..runs).collect();
                (em.begin(problem, &Start::Residual, &streams)?, em.max_iterations)
            }
            Step::Moves(rank) => (Box::new(Moves::begin(problem, &self.ranked(rank).labels)?), 1000),
            Step::Swaps(rank, patience) => {
                let labels = &self.ranked(rank).labels;
                (Box::new(Swaps::begin(Directions, problem, labels, self.stream(0), patience)?), 1000)
            }
            Step::Em => Polish::Em.begin(problem, method("em-onmf")?, &self.ranked(0).labels, self.stream(0))?,
        };
        Ok(Part { state, active, limit, iteration: 0, polishing: false })
    }

    /// EM from where a continuation has ended.
    fn polish(&self, labels: &[i32]) -> Result<Part<'a>> {
        let (state, limit) = Polish::Em.begin(self.problem, method("em-onmf")?, labels, self.stream(0))?;
        Ok(Part { state, active: vec![0], limit, iteration: 0, polishing: true })
    }

    /// What the runs of a stage have reached, into the list of partitions.
    fn take(&mut self, part: &mut Part<'a>) -> Result<()> {
        let runs = match self.plan[self.position] {
            Step::Seed(runs) => runs,
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
        for run in 0..runs {
            let explained: f64 = sigma2[run * k..(run + 1) * k].iter().sum();
            let same = |c: &Candidate| (c.explained - explained).abs() <= 1e-13 * explained;
            // The last stage only settles ties: its labels are the ones to keep.
            let last = matches!(self.plan[self.position], Step::Em);
            if last {
                self.found.retain(|c| !same(c));
            } else if self.found.iter().any(same) {
                continue;
            }
            let labels = part.state.store().labels(run)?;
            self.found.push(Candidate { labels, explained });
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
                self.marks.push(Mark { name: self.plan[self.position].name(), iterations: 0, objective: f64::NAN });
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
            if self.position == self.plan.len() && self.endless {
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
            saved.numbers.push(vec![candidate.explained]);
            saved.labels.push(candidate.labels.clone());
        }
        saved.words.push(self.marks.len() as u64);
        for mark in &self.marks {
            saved.words.extend([mark.iterations as u64, mark.objective.to_bits()]);
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
            .map(|_| Ok(Candidate { explained: saved.number()?, labels: saved.labels(points)? }))
            .collect::<Result<_>>()?;
        let marks = saved.word()?;
        if self.position >= self.plan.len() || marks as usize > self.plan.len() {
            return Err(Unpacking::missing());
        }
        self.marks = (0..marks as usize)
            .map(|stage| {
                let (iterations, objective) = (saved.word()? as usize, f64::from_bits(saved.word()?));
                Ok(Mark { name: self.plan[stage].name(), iterations, objective })
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
