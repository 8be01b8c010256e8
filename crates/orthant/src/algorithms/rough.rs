//! Many runs on sparse data: rough iterations in float32, several runs side by side, as far as they lead; then the exact
//! centroids of the labels, and iterations in float64, which decide.
//!
//! Time on sparse data goes into fetching centroids, and eight runs in float32 share what is fetched (`matrix/rough.rs`).
//! When labels repeat in float32, or nothing more is gained, a run goes over to [`Lloyd`]. Should that change a label under
//! exact centroids, the run may go back, but not for ever: points that belong to two clusters equally well could go to and fro.

use std::collections::BTreeMap;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use super::lloyd::{Lloyd, Model};
use crate::bytes::bytes_of;
use crate::error::Result;
use crate::matrix::passes::SumOfLabels;
use crate::matrix::rough::{Origin, RoughRun, RoughRuns, RoughTold, fits, roughly, sums_left};
use crate::matrix::{Mat, Slot, threads};
use crate::prepare::Problem;
use crate::run::{Conclusion, Progress, Race, State, Trace, share};
use crate::saved::{Saved, misfit};
use crate::start::{Start, Stream, centroids, random};

/// Fewer runs than this do not fill the lanes.
const FEW: usize = 4;
/// So often a run may go back to float32.
const BACK: usize = 2;
/// After so many iterations runs of methods that leave points alone whose cluster cannot have changed are done with float32: the
/// few that go on for so long move few points, and lanes would go through all of them.
const LATE: usize = 40;
/// The second decision of a race comes after so many times the iterations of the first.
const LATER: usize = 3;
/// At most so many iterations of a run at a time: lanes of runs that have ended wait for the others.
const MOST: usize = 4;
/// No more multiplications than this at a time, unless a single iteration has more: an observer waits for them.
const WORK: usize = 1 << 29;

/// Whether runs go over rough iterations. This depends on nothing that may differ from machine to machine.
pub(super) fn better(problem: &Problem, streams: &[Stream]) -> bool {
    streams.len() >= FEW && fits(problem.data, problem.k)
}

/// A batch of runs from their starts, the way that is fastest.
pub(super) fn begin<'a>(
    model: Arc<dyn Model>,
    problem: &'a Problem<'a>,
    start: &Start,
    streams: &[Stream],
    limit: usize,
) -> Result<Box<dyn State + 'a>> {
    if !better(problem, streams) {
        return Ok(Box::new(Lloyd::begin(model, problem, start, streams)?));
    }
    Ok(Box::new(Roughly::begin(model, problem, start, streams, limit)?))
}

/// Whether so many runs from given centroids go over rough iterations.
pub(super) fn better_from_centroids(problem: &Problem, runs: usize) -> bool {
    runs >= FEW && fits(problem.data, problem.k)
}

/// A batch of runs from given centroids, as points are multiplied with them, whose first iterations are soft, as sharp as said.
pub(super) fn from_centroids<'a>(
    model: Arc<dyn Model>,
    problem: &'a Problem<'a>,
    runs: Vec<(Mat, ChaCha8Rng)>,
    soft: Vec<f64>,
    limit: usize,
) -> Result<Roughly<'a>> {
    let apart = |(u, generator)| (Origin::Centroids(u), (Mat::zeros(0, 0), generator));
    let (origins, runs) = runs.into_iter().map(apart).unzip();
    let exact = Lloyd::from_centroids(model, problem, runs)?;
    Ok(Roughly { soft, ..Roughly::of(problem, exact, origins, limit) })
}

/// How far a run is.
#[derive(Debug, Clone)]
struct Course {
    /// Where the next rough iteration goes on from; none where float64 has taken over.
    origin: Option<Origin>,
    /// The value of the last rough iteration.
    value: f64,
    /// How many iterations in a row have changed no label.
    quiet: usize,
    /// Iterations of both kinds.
    iterations: usize,
    /// How often it went back to float32.
    back: usize,
    /// What it was worth last.
    reached: f64,
    /// Whether float32 can say no more, and it is not decided yet whether float64 is to.
    waits: bool,
}
bytes_of!(Course { origin, value, quiet, iterations, back, reached, waits });

pub(super) struct Roughly<'a> {
    problem: &'a Problem<'a>,
    exact: Lloyd<'a>,
    courses: Vec<Course>,
    /// How sharp the shares of points are in each of the first iterations of all runs, and how many of these are done.
    soft: Vec<f64>,
    softened: usize,
    /// The last iteration of a run is one in float64.
    limit: usize,
    /// Runs that are given up since the last time that somebody asked.
    left_behind: Vec<usize>,
    /// Those that are still in the race.
    racing: Vec<usize>,
    /// After how many iterations some of them are left behind next; none where the race is over, or there is none.
    until: Option<usize>,
}

