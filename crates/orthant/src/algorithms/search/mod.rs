//! The search that `best` and its like are: several ways to a good partition, children of the best of them, moves.
//!
//! No single descent is the best on all data, but their failures differ. The stages are:
//! 1. For ONMF a fast ONP-MF continuation from the SVD on data scaled to one norm, so that the schedule means the same
//!    everywhere; for other models the descent from the start that is asked for.
//! 2. The descent from residual starts whose shares sharpen (`soften.rs`), many in the same passes.
//! 3. Children of the best partitions (`cross.rs`), generation after generation, until several have gained nothing.
//! 4. For ONMF moves of single points on the best; then the descent to its end.
//!
//! At thorough effort slower continuations, plain starts, swaps of centroids and more generations come in between.
//!
//! The work is counted, not timed: the result depends on the data, k, the effort and the seed alone.

mod at_scale;
mod cross;
mod plan;
mod saving;
mod soften;

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use super::improve::{Moves, Swaps};
use super::lloyd::{Lloyd, Model};
use super::{Algorithm, Declared, Method};
use crate::error::{Error, Result};
use crate::matrix::{Mat, Rule, threads};
use crate::prepare::Problem;
use crate::random::uniform;
use crate::run::{Conclusion, Mark, Progress, State, Trace};
use crate::saved::Saved;
use crate::singular::dominant_within;
use crate::start::{Start, Stream};
use crate::told::told;
use at_scale::AtScale;
pub use plan::Effort;
use plan::{Step, another_round};
use soften::Sharpening;

/// A method that searches under the rule of another one, its descent.
pub(super) trait Search: Declared {
    fn task(&self) -> Task;
}

/// What is particular to a search.
#[derive(Clone)]
pub(super) struct Task {
    /// Its line of the table.
    pub(super) method: &'static Method,
    /// What descends, and its name in the table.
    pub(super) descent: Arc<dyn Algorithm>,
    pub(super) name: &'static str,
    /// What the descent is called among the stages.
    pub(super) called: &'static str,
    pub(super) model: fn(&Problem) -> Result<Arc<dyn Model>>,
    /// Centroids of one random start, as points are multiplied with them.
    pub(super) seed: fn(&Problem, Stream) -> Result<(Mat, ChaCha8Rng)>,
    pub(super) effort: Effort,
    pub(super) most_iterations: usize,
}

impl Task {
    /// Whether it has the stages of ONMF.
    fn is_onmf(&self) -> bool {
        self.method.rule.onmf
    }

    fn begin<'a>(
        &self,
        problem: &'a Problem<'a>,
        start: &Start,
        stream: Stream,
    ) -> Result<Box<dyn State + 'a>> {
        if let Some(size) = problem.data.fits() {
            return Ok(Box::new(AtScale::begin(self.clone(), problem, start, stream, size)?));
        }
        Ok(Box::new(Searching {
            problem,
            model: (self.model)(problem)?,
            task: self.clone(),
            start: start.clone(),
            stream,
            plan: self.effort.plan(self.is_onmf(), start, problem.k, problem.data.shape().points),
            position: 0,
            found: vec![],
            aside: vec![],
            part: None,
            stalled: 0,
            marks: vec![],
        }))
    }
}

impl<S: Search> Algorithm for S {
    fn begin<'a>(
        &self,
        problem: &'a Problem<'a>,
        start: &Start,
        streams: &[Stream],
    ) -> Result<Box<dyn State + 'a>> {
        start.check(problem)?;
        assert_eq!(streams.len(), 1, "the table says that the runs of a search are not batched");
        self.task().begin(problem, start, streams[0])
    }

    fn max_iterations(&self, _start: &Start) -> usize {
        self.task().most_iterations
    }

    fn rule(&self) -> Rule {
        self.task().descent.rule()
    }

    fn swaps<'a>(
        &self,
        problem: &'a Problem<'a>,
        labels: &[i32],
        stream: Stream,
    ) -> Result<Box<dyn State + 'a>> {
        self.task().descent.swaps(problem, labels, stream)
    }

    fn goes_by_products(&self, _race: bool) -> bool {
        !self.rule().information
    }

    fn arrays(&self) -> usize {
        if self.task().is_onmf() { 3 } else { 0 }
    }
}

