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

use super::at_scale::AtScale;
use super::em_onmf::{Directions, EmOnmf};
use super::improve::{Moves, Patience, Polish, Swaps};
use super::lloyd::Lloyd;
use super::parameters::{Field, declare, named, whole};
use super::{Algorithm, ONMF, OnpMf};
use crate::error::Result;
use crate::matrix::Mat;
use crate::prepare::Problem;
use crate::random::uniform;
use crate::run::{Conclusion, Mark, Progress, State};
use crate::saved::{Saved, misfit};
use crate::singular::dominant_within;
use crate::start::{Start, Stream};
use crate::told::told;

/// How much work to put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
#[non_exhaustive]
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

impl Effort {
    /// Their names, in order.
    pub const NAMES: &[&str] = &["quick", "normal", "thorough", "endless"];
}

impl Field for Effort {
    fn from_number(number: f64) -> Self {
        [Effort::Quick, Effort::Normal, Effort::Thorough, Effort::Endless][number as usize]
    }
    fn number(self) -> f64 {
        self as usize as f64
    }
}

declare! {
    name: "best",
    title: "best",
    summary: "several continuations and starts, each polished, then moves and swaps on the best of them",
    starts: &["svd"],
    ..ONMF;

    /// `best` with its parameters.
    pub struct Best {
        /// how much work to put in (endless: until the time is over or it is stopped)
        effort: Effort = named(Effort::Normal as usize, Effort::NAMES),
        /// stop after this many iterations (of all stages; unless set: no limit)
        max_iterations: Option<usize> = whole(f64::NAN, 1.0),
    }
}

impl Best {
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
    /// Dominant vectors of its clusters, features × k.
    directions: Mat,
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
}