impl<'a> Roughly<'a> {
    pub(super) fn begin(
        model: Arc<dyn Model>,
        problem: &'a Problem<'a>,
        start: &Start,
        streams: &[Stream],
        limit: usize,
    ) -> Result<Self> {
        start.check(problem)?;
        let rule = model.rule();
        let drawn = |stream: Stream| {
            let mut generator = stream.generator();
            let origin = match start {
                Start::Random => Origin::Points(random::points(problem, rule, &mut generator)?),
                _ => {
                    let slots = &mut *problem.data.slots()?;
                    Origin::Centroids(rule.scored(centroids(start, problem, slots, rule, &mut generator)?))
                }
            };
            Ok((origin, (Mat::zeros(0, 0), generator)))
        };
        let drawn: Vec<Result<_>> = match problem.is_apart(streams.len()) {
            true => threads::apart(streams.to_vec(), drawn),
            false => streams.iter().copied().map(drawn).collect(),
        };
        let (origins, runs) = drawn.into_iter().collect::<Result<Vec<_>>>()?.into_iter().unzip();
        Ok(Self::of(problem, Lloyd::from_centroids(model, problem, runs)?, origins, limit))
    }

    /// Of runs whose centroids are found where `origins` say.
    pub(super) fn of(problem: &'a Problem<'a>, exact: Lloyd<'a>, origins: Vec<Origin>, limit: usize) -> Self {
        let course = |origin| Course {
            origin: Some(origin),
            value: f64::NEG_INFINITY,
            quiet: 0,
            iterations: 0,
            back: 0,
            reached: f64::NEG_INFINITY,
            waits: false,
        };
        let courses: Vec<Course> = origins.into_iter().map(course).collect();
        let until = problem.race.filter(|_| courses.len() >= Race::FEWEST).map(|race| race.after.max(1));
        let racing = (0..courses.len()).collect();
        Roughly {
            problem,
            exact,
            courses,
            soft: vec![],
            softened: 0,
            limit,
            left_behind: vec![],
            racing,
            until,
        }
    }

    /// How many rough iterations a run may make in all.
    fn most(&self) -> usize {
        let late = if self.exact.model.rule().adds_the_same { LATE } else { usize::MAX };
        late.min(self.limit - 1)
    }

    /// How many of them are left.
    fn left(&self, run: usize) -> usize {
        let course = &self.courses[run];
        if course.origin.is_some() { self.most().saturating_sub(course.iterations) } else { 0 }
    }

    /// How many it may make before it has to wait for the others of a race.
    fn to_go(&self, run: usize) -> usize {
        let course = &self.courses[run];
        match self.until {
            _ if course.waits || course.origin.is_none() => 0,
            Some(until) => until.saturating_sub(course.iterations),
            None => usize::MAX,
        }
    }

    /// When all runs have come as far as the next decision, the best of them go on: a share at first, then as many as go to their
    /// end, in float64 when none of them has more to say in float32.
    fn race(&mut self) -> Result<()> {
        let Some(race) = self.problem.race else { return Ok(()) };
        let (first, finals) = (race.after.max(1), race.finals.max(1));
        while let Some(until) = self.until
            && self.racing.iter().all(|&run| self.to_go(run) == 0)
        {
            let reached = |run: usize| self.courses[run].reached;
            self.racing.sort_by(|&a, &b| reached(b).total_cmp(&reached(a)));
            let has_more = |course: &Course| !course.waits && course.origin.is_some();
            let have_more = self.racing.iter().any(|&run| has_more(&self.courses[run]));
            let share = (race.share * self.racing.len() as f64).ceil() as usize;
            let (on, next) = match until == first {
                true => (share.max(finals), first.saturating_mul(LATER)),
                false => (finals, usize::MAX),
            };
            let on = if have_more { on } else { finals };
            self.left_behind.extend(self.racing.split_off(on.min(self.racing.len())));
            self.until = have_more.then_some(next);
            if self.until.is_none() {
                let mut finals = std::mem::take(&mut self.racing);
                finals.sort_unstable();
                finals.iter().for_each(|&run| self.courses[run].waits = false);
                return self.settle(&finals);
            }
        }
        Ok(())
    }

