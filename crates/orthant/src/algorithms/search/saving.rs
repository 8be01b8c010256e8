//! A search under way as bytes, and back.

use super::plan::Step;
use super::plan::another_round;
use super::{Candidate, Effort, Part, REMEMBERED, Searching};
use crate::error::Result;
use crate::run::Mark;
use crate::saved::{Saved, misfit};

impl Searching<'_> {
    pub(super) fn saved(&mut self) -> Result<Saved> {
        let mut saved = Saved::default();
        saved.put("position", &self.position);
        saved.put("planned", &self.plan.len());
        saved.put("stalled", &self.stalled);
        for (name, partitions) in [("found", &self.found), ("aside", &self.aside)] {
            saved.put(name, &partitions.iter().map(Candidate::save).collect::<Vec<_>>());
        }
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
                inner.put("reached", &part.reached);
                inner.put("dropped", &part.dropped);
                inner.put("state", &part.state.save()?);
                Some(inner)
            }
        };
        saved.put("part", &part);
        Ok(saved)
    }

    pub(super) fn go_back(&mut self, mut saved: Saved) -> Result<()> {
        let (shape, k) = (self.problem.data.shape(), self.problem.k);
        let planned: usize = saved.take("planned")?;
        // No search goes on for so many rounds.
        while self.task.effort == Effort::Endless && self.plan.len() < planned.min(1 << 20) {
            self.plan.extend(another_round(self.task.is_onmf(), k));
        }
        if self.plan.len() != planned {
            return Err(misfit());
        }
        self.stalled = saved.take("stalled")?;
        // At its end where the last stage had just ended.
        self.position = saved.take_if("position", |&position| position <= planned)?;
        let read = |candidate| Candidate::restore(candidate, shape.points, shape.features, k);
        for (name, partitions) in [("found", &mut self.found), ("aside", &mut self.aside)] {
            let saved: Vec<Saved> = saved.take_if(name, |saved: &Vec<Saved>| saved.len() <= REMEMBERED)?;
            *partitions = saved.into_iter().map(read).collect::<Result<_>>()?;
        }
        let marks: Vec<(usize, (usize, f64))> = saved.take("marks")?;
        self.marks = marks
            .into_iter()
            .map(|(stage, (iterations, objective))| {
                let name = self.plan.get(stage).ok_or_else(misfit)?.name(self.task.called);
                Ok(Mark { stage, planned, name, iterations, objective })
            })
            .collect::<Result<_>>()?;
        let part: Option<Saved> = saved.take("part")?;
        if let Some(mut inner) = part {
            let step = *self.plan.get(self.position).ok_or_else(misfit)?;
            let polishing: bool = inner.take("polishing")?;
            if self.is_needless(step)
                || matches!(step, Step::Afresh | Step::Meet)
                || (matches!(step, Step::Kicks(_) | Step::Descend) && self.found.is_empty())
            {
                return Err(misfit());
            }
            let part = if polishing {
                Part { polishing, ..self.descend(&vec![-1; shape.points])? }
            } else {
                self.open()?
            };
            let count = part.active.len();
            let active = inner.take_if("active", |runs: &Vec<usize>| runs.iter().all(|&run| run < count))?;
            let reached = inner.take_if("reached", |reached: &Vec<f64>| reached.len() == count)?;
            let dropped =
                inner.take_if("dropped", |runs: &Vec<usize>| runs.iter().all(|&run| run < count))?;
            let mut part = Part { active, reached, dropped, iteration: inner.take("iteration")?, ..part };
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
        saved.put("value", &self.value);
        saved.put("exact", &self.exact);
        saved.put("tried", &(self.moved, self.swapped));
        saved
    }

    fn restore(mut saved: Saved, points: usize, features: usize, k: usize) -> Result<Self> {
        let (moved, swapped) = saved.take("tried")?;
        Ok(Candidate {
            labels: saved.take_labels("labels", points, k)?,
            directions: saved.take_mat("directions", features, k)?,
            value: saved.take_finite("value")?,
            exact: saved.take("exact")?,
            moved,
            swapped,
        })
    }
}
