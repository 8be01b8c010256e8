//! Points in this process's memory, with a transposed copy of sparse ones where it pays.

use std::sync::OnceLock;

use super::facts::check_weights;
use super::lanes::{Lane, Lanes};
use super::strip::Ready;
use super::{Arrays, Engine, Piece};
use crate::error::Result;
use crate::matrix::kernels::lanes::LANES;
use crate::matrix::points::{AnyPoints, Packed, Turned};
use crate::matrix::rough::{RoughCourse, RoughRun, RoughRuns};
use crate::matrix::seam::{AnyPart, AnyPass, Array, Data, Facts, Slot, Slots, check_points};
use crate::matrix::{Cut, Mat, Shape, threads};

/// Up to this many bytes a transposed copy is made without asking.
const TURNED: usize = 256 << 20;

/// Points in memory with everything that the passes need to know about each.
pub(super) struct Held<'a> {
    points: AnyPoints<'a>,
    engine: Engine,
    /// Transposed copies of the blocks, or none.
    turned: Vec<Box<dyn Turned>>,
    facts: Facts,
    /// For rough iterations, made when first asked for.
    lanes: OnceLock<Lanes>,
}

/// Opens points for clustering, with weights where given.
pub fn open<'a>(points: impl Into<AnyPoints<'a>>, weights: Option<Vec<f64>>) -> Result<Box<dyn Data + 'a>> {
    open_with(points.into(), weights, None)
}

/// As [`open`], and says whether a transposed copy of sparse entries may be kept: it makes the sums faster
/// and parallel without further memory for each thread. Unless said, the size decides.
pub fn open_with(
    points: AnyPoints<'_>,
    weights: Option<Vec<f64>>,
    transposed: Option<bool>,
) -> Result<Box<dyn Data + '_>> {
    let shape = points.shape();
    if let Some(weights) = &weights {
        check_weights(weights, shape.points)?;
    }
    let cut = Cut::of(&shape);
    let bytes = shape.nonzeros.saturating_mul(12);
    let wanted = shape.sparse && transposed.unwrap_or(bytes <= TURNED);
    let blocks = (0..if wanted { cut.blocks() } else { 0 }).collect();
    let turned = threads::in_order(blocks, |block: usize| {
        points.as_points().turned(cut.points_of_blocks(&(block..block + 1)))
    });
    let turned = turned.into_iter().collect::<Option<Vec<_>>>().unwrap_or_default();
    let mut engine = Engine { shape, cut, rows: 0..shape.points, scale: 1.0, weights, norms2: vec![] };
    let facts = engine.meet(|_| Ok(Piece { points: points.as_points(), first: 0, turned: None }))?;
    Ok(Box::new(Held { points, engine, turned, facts, lanes: OnceLock::new() }))
}

impl Data for Held<'_> {
    fn shape(&self) -> Shape {
        self.engine.shape
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn weights(&self) -> Option<&[f64]> {
        self.engine.weights.as_deref()
    }

    fn in_memory(&self) -> bool {
        true
    }

    fn select(&self, points: &[usize]) -> Result<Box<dyn Data>> {
        check_points(points, self.engine.shape.points)?;
        let weights = self.weights().map(|w| points.iter().map(|&j| w[j]).collect());
        let turned = self.engine.shape.sparse.then_some(!self.turned.is_empty());
        open_with(self.points.as_points().select(points), weights, turned)
    }

    fn entries(&self, point: usize, f: &mut dyn FnMut(usize, f64)) -> Result<()> {
        check_points(&[point], self.engine.shape.points)?;
        let scale = self.engine.scale;
        self.points.as_points().for_each(point, &mut |feature, x| f(feature, x * scale));
        Ok(())
    }

    fn slots(&self) -> Result<Box<dyn Slots + '_>> {
        Ok(Box::new(HeldSlots { data: self, arrays: Arrays::default(), packed: vec![] }))
    }
}