    /// Rough iterations of some runs, no more than `most` each; the first of them are soft as long as there are such.
    fn rough_steps(&mut self, runs: &[usize], most: usize) -> Result<Vec<Vec<Progress>>> {
        let softened = self.soft.len().min(self.softened + most);
        let soft = self.soft[self.softened..softened].to_vec();
        let most = (most - soft.len()).min(MOST);
        let (k, rule) = (self.problem.k, self.exact.model.rule());
        let (points, norm2) = (self.problem.data.shape().points, self.problem.facts().norm2);
        let ask = |&run: &usize| RoughRun {
            run,
            origin: self.courses[run].origin.clone().expect("float64 has not taken over"),
            value: self.courses[run].value,
            quiet: self.courses[run].quiet,
            most: most.min(self.left(run)).min(self.to_go(run)),
        };
        let mut asked = RoughRuns { soft, rule, k, runs: runs.iter().map(ask).collect() };
        let courses = roughly(self.problem.data, &mut *self.exact.slots, &mut asked)?;
        self.softened = softened;
        let mut all = vec![];
        let (mut settled, mut empty) = (vec![], vec![]);
        for (asked, made) in asked.runs.into_iter().zip(courses) {
            let (run, told) = (asked.run, made.hard);
            let objective = |told: &RoughTold| {
                self.exact.model.objective(self.problem, rule.of_rough_value(told.value, norm2))
            };
            let progress = |told: &RoughTold| Progress {
                objective: objective(told),
                residual: told.changed as f64 / points as f64,
                converged: false,
            };
            all.push(made.soft.iter().chain(&told).map(progress).collect());
            let (quiet, ends) = (asked.quiet_after(&told), asked.is_settled(rule, &told));
            let course = &mut self.courses[run];
            course.iterations += told.len();
            course.quiet = quiet;
            course.origin = Some(asked.origin);
            let Some(last) = told.last() else { continue };
            (course.value, course.reached) = (last.value, last.value);
            if last.changed > 0 && last.weight.iter().any(|w| *w <= 0.0) {
                empty.push((run, last.weight.clone()));
            } else if ends || self.left(run) == 0 {
                self.courses[run].waits = self.until.is_some();
                settled.push(run);
            }
        }
        settled.retain(|&run| !self.courses[run].waits);
        self.settle(&settled)?;
        for (run, weight) in empty {
            self.exact.runs[run].u = self.centroids(&[run])?.remove(0);
            self.exact.mend(run, &weight)?;
            let u = std::mem::replace(&mut self.exact.runs[run].u, Mat::zeros(0, 0));
            let course = &mut self.courses[run];
            (course.origin, course.value, course.quiet) = (Some(Origin::Centroids(u)), f64::NEG_INFINITY, 0);
            if self.left(run) == 0 {
                self.settle(&[run])?;
            }
        }
        Ok(all)
    }

    /// Centroids of the labels of some runs in float64; of ONMF as the last power step left them.
    fn centroids(&mut self, runs: &[usize]) -> Result<Vec<Mat>> {
        let (k, rule, slots) = (self.problem.k, self.exact.model.rule(), &mut *self.exact.slots);
        if rule.onmf {
            let sums = sums_left(slots, rule, k, runs)?;
            return Ok(sums.into_iter().map(|sums| rule.scored(rule.centroids(sums, &[]))).collect());
        }
        let centroids = |&run: &usize| {
            let (weight, sums) = slots.sweep(&SumOfLabels { k, rule, run })?;
            Ok(rule.scored(rule.centroids(sums, &weight.0)))
        };
        runs.iter().map(centroids).collect()
    }

    /// Float64 takes over some runs, with the exact centroids of their labels, or those that they were given.
    fn settle(&mut self, runs: &[usize]) -> Result<()> {
        let mut labelled = vec![];
        for &run in runs {
            match self.courses[run].origin.take() {
                Some(Origin::Centroids(u)) => self.exact.take_over(run, u)?,
                Some(Origin::Points(points)) => {
                    let rule = self.exact.model.rule();
                    let u = rule.scored(rule.of_points(self.problem.data.gather(&points)?));
                    self.exact.take_over(run, u)?;
                }
                Some(Origin::Shares(sums, weight)) => {
                    let rule = self.exact.model.rule();
                    self.exact.take_over(run, rule.scored(rule.centroids(sums, &weight)))?;
                }
                Some(Origin::Labels(_) | Origin::Sums(..)) => labelled.push(run),
                None => {}
            }
        }
        if labelled.is_empty() || self.exact.take_over_exact(&labelled)? {
            return Ok(());
        }
        for (&run, u) in labelled.iter().zip(self.centroids(&labelled)?) {
            self.exact.take_over(run, u)?;
        }
        self.exact.make_exact(&labelled)
    }