/// A partition and what it is worth.
#[derive(Debug, Clone)]
struct Candidate {
    labels: Vec<i32>,
    /// Its centroids, features × k; for ONMF the dominant vectors of its clusters.
    directions: Mat,
    /// The more, the better: what it explains (ONMF), or the objective, with its sign changed where less is better.
    value: f64,
    /// Whether what it explains is told by exact directions; else it is a little more than that.
    exact: bool,
    /// Whether it is where moves and swaps have ended.
    moved: bool,
    swapped: bool,
}

/// A stage under way.
struct Part<'a> {
    state: Box<dyn State + 'a>,
    active: Vec<usize>,
    /// The last objective of every run.
    reached: Vec<f64>,
    /// Runs that were given up: so far behind that nobody would remember them.
    dropped: Vec<usize>,
    limit: usize,
    iteration: usize,
    /// Whether a continuation has ended and EM goes on from it.
    polishing: bool,
    /// The partition that it improves.
    origin: Option<usize>,
}

impl<'a> Part<'a> {
    fn new(state: Box<dyn State + 'a>, runs: usize, limit: usize) -> Self {
        let (active, reached) = ((0..runs).collect(), vec![f64::NAN; runs]);
        Part { state, active, reached, dropped: vec![], limit, iteration: 0, polishing: false, origin: None }
    }
}

struct Searching<'a> {
    problem: &'a Problem<'a>,
    task: Task,
    model: Arc<dyn Model>,
    start: Start,
    stream: Stream,
    plan: Vec<Step>,
    position: usize,
    /// Partitions found, the best first, no two that are worth the same.
    found: Vec<Candidate>,
    /// Those of an earlier population, until the two meet.
    aside: Vec<Candidate>,
    part: Option<Part<'a>>,
    /// Generations of children since one was better than all before.
    stalled: usize,
    marks: Vec<Mark>,
}

/// How exact the vectors are by which partitions are compared: σ² is exact to the square of it.
const VECTOR_TOLERANCE: f64 = 1e-8;

/// So many partitions are remembered.
const REMEMBERED: usize = 10;
/// What is less of a gain (relative) is no reason to go on with children.
const LEAST_GAIN: f64 = 1e-7;
/// Steps of a descent after which children that are behind are given up.
const RACE: usize = 4;
/// What is left of a descent in which fewer points (relative) change their cluster is not worth its passes: what is remembered
/// are partitions to go on from.
const SETTLED: f64 = 2e-3;
/// At most so many iterations of moves or swaps.
const LIMIT: usize = 1000;

impl<'a> Searching<'a> {
    /// Random numbers that depend on the stage, not on what happened before.
    fn stream(&self, number: usize) -> Stream {
        Stream {
            seed: self.stream.seed,
            run: self.stream.run << 40 | (self.position as u64 + 1) << 16 | number as u64,
        }
    }

    /// The first seeds are those that the descent itself would take for its runs, so that a search which has them is not
    /// beaten by as many runs with the same seed. (Normal effort of ONMF softens its starts instead: no such promise.)
    fn seeding(&self, number: usize) -> Stream {
        let earlier = self.plan[..self.position].iter().any(|step| matches!(step, Step::Seed(_)));
        let run = self.stream.run << 40 | number as u64;
        if earlier { self.stream(number) } else { Stream { seed: self.stream.seed, run } }
    }

    /// The partition that a stage improves; `None` where all have had what it does.
    fn origin(&self, step: Step) -> Option<usize> {
        match step {
            Step::Given | Step::Continue(_) | Step::Seed(_) | Step::Soften(_) | Step::SoftenSlowly(_) => None,
            Step::Cross(_) | Step::Exchange(_) | Step::Afresh | Step::Meet => None,
            Step::Moves => self.found.iter().position(|c| !c.moved),
            Step::Swaps(_) => self.found.iter().position(|c| !c.swapped),
            Step::Kicks(_) | Step::Descend => Some(0),
        }
    }

    /// Whether a stage would have nothing to begin with, or nothing new to find.
    fn is_needless(&self, step: Step) -> bool {
        match step {
            Step::Moves | Step::Swaps(_) => self.origin(step).is_none(),
            Step::Cross(_) | Step::Exchange(_) => {
                self.found.len() < 2 || self.stalled >= self.task.effort.patience()
            }
            _ => false,
        }
    }

