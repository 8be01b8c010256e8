//! A search on data that do not fit into memory: continuation, seeding and swaps take hundreds of passes, and so they are
//! done on a sample of the points as large as the budget allows. The descent, and for ONMF moves of single points, then go
//! over everything.
//!
//! The sample has one point, with its weight, of every stretch of the data: drawn anew for every seed, and nothing of the
//! data's order is left out. The stages say what they worked on, and results say so too.

use std::sync::Arc;

use super::super::improve::Moves;
use super::super::lloyd::{Lloyd, Model};
use super::Task;
use crate::error::{Error, Result};
use crate::matrix::Mat;
use crate::prepare::Problem;
use crate::random::one_of_each_stretch;
use crate::run::{Conclusion, Mark, Progress, State, Trace, share};
use crate::saved::{Saved, misfit};
use crate::start::{Start, Stream};

/// Stages of ONMF, in order; other models have the first two.
const OF_ONMF: [&str; 3] = ["best on a sample in memory", "em on everything", "moves on everything"];
const OF_OTHERS: [&str; 2] = ["search on a sample in memory", "descent on everything"];
/// A sweep of moves takes a few passes, and moves few points beside so many.
const SWEEPS: usize = 20;
/// A smaller sample says little about a cluster.
const EACH: usize = 20;

/// A partition of everything.
struct Reached {
    labels: Vec<i32>,
    directions: Mat,
    explained: Option<f64>,
    objective: Option<f64>,
}

pub(super) struct AtScale<'a> {
    task: Task,
    model: Arc<dyn Model>,
    problem: &'a Problem<'a>,
    start: Start,
    stream: Stream,
    /// Points of the sample.
    size: usize,
    stage: usize,
    /// The directions that the sample gave.
    directions: Option<Mat>,
    part: Option<Box<dyn State + 'a>>,
    reached: Option<Reached>,
    marks: Vec<Mark>,
}

impl<'a> AtScale<'a> {
    /// With a sample of at most `size` points.
    pub(super) fn begin(
        task: Task,
        problem: &'a Problem<'a>,
        start: &Start,
        stream: Stream,
        size: usize,
    ) -> Result<Self> {
        if size < EACH * problem.k {
            return Err(Error::parameter(
                "memory",
                format!(
                    "a sample of {size} points is all that fits, too few for {} clusters: give more, or use {}",
                    problem.k, task.name
                ),
            ));
        }
        Ok(AtScale {
            model: (task.model)(problem)?,
            task,
            problem,
            start: start.clone(),
            stream,
            size,
            stage: 0,
            directions: None,
            part: None,
            reached: None,
            marks: vec![],
        })
    }

    fn stages(&self) -> &'static [&'static str] {
        if self.task.is_onmf() { &OF_ONMF } else { &OF_OTHERS }
    }

    fn mark(&mut self) {
        let (stage, planned, name) = (self.stage, self.stages().len(), self.stages()[self.stage]);
        self.marks.push(Mark { stage, planned, name, iterations: 0, objective: f64::NAN });
    }

    /// The centroids that the search finds on the sample, and the objective that all points would have if they were alike.
    fn solve_sample(&self) -> Result<(Mat, f64)> {
        let mut generator = Stream { run: self.stream.run << 40 | 0xffff, ..self.stream }.generator();
        let points = one_of_each_stretch(&mut generator, self.problem.data.shape().points, self.size);
        let sample = self.problem.data.select(&points)?;
        let problem =
            Problem::new(&*sample, self.problem.k, self.task.method.needs())?.asking_as(self.problem);
        let start = match &self.start {
            Start::Labels(labels) => {
                Start::Labels(points.iter().map(|&j| labels[j]).collect::<Vec<_>>().into())
            }
            other => other.clone(),
        };
        let mut state = self.task.begin(&problem, &start, self.stream)?;
        for _ in 0..self.task.most_iterations {
            let ended = match state.step(&[0]) {
                Err(Error::Stopped(_)) => true,
                steps => steps?.iter().all(|progress| progress.converged),
            };
            if self.problem.is_to_end() || ended {
                break;
            }
        }
        let found = state.conclude(0)?;
        // The sample has a scale of its own.
        let (all, some) = (self.problem.facts(), problem.facts());
        let scale = all.scale / some.scale;
        let size = match self.task.is_onmf() {
            true => all.norm2 / some.norm2,
            false => all.usable_weight / some.usable_weight * scale.powi(self.task.method.degree),
        };
        let objective = found.objective.map_or(f64::NAN, |objective| objective * size);
        Ok((self.task.method.rule.rescaled(found.directions, scale), objective))
    }

    fn descent(&self, centroids: Mat) -> Result<Box<dyn State + 'a>> {
        let runs = vec![(self.model.rule().scored(centroids), self.stream.generator())];
        Ok(Box::new(Lloyd::from_centroids(self.model.clone(), self.problem, runs)?))
    }

    fn moves(&self) -> Result<Box<dyn State + 'a>> {
        let reached = self.reached.as_ref().expect("moves come after EM");
        Ok(Box::new(Moves::begin(self.problem, &reached.labels, &reached.directions)?))
    }

    /// Takes over what a stage has reached.
    fn take(&mut self, part: &mut dyn State) -> Result<()> {
        let Conclusion { labels, directions, explained, objective, .. } = part.conclude(0)?;
        // Moves never lose; what EM has not converged to was not computed.
        let lost = self.reached.as_ref().is_some_and(|before| before.explained > explained);
        if !lost {
            self.reached = Some(Reached { labels, directions, explained, objective });
        }
        Ok(())
    }
}