    /// An iteration in float64 of some runs.
    fn exact_step(&mut self, runs: &[usize]) -> Result<Vec<Progress>> {
        // Those that are late go one by one: only then are points left alone.
        let most = self.most();
        let is_late = |run: &usize| most == LATE && self.courses[*run].iterations >= LATE;
        let (late, others): (Vec<usize>, Vec<usize>) = runs.iter().partition(|run| is_late(run));
        let mut told = if others.is_empty() { vec![] } else { self.exact.step(&others)? };
        for &run in &late {
            told.extend(self.exact.step(&[run])?);
        }
        let told: BTreeMap<usize, Progress> = others.into_iter().chain(late).zip(told).collect();
        let progress: Vec<Progress> = runs.iter().map(|run| told[run]).collect();
        for (&run, progress) in runs.iter().zip(&progress) {
            let course = &mut self.courses[run];
            course.iterations += 1;
            if progress.converged {
                self.exact.forget(run)?;
            } else if course.back < BACK && course.iterations < most && !self.exact.runs[run].exact {
                course.back += 1;
                (course.value, course.quiet) = (f64::NEG_INFINITY, 0);
                course.origin = Some(Origin::Centroids(self.exact.runs[run].u.clone()));
                self.exact.forget(run)?;
            }
        }
        Ok(progress)
    }

    /// Steps all runs until float32 can say no more, or so often; gives back their labels and the weights of the clusters.
    pub(super) fn into_slots(mut self) -> Result<Box<dyn crate::matrix::Slots + 'a>> {
        // All of them are wanted.
        self.until = None;
        let mut active: Vec<usize> = (0..self.courses.len()).collect();
        while !active.is_empty() {
            self.steps(&active, usize::MAX)?;
            active.retain(|&run| self.left(run) > 0);
            if self.problem.is_to_end() {
                break;
            }
        }
        Ok(self.exact.slots)
    }
}