    /// Begins the stage at the present position.
    fn open(&self) -> Result<Part<'a>> {
        let problem = self.problem;
        let step = self.plan[self.position];
        let origin = self.origin(step);
        let from = || &self.found[origin.unwrap_or(0)];
        let labels = || from().labels.as_slice();
        let limit = self.task.descent.max_iterations(&Start::Residual);
        let (state, limit): (Box<dyn State + 'a>, usize) = match step {
            Step::Given => (self.task.descent.begin(problem, &self.start, &[self.stream])?, limit),
            Step::Continue(schedule) => {
                let onp = schedule.parameters;
                (onp.begin(problem, &Start::Svd, &[self.stream(0)])?, onp.max_iterations)
            }
            Step::Seed(runs) => {
                let streams: Vec<Stream> = (0..runs).map(|run| self.seeding(run)).collect();
                (self.task.descent.begin(problem, &Start::Residual, &streams)?, limit)
            }
            Step::Soften(runs) | Step::SoftenSlowly(runs) => {
                let streams: Vec<Stream> = (0..runs).map(|run| self.seeding(run)).collect();
                let drawn = self.task.seed;
                let seed = |stream: Stream| drawn(problem, stream);
                let seeds: Vec<Result<_>> = match problem.is_apart(runs) {
                    true => threads::apart(streams, seed),
                    false => streams.into_iter().map(seed).collect(),
                };
                let seeds = seeds.into_iter().collect::<Result<_>>()?;
                let sharpening = self.sharpening(step);
                let soft = soften::begin(self.model.clone(), problem, seeds, sharpening, limit)?;
                (soft, sharpening.steps + limit)
            }
            Step::Cross(runs) | Step::Exchange(runs) => {
                let streams = (0..runs).map(|run| self.stream(run)).collect();
                let exchanging = matches!(step, Step::Exchange(_));
                let children = cross::children(&*self.model, problem, &self.found, streams, exchanging)?;
                let sharpening = self.sharpening(step);
                let soft = soften::begin(self.model.clone(), problem, children, sharpening, limit)?;
                (soft, sharpening.steps + limit)
            }
            Step::Moves => (Box::new(Moves::begin(problem, labels(), &from().directions)?), LIMIT),
            Step::Swaps(patience) => {
                let model = self.model.clone();
                (Box::new(Swaps::begin(model, problem, labels(), self.stream(0), patience)?), LIMIT)
            }
            Step::Kicks(runs) => (self.kicks(labels(), runs)?, limit),
            Step::Descend => return Ok(Part { origin, ..self.descend(labels())? }),
            Step::Afresh | Step::Meet => unreachable!("they are no work"),
        };
        Ok(Part { origin, ..Part::new(state, step.runs(), limit) })
    }

    /// The descent from a partition.
    fn descend(&self, labels: &[i32]) -> Result<Part<'a>> {
        let start = Start::Labels(Arc::new(labels.to_vec()));
        let state = self.task.descent.begin(self.problem, &start, &[self.stream(0)])?;
        Ok(Part::new(state, 1, self.task.descent.max_iterations(&start)))
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
        Ok(Box::new(Lloyd::from_centroids(self.model.clone(), self.problem, starts.collect())?))
    }

    /// Centroids and value of every conclusion, whose runs ended with these objectives, and whether that is exact. (Centroids are
    /// taken out of it.)
    fn worth(&self, conclusions: &mut [Conclusion], reached: &[f64]) -> Result<Vec<(Mat, f64, bool)>> {
        let by_objective = |c: &Conclusion, last: f64| {
            let objective = c.objective.unwrap_or(last);
            match (self.task.is_onmf(), self.model.most()) {
                (true, _) => self.problem.facts().norm2 - objective,
                (_, true) => objective,
                _ => -objective,
            }
        };
        if self.task.is_onmf() && (self.goes_to_the_end() || reached.iter().any(|x| x.is_nan())) {
            let told = told(self.problem, conclusions, VECTOR_TOLERANCE)?;
            return Ok(told.into_iter().map(|(directions, value)| (directions, value, true)).collect());
        }
        let own = |(c, &last): (&mut Conclusion, &f64)| {
            let value = c.explained.unwrap_or_else(|| by_objective(c, last));
            let directions = std::mem::replace(&mut c.directions, Mat::zeros(0, 0));
            (directions, value, c.explained.is_some() || !self.task.is_onmf())
        };
        Ok(conclusions.iter_mut().zip(reached).map(own).collect())
    }

    /// Whether every descent of ONMF goes to its very end.
    fn goes_to_the_end(&self) -> bool {
        self.task.effort >= Effort::Thorough
    }

    /// How many iterations a stage may make before it is decided who of its runs goes on.
    fn until_decision(&self, part: &Part) -> usize {
        let step = self.plan[self.position];
        let decided = if step.is_a_generation() { self.sharpening(step).steps + RACE } else { part.limit };
        let until =
            |iteration: usize| if part.iteration < iteration { iteration - part.iteration } else { 1 };
        if part.iteration < decided { until(decided) } else { until(part.limit) }
    }

    /// Gives up children that are behind all partitions that are remembered when most of their descent is over.
    fn race(&self, part: &mut Part) {
        let step = self.plan[self.position];
        let over = part.iteration == self.sharpening(step).steps + RACE;
        if !step.is_a_generation() || !over || self.found.len() < REMEMBERED {
            return;
        }
        let last = self.objective(self.found[REMEMBERED - 1].value);
        let behind = |run: &usize| match self.model.most() {
            true => part.reached[*run] < last,
            false => part.reached[*run] > last,
        };
        part.dropped = part.active.iter().copied().filter(behind).collect();
        part.active.retain(|run| !part.dropped.contains(run));
    }

    /// How the shares of starts or children sharpen.
    fn sharpening(&self, step: Step) -> Sharpening {
        let children = matches!(step, Step::Cross(_));
        let sharpening = match (self.model.rule().information, children) {
            (false, false) => plan::starts(self.task.effort),
            (false, true) => plan::CHILDREN,
            (true, false) => plan::STARTS_BY_SIZE,
            (true, true) => plan::CHILDREN_BY_SIZE,
        };
        match step {
            Step::Exchange(_) => Sharpening { steps: 0, ..sharpening },
            Step::SoftenSlowly(_) => sharpening.slowly(),
            _ => sharpening,
        }
    }

    /// The objective of a partition with this value.
    fn objective(&self, value: f64) -> f64 {
        if self.task.is_onmf() {
            (self.problem.facts().norm2 - value).max(0.0)
        } else if self.model.most() {
            value
        } else {
            -value
        }
    }

    /// The run of a stage that has come furthest.
    fn furthest(&self, part: &Part) -> Option<usize> {
        let value = |run: &usize| if self.model.most() { part.reached[*run] } else { -part.reached[*run] };
        let kept = (0..part.reached.len()).filter(|run| !part.dropped.contains(run));
        kept.filter(|run| !part.reached[*run].is_nan()).max_by(|a, b| value(a).total_cmp(&value(b)))
    }

    /// The best of all partitions.
    fn best(&self) -> Option<&Candidate> {
        let value = |c: &&Candidate| c.value;
        self.found.first().into_iter().chain(self.aside.first()).max_by(|a, b| value(a).total_cmp(&value(b)))
    }

    /// Goes to the next stage with anything to do: the last always has.
    fn go_to_work(&mut self) {
        loop {
            match self.plan[self.position] {
                Step::Afresh => {
                    self.meet();
                    std::mem::swap(&mut self.aside, &mut self.found);
                }
                Step::Meet => {
                    self.meet();
                    self.stalled = 0;
                }
                step if self.is_needless(step) => {}
                _ => return,
            }
            self.position += 1;
        }
    }

    /// Takes back what was put aside.
    fn meet(&mut self) {
        std::mem::take(&mut self.aside).into_iter().for_each(|candidate| self.remember(candidate));
        self.keep_the_best();
    }

    /// Remembers a partition, unless it is there already.
    fn remember(&mut self, new: Candidate) {
        let same = |c: &Candidate| if c.exact && new.exact { 1e-13 } else { LEAST_GAIN };
        let is_twin = |c: &Candidate| (c.value - new.value).abs() <= same(c) * new.value.abs();
        match self.found.iter().position(is_twin) {
            // The same partition by another way: it has had what either has had.
            Some(at) if matches!(self.plan[self.position], Step::Descend) => self.found[at] = new,
            Some(at) => {
                self.found[at].moved |= new.moved;
                self.found[at].swapped |= new.swapped;
            }
            None => self.found.push(new),
        }
    }

    fn keep_the_best(&mut self) {
        self.found.sort_by(|a, b| b.value.total_cmp(&a.value));
        self.found.truncate(REMEMBERED);
    }

    /// Whether a stage under way may have come further than all before it.
    fn is_ahead(&self, part: &Part) -> bool {
        let (Some(best), Some(run)) = (self.best(), self.furthest(part)) else {
            return self.best().is_none();
        };
        let (reached, before) = (part.reached[run], self.objective(best.value));
        if self.model.most() { reached > before } else { reached < before }
    }

    /// What the runs of a stage have reached, into the list of partitions.
    fn take(&mut self, part: &mut Part<'a>) -> Result<()> {
        let step = self.plan[self.position];
        let runs = step.runs();
        let mut ended: Vec<usize> = (0..runs).filter(|run| !part.dropped.contains(run)).collect();
        if ended.len() > 1 && self.problem.is_to_stop() {
            // Who stops the work waits for it: the others are not worth their conclusions.
            ended = self.furthest(part).or(ended.first().copied()).into_iter().collect();
        }
        let mut conclusions = part.state.conclude_all(&ended)?;
        let reached: Vec<f64> = ended.iter().map(|&run| part.reached[run]).collect();
        let worth = self.worth(&mut conclusions, &reached)?;
        let before = self.found.first().map(|best| best.value);
        // Moves, swaps and the descent never lose: what they began with has served.
        let origin = if runs == 1 { part.origin.map(|at| self.found.remove(at)) } else { None };
        for (conclusion, (directions, value, exact)) in conclusions.into_iter().zip(worth) {
            let labels = conclusion.labels;
            let mut new = Candidate { labels, directions, value, exact, moved: false, swapped: false };
            if let Some(origin) = &origin {
                // But for rounding, above which the descent has the last word: its labels are those of the nearest centroid.
                let lost = new.value < origin.value;
                let rounding = new.value >= origin.value - 1e-9 * origin.value.abs();
                if lost && !(matches!(step, Step::Descend) && rounding) {
                    (new.labels, new.value) = (origin.labels.clone(), origin.value);
                    (new.directions, new.exact) = (origin.directions.clone(), origin.exact);
                }
                let same = new.labels == origin.labels;
                new.moved = matches!(step, Step::Moves) || (same && origin.moved);
                new.swapped = matches!(step, Step::Swaps(_)) || (same && origin.swapped);
            }
            self.remember(new);
        }
        let before = before.unwrap_or(f64::NEG_INFINITY);
        self.keep_the_best();
        let gained = self.found[0].value > before + LEAST_GAIN * before.abs();
        self.stalled = if step.is_a_generation() && !gained { self.stalled + 1 } else { 0 };
        let reached = self.objective(self.best().expect("a stage finds something").value);
        self.marks.last_mut().expect("every stage has made its mark").objective = reached;
        Ok(())
    }
}

