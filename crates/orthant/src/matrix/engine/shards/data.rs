//! Data that others hold, as algorithms see them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::fleet::{Deed, Fleet, Transport};
use super::{Answer, Blob};
use crate::bytes::Bytes;
use crate::error::{Error, Result};
use crate::matrix::cut::Joining;
use crate::matrix::engine::facts::{check_weights, facts, scale_of};
use crate::matrix::engine::streamed::sample_within;
use crate::matrix::engine::{Told, join, open, sums_of};
use crate::matrix::passes::{Look, Looked, Normed, Norms};
use crate::matrix::points::AnyPoints;
use crate::matrix::seam::{AnyPart, AnyPass, Array, Data, Facts, Slot, Slots, Use, check_points};
use crate::matrix::{Mat, Shape};

struct Shards<'a> {
    fleet: Fleet<'a>,
    weights: Option<Vec<f64>>,
    facts: Facts,
    /// Bytes of this process that a sample may take.
    memory: usize,
    /// Numbers for arrays.
    next: AtomicU64,
}

/// Opens data that workers load and hold, each some blocks of [`Cut::of`](crate::matrix::Cut::of) the whole shape. Methods that
/// work on samples make them as large as `memory`, in bytes of this process, allows.
pub fn shards<'a>(
    transport: Box<dyn Transport + 'a>,
    shape: Shape,
    weights: Option<Vec<f64>>,
    memory: usize,
) -> Result<Box<dyn Data + 'a>> {
    if let Some(weights) = &weights {
        check_weights(weights, shape.points)?;
    }
    let fleet = Fleet::new(transport, shape, weights.clone())?;
    let look = Look { features: shape.features };
    let (looked, _) = whole(&look, fleet.ask(Deed::Sweep(0, AnyPass::write(&look)))?);
    let looked: Looked = *looked.into_any().downcast().expect("a look tells what it saw");
    let scale = scale_of(looked.largest, &shape);
    let (normed, _) = whole(&Norms, fleet.ask(Deed::Scale(scale))?);
    let normed: Normed = *normed.into_any().downcast().expect("norms tell norms");
    let facts = facts(looked, &normed, scale, weights.as_deref(), shape.points);
    Ok(Box::new(Shards { fleet, weights, facts, memory, next: AtomicU64::new(1) }))
}

/// What all nodes of an answer tell.
fn whole(pass: &dyn AnyPass, answer: Answer) -> Told {
    let mut joining = Joining::new(answer.count);
    answer.nodes.into_iter().for_each(|(strips, told)| joining.push(strips, told, &mut join));
    joining.end(&mut join).unwrap_or_else(|| (pass.empty(), vec![]))
}

fn strange() -> Error {
    Error::Computation("an answer that makes no sense came from a part of the data".into())
}

impl Shards<'_> {
    /// Entries of some points as they were given, in the order asked for.
    fn fetch(&self, points: &[usize]) -> Result<Vec<Vec<(usize, f64)>>> {
        check_points(points, self.fleet.shape.points)?;
        let holder = |j: usize| self.fleet.rows.partition_point(|rows| rows.end <= j);
        let mut wanted: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        points.iter().for_each(|&j| wanted.entry(holder(j)).or_default().push(j));
        if wanted.is_empty() {
            return Ok(vec![]);
        }
        let answer = self.fleet.ask(Deed::Points(wanted))?;
        let mut left: BTreeMap<usize, &[u8]> =
            answer.pieces.iter().map(|(shard, Blob(bytes))| (*shard, bytes.as_slice())).collect();
        let mut next = |j: usize| Bytes::read(left.get_mut(&holder(j))?);
        points.iter().map(|&j| next(j).ok_or_else(strange)).collect()
    }
}

impl Data for Shards<'_> {
    fn shape(&self) -> Shape {
        self.fleet.shape
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    fn in_memory(&self) -> bool {
        false
    }

    fn fits(&self) -> Option<usize> {
        sample_within(&self.fleet.shape, self.memory)
    }

    fn select(&self, points: &[usize]) -> Result<Box<dyn Data>> {
        let weights = self.weights().map(|w| points.iter().map(|&j| w[j]).collect());
        open(AnyPoints::of_entries(self.fetch(points)?, &self.fleet.shape)?, weights)
    }

    fn entries(&self, point: usize, f: &mut dyn FnMut(usize, f64)) -> Result<()> {
        let entries = self.fetch(&[point])?;
        entries.into_iter().flatten().for_each(|(feature, x)| f(feature, x * self.facts.scale));
        Ok(())
    }

    fn gather(&self, points: &[usize]) -> Result<Mat> {
        let mut columns = Mat::zeros(self.fleet.shape.features, points.len());
        for (i, entries) in self.fetch(points)?.into_iter().enumerate() {
            entries.into_iter().for_each(|(f, x)| columns[(f, i)] = x * self.facts.scale);
        }
        Ok(columns)
    }

    fn slots(&self) -> Result<Box<dyn Slots + '_>> {
        Ok(Box::new(ShardSlots { fleet: &self.fleet, number: self.next.fetch_add(1, Ordering::Relaxed) }))
    }
}

struct ShardSlots<'a> {
    fleet: &'a Fleet<'a>,
    number: u64,
}

impl Slots for ShardSlots<'_> {
    fn sweep_any(&mut self, pass: &dyn AnyPass) -> Result<(Box<dyn AnyPart>, Mat)> {
        let (uses, points) = (pass.slots(), self.fleet.shape.points);
        self.fleet.sizes(uses.iter().map(|used| match *used {
            Use::Numbers(slot, each) => ((self.number, slot), 8 * each * points),
            Use::Labels(run) => ((self.number, Slot::Labels(run)), 4 * points),
        }))?;
        // A pass without slots changes nothing, whoever asks.
        let number = if uses.is_empty() { 0 } else { self.number };
        let (part, sums) = whole(pass, self.fleet.ask(Deed::Sweep(number, pass.write()))?);
        Ok((part, sums_of(&self.fleet.shape, sums, pass.adds().width())))
    }

    fn read(&mut self, slot: Slot) -> Result<Option<Array>> {
        let mut answer = self.fleet.ask(Deed::Read(self.number, slot))?;
        answer.pieces.sort_by_key(|(shard, _)| *shard);
        let mut whole: Option<Array> = None;
        for (_, Blob(bytes)) in answer.pieces {
            let part: Option<Array> = Bytes::from_bytes(&bytes).ok_or_else(strange)?;
            whole = match (whole, part) {
                (None, part) => part,
                (Some(Array::Labels(mut a)), Some(Array::Labels(b))) => {
                    a.extend(b);
                    Some(Array::Labels(a))
                }
                (Some(Array::Numbers(each, mut a)), Some(Array::Numbers(_, b))) => {
                    a.extend(b);
                    Some(Array::Numbers(each, a))
                }
                _ => return Err(strange()),
            };
        }
        Ok(whole)
    }

    fn write(&mut self, slot: Slot, array: Array) -> Result<()> {
        self.fleet.later(Deed::Write(self.number, slot, Some(array)))
    }

    fn forget(&mut self, slot: Slot) -> Result<()> {
        self.fleet.later(Deed::Write(self.number, slot, None))
    }
}

impl Drop for ShardSlots<'_> {
    fn drop(&mut self) {
        // It goes out with the next order, if there is one: with the last, everything is let go of.
        let _ = self.fleet.later(Deed::Drop(self.number));
    }
}