impl State for AtScale<'_> {
    fn step(&mut self, _runs: &[usize]) -> Result<Vec<Progress>> {
        if self.stage == 0 {
            let (directions, objective) = self.solve_sample()?;
            self.mark();
            let mark = self.marks.last_mut().expect("just made");
            (mark.iterations, mark.objective) = (1, objective);
            self.directions = Some(directions);
            self.stage = 1;
            return Ok(vec![Progress { objective, residual: 1.0, converged: false }]);
        }
        let mut part = match self.part.take() {
            Some(part) => part,
            None => {
                self.mark();
                match self.stage {
                    1 => self.descent(self.directions.clone().expect("the sample gave directions"))?,
                    _ => self.moves()?,
                }
            }
        };
        let mut progress = part.step(&[0])?;
        let mark = self.marks.last_mut().expect("every stage has made its mark");
        mark.iterations += 1;
        mark.objective = progress[0].objective;
        let most = match self.stage {
            1 => self.task.descent.max_iterations(&self.start),
            _ => SWEEPS,
        };
        let ended = progress[0].converged || mark.iterations >= most;
        progress[0].converged = ended && self.stage + 1 == self.stages().len();
        if ended {
            self.take(&mut *part)?;
            self.stage += 1;
        } else {
            self.part = Some(part);
        }
        Ok(progress)
    }

    fn conclude(&mut self, _run: usize) -> Result<Conclusion> {
        if self.reached.is_none() && self.part.is_none() {
            // Stopped with the sample: points go to its directions.
            let directions = match self.directions.clone() {
                Some(directions) => directions,
                None => self.solve_sample()?.0,
            };
            self.part = Some(self.descent(directions)?);
        }
        if let Some(mut part) = self.part.take() {
            self.take(&mut *part)?;
        }
        let Reached { labels, directions, explained, objective } =
            self.reached.as_ref().expect("taken just now");
        Ok(Conclusion {
            labels: labels.clone(),
            directions: directions.clone(),
            explained: *explained,
            objective: *objective,
            negativity: 0.0,
            orthogonality: 0.0,
        })
    }

    fn share(&self, traces: &[Trace]) -> Option<f64> {
        let end = 1.0 / self.problem.data.shape().points as f64;
        let within = match (self.stage, &self.part, self.marks.last()) {
            // After the sample, which is one iteration, and the first of its own.
            (1, Some(_), _) => share::fallen(&traces[0], 2, end),
            (2, Some(_), Some(mark)) => mark.iterations as f64 / SWEEPS as f64,
            _ => 0.0,
        };
        Some((self.stage as f64 + within) / self.stages().len() as f64)
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }

    fn save(&mut self) -> Result<Saved> {
        let mut saved = Saved::default();
        saved.put("stage", &self.stage);
        let marks: Vec<(usize, (usize, f64))> =
            self.marks.iter().map(|m| (m.stage, (m.iterations, m.objective))).collect();
        saved.put("marks", &marks);
        saved.put("directions", &self.directions);
        let reached = self.reached.as_ref().map(|reached| {
            let mut inner = Saved::default();
            inner.put("labels", &reached.labels);
            inner.put("directions", &reached.directions);
            inner.put("worth", &(reached.explained, reached.objective));
            inner
        });
        saved.put("reached", &reached);
        let part = self.part.as_mut().map(|part| part.save()).transpose()?;
        saved.put("part", &part);
        Ok(saved)
    }

    fn restore(&mut self, mut saved: Saved) -> Result<()> {
        let (shape, k) = (self.problem.data.shape(), self.problem.k);
        self.stage = saved.take_if("stage", |&stage: &usize| stage <= self.stages().len())?;
        let marks: Vec<(usize, (usize, f64))> = saved.take("marks")?;
        self.marks = marks
            .into_iter()
            .map(|(stage, (iterations, objective))| {
                let name = *self.stages().get(stage).ok_or_else(misfit)?;
                Ok(Mark { stage, planned: self.stages().len(), name, iterations, objective })
            })
            .collect::<Result<_>>()?;
        self.directions = saved.take_if("directions", |directions: &Option<Mat>| {
            directions.as_ref().is_none_or(|d| (d.rows, d.cols) == (shape.features, k))
        })?;
        self.reached = match saved.take::<Option<Saved>>("reached")? {
            None => None,
            Some(mut inner) => {
                let (explained, objective) = inner.take("worth")?;
                Some(Reached {
                    labels: inner.take_labels("labels", shape.points, k)?,
                    directions: inner.take_mat("directions", shape.features, k)?,
                    explained,
                    objective,
                })
            }
        };
        if let Some(inner) = saved.take::<Option<Saved>>("part")? {
            let mut part = match (self.stage, &self.directions, &self.reached) {
                (1, Some(directions), _) => self.descent(directions.clone())?,
                (2, _, Some(_)) => self.moves()?,
                _ => return Err(misfit()),
            };
            part.restore(inner)?;
            self.part = Some(part);
        }
        Ok(())
    }
}