impl State for Roughly<'_> {
    fn step(&mut self, runs: &[usize]) -> Result<Vec<Progress>> {
        Ok(self.steps(runs, 1)?.into_iter().flatten().collect())
    }

    fn steps(&mut self, runs: &[usize], most: usize) -> Result<Vec<Vec<Progress>>> {
        let work = self.problem.data.shape().nonzeros.saturating_mul(self.problem.k * runs.len());
        let at_once = if self.softened < self.soft.len() { self.soft.len() + MOST } else { MOST };
        let most = most.min((WORK / work.max(1)).clamp(1, at_once));
        // A single iteration is all that some may make.
        let single: Vec<usize> = runs
            .iter()
            .copied()
            .filter(|&run| {
                self.courses[run].origin.is_some() && self.left(run) == 0 && !self.courses[run].waits
            })
            .collect();
        self.settle(&single)?;
        let (rough, exact): (Vec<usize>, Vec<usize>) =
            runs.iter().partition(|&&run| self.courses[run].origin.is_some());
        let mut all = vec![vec![]; runs.len()];
        let mut put = |of: &[usize], steps: Vec<Vec<Progress>>| {
            for (run, steps) in of.iter().zip(steps) {
                if let Some(at) = runs.iter().position(|known| known == run) {
                    all[at] = steps;
                }
            }
        };
        if !exact.is_empty() {
            put(&exact, self.exact_step(&exact)?.into_iter().map(|progress| vec![progress]).collect());
        }
        let rough: Vec<usize> = rough.into_iter().filter(|&run| self.to_go(run) > 0).collect();
        if !rough.is_empty() {
            put(&rough, self.rough_steps(&rough, most)?);
        }
        // Those that have just settled need not wait for the next time.
        let settled = |at: &usize| self.courses[runs[*at]].origin.is_none() && all[*at].len() < most;
        let now: Vec<usize> =
            (0..runs.len()).filter(|at| rough.contains(&runs[*at])).filter(settled).collect();
        if !now.is_empty() {
            let progress = self.exact_step(&now.iter().map(|&at| runs[at]).collect::<Vec<_>>())?;
            now.iter().zip(progress).for_each(|(&at, progress)| all[at].push(progress));
        }
        self.race()?;
        Ok(all)
    }

    fn left_behind(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.left_behind)
    }

    fn share(&self, traces: &[Trace]) -> Option<f64> {
        let Some(race) = self.problem.race.filter(|_| traces.len() >= Race::FEWEST) else {
            return self.exact.share(traces);
        };
        Some(share::in_race(
            traces,
            1.0 / self.problem.data.shape().points as f64,
            race,
            self.until != Some(race.after.max(1)),
        ))
    }

    fn conclude(&mut self, run: usize) -> Result<Conclusion> {
        let (rough, iterations) = (self.courses[run].origin.is_some(), self.courses[run].iterations);
        self.settle(&[run])?;
        if !rough || iterations == 0 {
            return self.exact.conclude(run);
        }
        // It was stopped: what it has reached is told in float64.
        let told = self.exact.step(&[run])?;
        let mut conclusion = self.exact.conclude(run)?;
        conclusion.objective = conclusion.objective.or(told.first().map(|progress| progress.objective));
        Ok(conclusion)
    }

    fn conclude_all(&mut self, runs: &[usize]) -> Result<Vec<Conclusion>> {
        let is_rough = |run: &usize| {
            let Course { origin, iterations, .. } = &self.courses[*run];
            *iterations > 0 && matches!(origin, Some(Origin::Labels(_) | Origin::Sums(..)))
        };
        let (rough, others): (Vec<usize>, Vec<usize>) = runs.iter().partition(|run| is_rough(run));
        let mut all = BTreeMap::new();
        if self.exact.model.rule().onmf {
            // What float32 has told of them will do.
            for (&run, directions) in rough.iter().zip(self.centroids(&rough)?) {
                let labels = self.exact.slots.labels(run)?;
                let (negativity, orthogonality) = (0.0, 0.0);
                let told = Conclusion {
                    labels,
                    directions,
                    explained: None,
                    objective: None,
                    negativity,
                    orthogonality,
                };
                all.insert(run, told);
            }
        } else if !rough.is_empty() {
            self.settle(&rough)?;
            for (&run, told) in rough.iter().zip(self.exact.step(&rough)?) {
                let mut conclusion = self.exact.conclude(run)?;
                conclusion.objective = conclusion.objective.or(Some(told.objective));
                all.insert(run, conclusion);
            }
        }
        for run in others {
            all.insert(run, self.conclude(run)?);
        }
        Ok(runs.iter().filter_map(|run| all.remove(run)).collect())
    }

    fn save(&mut self) -> Result<Saved> {
        let mut saved = Saved::default();
        saved.put("courses", &self.courses);
        saved.put("softened", &self.softened);
        saved.put("until", &self.until);
        saved.put("racing", &self.racing);
        let runs = (0..self.courses.len()).map(|run| {
            let mut saved = self.exact.save_run(run)?;
            saved.put_slot(&mut *self.exact.slots, Slot::Adds(run))?;
            Ok(saved)
        });
        saved.put("runs", &runs.collect::<Result<Vec<_>>>()?);
        Ok(saved)
    }

    fn restore(&mut self, mut saved: Saved) -> Result<()> {
        let (count, shape, k) = (self.courses.len(), self.problem.data.shape(), self.problem.k);
        let mat = |u: &Mat| (u.rows, u.cols) == (shape.features, k) && u.data.iter().all(|x| x.is_finite());
        let sound = |course: &Course| match &course.origin {
            Some(Origin::Points(points)) => points.len() == k && points.iter().all(|&p| p < shape.points),
            Some(Origin::Labels(weight)) => weight.len() == k && weight.iter().all(|w| w.is_finite()),
            Some(Origin::Centroids(u)) => mat(u),
            Some(Origin::Shares(sums, weight)) => mat(sums) && weight.len() == k,
            Some(Origin::Sums(..)) => false,
            None => true,
        };
        let planned = self.soft.len();
        self.softened = saved.take_if("softened", |&softened: &usize| softened <= planned)?;
        let fits = |courses: &Vec<Course>| courses.len() == count && courses.iter().all(sound);
        self.courses = saved.take_if("courses", fits)?;
        let races = self.until.is_some();
        self.until = saved.take_if("until", |until: &Option<usize>| races || until.is_none())?;
        self.racing = saved.take_if("racing", |racing: &Vec<usize>| racing.iter().all(|&run| run < count))?;
        let all: Vec<Saved> = saved.take_if("runs", |runs: &Vec<Saved>| runs.len() == count)?;
        for (run, mut saved) in all.into_iter().enumerate() {
            saved.take_slot(&mut *self.exact.slots, Slot::Adds(run), shape.points, 1)?;
            self.exact.restore_run(run, saved)?;
            let u = &self.exact.runs[run].u;
            if self.courses[run].origin.is_none() && !mat(u) {
                return Err(misfit());
            }
        }
        Ok(())
    }
}