/// How exact the vectors are by which partitions are compared: σ² is exact to the square of it.
const VECTOR_TOLERANCE: f64 = 1e-8;

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
        if let Some(size) = problem.data.fits() {
            return Ok(Box::new(AtScale::begin(*self, problem, start, streams[0], size)?));
        }
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
        }))
    }

    fn max_iterations(&self, _start: &Start) -> usize {
        self.max_iterations.unwrap_or(usize::MAX)
    }

    fn arrays(&self) -> usize {
        3
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
        let from = || &self.found[origin.unwrap_or(0)];
        let labels = || from().labels.as_slice();
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
            Step::Moves => (Box::new(Moves::begin(problem, labels(), &from().directions)?), 1000),
            Step::Swaps(patience) => {
                (Box::new(Swaps::begin(Directions, problem, labels(), self.stream(0), patience)?), 1000)
            }
            Step::Kicks(runs) => {
                active = (0..runs).collect();
                (self.kicks(labels(), runs)?, em.max_iterations)
            }
            Step::Em => Polish::Em.begin(problem, &em, labels(), &from().directions, self.stream(0))?,
        };
        Ok(Part { state, active, limit, iteration: 0, polishing: false, origin })
    }

    /// EM from where a continuation has ended.
    fn polish(&self, labels: &[i32], directions: &Mat) -> Result<Part<'a>> {
        let em = EmOnmf::default();
        let (state, limit) = Polish::Em.begin(self.problem, &em, labels, directions, self.stream(0))?;
        Ok(Part { state, active: vec![0], limit, iteration: 0, polishing: true, origin: None })
    }

    /// EM from the directions that random halves of a partition's clusters have, all in the same passes.
    fn kicks(&self, labels: &[i32], runs: usize) -> Result<Box<dyn State + 'a>> {
        let k = self.problem.k;
        let mut slots = self.problem.data.slots()?;
        let mut generators = vec![];
        for run in 0..runs {
            let mut generator = self.stream(run).generator();
            let half: Vec<i32> =
                labels.iter().map(|&l| if uniform(&mut generator) < 0.5 { l } else { -1 }).collect();
            slots.set_labels(run, &half)?;
            generators.push(generator);
        }
        let all: Vec<usize> = (0..runs).collect();
        let guess = Mat::zeros(self.problem.data.shape().features, k);
        let found = dominant_within(
            self.problem.data,
            &mut *slots,
            &all,
            &vec![&guess; runs],
            VECTOR_TOLERANCE,
            &|| self.problem.is_to_stop(),
        )?;
        let starts = found.into_iter().map(|found| found.u).zip(generators);
        Ok(Box::new(Lloyd::from_centroids(Directions, self.problem, starts.collect())?))
    }

    /// What the runs of a stage have reached, into the list of partitions.
    fn take(&mut self, part: &mut Part<'a>) -> Result<()> {
        let step = self.plan[self.position];
        let runs = match step {
            Step::Seed(runs) | Step::Kicks(runs) => runs,
            _ => 1,
        };
        let conclusions = (0..runs).map(|run| part.state.conclude(run)).collect::<Result<Vec<_>>>()?;
        let told = told(self.problem, &conclusions, VECTOR_TOLERANCE)?;
        // Moves, swaps and EM never lose: what they began with has served.
        let origin = if runs == 1 { part.origin.map(|at| self.found.remove(at)) } else { None };
        for (conclusion, (directions, explained)) in conclusions.into_iter().zip(told) {
            let labels = conclusion.labels;
            let mut new = Candidate { labels, directions, explained, moved: false, swapped: false };
            if let Some(origin) = &origin {
                // But for rounding, above which EM has the last word: its labels are those of the nearest direction.
                let lost = new.explained < origin.explained;
                if lost && !(matches!(step, Step::Em) && new.explained >= origin.explained * (1.0 - 1e-9)) {
                    (new.labels, new.explained) = (origin.labels.clone(), origin.explained);
                    new.directions = origin.directions.clone();
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
            let reached = part.state.conclude(0)?;
            part = self.polish(&reached.labels, &reached.directions)?;
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

    fn conclude(&mut self, _run: usize) -> Result<Conclusion> {
        // Stopped in the middle of a stage: what that has reached counts too.
        if let Some(mut part) = self.part.take() {
            self.take(&mut part)?;
        }
        let best = &self.found[0];
        Ok(Conclusion {
            labels: best.labels.clone(),
            directions: best.directions.clone(),
            explained: Some(best.explained),
            objective: Some(self.error2(best.explained)),
            negativity: 0.0,
            orthogonality: 0.0,
        })
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }

    fn save(&mut self) -> Result<Saved> {
        let mut saved = Saved::default();
        saved.put("position", &self.position);
        saved.put("planned", &self.plan.len());
        let found: Vec<Saved> = self.found.iter().map(Candidate::save).collect();
        saved.put("found", &found);
        let marks: Vec<(usize, (usize, f64))> =
            self.marks.iter().map(|m| (m.stage, (m.iterations, m.objective))).collect();
        saved.put("marks", &marks);
        let part = match &mut self.part {
            None => None,
            Some(part) => {
                let mut inner = Saved::default();
                inner.put("iteration", &part.iteration);
                inner.put("polishing", &part.polishing);
                inner.put("active", &part.active);
                inner.put("state", &part.state.save()?);
                Some(inner)
            }
        };
        saved.put("part", &part);
        Ok(saved)
    }

    fn restore(&mut self, mut saved: Saved) -> Result<()> {
        let (shape, k) = (self.problem.data.shape(), self.problem.k);
        let planned: usize = saved.take("planned")?;
        // No search goes on for so many rounds.
        while self.endless && self.plan.len() < planned.min(1 << 20) {
            self.plan.extend(another_round(k));
        }
        if self.plan.len() != planned {
            return Err(misfit());
        }
        // At its end where the last stage had just ended.
        self.position = saved.take_if("position", |&position| position <= planned)?;
        let found: Vec<Saved> = saved.take_if("found", |found: &Vec<Saved>| found.len() <= REMEMBERED)?;
        let read = |candidate| Candidate::restore(candidate, shape.points, shape.features, k);
        self.found = found.into_iter().map(read).collect::<Result<_>>()?;
        let marks: Vec<(usize, (usize, f64))> = saved.take("marks")?;
        self.marks = marks
            .into_iter()
            .map(|(stage, (iterations, objective))| {
                let name = self.plan.get(stage).ok_or_else(misfit)?.name();
                Ok(Mark { stage, planned, name, iterations, objective })
            })
            .collect::<Result<_>>()?;
        let part: Option<Saved> = saved.take("part")?;
        if let Some(mut inner) = part {
            let step = *self.plan.get(self.position).ok_or_else(misfit)?;
            let polishing: bool = inner.take("polishing")?;
            let missing = matches!(step, Step::Moves | Step::Swaps(_)) && self.origin(step).is_none();
            if missing || (matches!(step, Step::Kicks(_) | Step::Em) && self.found.is_empty()) {
                return Err(misfit());
            }
            let unknown = Mat::zeros(shape.features, k);
            let part = if polishing { self.polish(&vec![-1; shape.points], &unknown)? } else { self.open()? };
            let count = part.active.len();
            let active = inner.take_if("active", |runs: &Vec<usize>| runs.iter().all(|&run| run < count))?;
            let mut part = Part { active, iteration: inner.take("iteration")?, ..part };
            part.state.restore(inner.take("state")?)?;
            self.part = Some(part);
        }
        Ok(())
    }
}

impl Candidate {
    fn save(&self) -> Saved {
        let mut saved = Saved::default();
        saved.put("labels", &self.labels);
        saved.put("directions", &self.directions);
        saved.put("explained", &self.explained);
        saved.put("tried", &(self.moved, self.swapped));
        saved
    }

    fn restore(mut saved: Saved, points: usize, features: usize, k: usize) -> Result<Self> {
        let (moved, swapped) = saved.take("tried")?;
        Ok(Candidate {
            labels: saved.take_labels("labels", points, k)?,
            directions: saved.take_mat("directions", features, k)?,
            explained: saved.take_finite("explained")?,
            moved,
            swapped,
        })
    }
}