struct HeldSlots<'a> {
    data: &'a Held<'a>,
    arrays: Arrays,
    /// Matrices of the last pass, whose memory the next one may use.
    packed: Vec<Packed>,
}

impl Slots for HeldSlots<'_> {
    fn sweep_any(&mut self, pass: &dyn AnyPass) -> Result<(Box<dyn AnyPart>, Mat)> {
        let Held { points, engine, turned, .. } = self.data;
        let points = points.as_points();
        let piece = |block: usize| Ok(Piece { points, first: 0, turned: turned.get(block).map(|t| &**t) });
        let arrays = self.arrays.used(&pass.slots(), engine.shape.points);
        let ready = Ready::new(pass, &engine.shape, std::mem::take(&mut self.packed));
        let (part, sums) = engine.sweep(&ready, 0..engine.cut.strips(), arrays, &piece)?;
        self.packed = ready.into_packed();
        Ok((part, super::sums_of(&engine.shape, sums, pass.adds().width())))
    }

    fn in_lanes(&mut self, asked: &RoughRuns) -> Option<Result<Vec<RoughCourse>>> {
        let Held { points, engine, turned, lanes, .. } = self.data;
        if turned.is_empty() {
            return None;
        }
        let all = lanes.get_or_init(|| Lanes::of(points.as_points(), engine.scale));
        // In about equal groups.
        let groups = asked.runs.len().div_ceil(LANES).max(1);
        let mut jobs = vec![];
        for runs in asked.runs.chunks(asked.runs.len().div_ceil(groups).max(1)) {
            let lane = |asked: &'_ RoughRun| {
                let labels = self.arrays.take(Slot::Labels(asked.run)).and_then(Array::into_labels);
                let adds = self.arrays.take(Slot::Adds(asked.run)).and_then(Array::into_numbers);
                (labels, adds)
            };
            let held: Vec<_> = runs.iter().map(lane).collect();
            let lanes = runs.iter().zip(held);
            jobs.push(lanes.map(|(asked, (labels, adds))| Lane { asked, labels, adds }).collect::<Vec<_>>());
        }
        // Each on a thread of its own as long as there are enough, then one after the other on all of them. (Were groups and their
        // pieces left to whichever thread is free, one that waits for a piece would begin another group, with memory of its own.)
        let rounds = jobs.len() / rayon::current_num_threads();
        let rest = jobs.split_off(rounds * rayon::current_num_threads());
        let iterate = |lanes: &mut Vec<Lane>| all.iterate(engine, asked, lanes);
        let apart = threads::apart(jobs, |mut lanes| (iterate(&mut lanes), lanes));
        let together = rest.into_iter().map(|mut lanes| (iterate(&mut lanes), lanes));
        let mut every = vec![];
        for (courses, lanes) in apart.into_iter().chain(together) {
            for Lane { asked, labels, adds } in lanes {
                labels.into_iter().for_each(|l| self.arrays.set(Slot::Labels(asked.run), Array::Labels(l)));
                adds.into_iter().for_each(|a| self.arrays.set(Slot::Adds(asked.run), Array::Numbers(1, a)));
            }
            every.extend(courses);
        }
        Some(Ok(every))
    }

    fn read(&mut self, slot: Slot) -> Result<Option<Array>> {
        Ok(self.arrays.get(slot).cloned())
    }

    fn write(&mut self, slot: Slot, array: Array) -> Result<()> {
        self.arrays.set(slot, array);
        Ok(())
    }

    fn forget(&mut self, slot: Slot) -> Result<()> {
        self.arrays.forget(slot);
        Ok(())
    }

    fn with_numbers(&mut self, slot: Slot, look: &mut dyn FnMut(&[f64])) -> Result<()> {
        if let Some(Array::Numbers(_, numbers)) = self.arrays.get(slot) {
            look(numbers);
        }
        Ok(())
    }
}