impl State for Searching<'_> {
    fn step(&mut self, runs: &[usize]) -> Result<Vec<Progress>> {
        Ok(self.steps(runs, 1)?.remove(0))
    }

    fn steps(&mut self, _runs: &[usize], most: usize) -> Result<Vec<Vec<Progress>>> {
        let mut part = match self.part.take() {
            Some(part) => part,
            None => {
                self.go_to_work();
                let opened = self.open()?;
                let (stage, planned) = (self.position, self.plan.len());
                let name = self.plan[self.position].name(self.task.called);
                // Generations of children are one stage.
                match self.marks.last_mut() {
                    Some(mark) if mark.name == name && self.plan[stage].is_a_generation() => {
                        mark.stage = stage
                    }
                    _ => self.marks.push(Mark { stage, planned, name, iterations: 0, objective: f64::NAN }),
                }
                opened
            }
        };
        let most = most.min(self.until_decision(&part));
        let steps = match part.state.steps(&part.active, most) {
            // Given up: what the stage has reached so far is still there.
            Err(stopped @ Error::Stopped(_)) => {
                self.part = Some(part);
                return Err(stopped);
            }
            steps => steps?,
        };
        // A run that has ended before the others tells less.
        let made = steps.iter().map(Vec::len).max().unwrap_or(0);
        part.iteration += made;
        let mark = self.marks.last_mut().expect("every stage has made its mark");
        mark.iterations += made;
        let told = |at: usize| steps.iter().filter_map(move |steps| steps.get(at));
        let best = |at: usize| {
            let objectives = told(at).map(|p| p.objective);
            if self.model.most() { objectives.reduce(f64::max) } else { objectives.reduce(f64::min) }
        };
        let residual = |at: usize| told(at).map(|p| p.residual).fold(0.0, f64::max);
        let all: Vec<(Option<f64>, f64)> = (0..made).map(|at| (best(at), residual(at))).collect();
        let last: Vec<(usize, Progress)> =
            part.active.iter().zip(&steps).filter_map(|(&run, steps)| Some((run, *steps.last()?))).collect();
        last.iter().for_each(|(run, p)| part.reached[*run] = p.objective);
        // Of many descents none need go to its very end.
        let to_end = self.task.is_onmf() && self.goes_to_the_end();
        let settled = |p: &Progress| !to_end && part.reached.len() > 1 && p.residual < SETTLED;
        let ended: Vec<usize> =
            last.iter().filter(|(_, p)| p.converged || settled(p)).map(|(run, _)| *run).collect();
        part.active.retain(|run| !ended.contains(run));
        self.race(&mut part);
        let mut ended = part.active.is_empty() || part.iteration >= part.limit;
        if ended && matches!(self.plan[self.position], Step::Continue(_)) && !part.polishing {
            let reached = part.state.conclude(0)?;
            part = Part { polishing: true, ..self.descend(&reached.labels)? };
            ended = false;
        }
        let mut converged = false;
        if ended {
            self.take(&mut part)?;
            self.position += 1;
            // Where nothing is left to explain, the descent has the last word at once.
            let done = self.model.explains_all(self.problem, self.objective(self.found[0].value));
            if done {
                self.position = self.position.max(self.plan.len() - 1);
            }
            if self.position == self.plan.len() && self.task.effort == Effort::Endless && !done {
                self.plan.extend(another_round(self.task.is_onmf(), self.problem.k));
            }
            converged = self.position == self.plan.len();
        } else {
            self.part = Some(part);
        }
        let found = self.best().map(|c| self.objective(c.value));
        let progress = |(at, (best, residual)): (usize, (Option<f64>, f64))| Progress {
            objective: found.or(best).unwrap_or(f64::NAN),
            residual,
            converged: converged && at + 1 == made,
        };
        Ok(vec![all.into_iter().enumerate().map(progress).collect()])
    }

    fn share(&self, traces: &[Trace]) -> Option<f64> {
        let ended = traces.iter().all(|trace| trace.stop.is_some());
        let iteration = self.part.as_ref().map_or(0, |part| part.iteration);
        // An endless search knows of no end.
        let known = self.task.effort != Effort::Endless;
        known.then(|| match ended {
            true => 1.0,
            false => plan::share(&self.plan, self.position, iteration, self.task.effort.patience()),
        })
    }

    fn conclude(&mut self, _run: usize) -> Result<Conclusion> {
        // Stopped in the middle of a stage: what that has reached counts too, if it is the best.
        if let Some(mut part) = self.part.take()
            && self.is_ahead(&part)
        {
            self.take(&mut part)?;
        }
        let best = self.best().ok_or(Error::Stopped("a partition was found"))?;
        Ok(Conclusion {
            labels: best.labels.clone(),
            directions: best.directions.clone(),
            explained: (self.task.is_onmf() && best.exact).then_some(best.value),
            objective: Some(self.objective(best.value)),
            negativity: 0.0,
            orthogonality: 0.0,
        })
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }

    fn save(&mut self) -> Result<Saved> {
        self.saved()
    }

    fn restore(&mut self, saved: Saved) -> Result<()> {
        self.go_back(saved)
    }
}
