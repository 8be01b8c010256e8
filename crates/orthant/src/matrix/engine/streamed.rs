//! Points that are asked of their source block by block, in every pass anew: data that need not fit into memory. While some
//! blocks are computed with, the next are read.

use std::ops::Range;
use std::sync::mpsc::sync_channel;

use super::facts::check_weights;
use super::{Arrays, Engine, Piece, Told, join, open};
use crate::error::{Error, Result};
use crate::matrix::cut::{Joining, nodes};
use crate::matrix::points::{AnyPoints, Packed};
use crate::matrix::seam::{AnyPart, AnyPass, Array, Data, Facts, Slot, Slots, Source};
use crate::matrix::{Cut, Mat, Shape};

/// Bytes that are read at a time; three times as many are in memory at once.
const WINDOW: usize = 32 << 20;

/// A source, and what the passes need to know about each of its points.
struct Streamed<S> {
    source: S,
    engine: Engine,
    facts: Facts,
}

/// Opens a source for clustering. Its points are read in every pass, and never all of them are in memory.
pub fn stream<'a, S: Source + 'a>(source: S) -> Result<Box<dyn Data + 'a>> {
    let (shape, weights) = (source.shape(), source.weights());
    if let Some(weights) = &weights {
        check_weights(weights, shape.points)?;
    }
    let cut = Cut::of(&shape);
    let mut engine = Engine { shape, cut, rows: 0..shape.points, scale: 1.0, weights, norms2: vec![] };
    let facts = engine.meet_streamed(&source)?;
    Ok(Box::new(Streamed { source, engine, facts }))
}

impl Engine {
    /// One pass over the points here, which `source` gives by their numbers in the whole data.
    pub(super) fn sweep_streamed(
        &self,
        source: &dyn Source,
        pass: &dyn AnyPass,
        arrays: Vec<super::ArrayMut>,
        packed: &mut Vec<Packed>,
        told: &mut dyn FnMut(Range<usize>, Told),
    ) -> Result<()> {
        let Engine { cut, shape, .. } = self;
        let strips = cut.strips_of(&self.rows);
        if !pass.reads_points() {
            return self.each_node(nodes(strips, cut.strips()), pass, arrays, packed, &|_| unread(), told);
        }
        let each = (shape.nonzeros / shape.points.max(1)).max(1) * 12 * cut.strip * cut.block;
        let blocks = ((WINDOW / each.max(1)).max(1) + 1).next_power_of_two() / 2;
        // Whole nodes of the tree, of so many blocks at the most.
        let windows: Vec<Range<usize>> = nodes(strips, cut.strips())
            .into_iter()
            .flat_map(|node| {
                let step = blocks * cut.block;
                (node.start..node.end).step_by(step).map(move |from| from..(from + step).min(node.end))
            })
            .collect();
        std::thread::scope(|scope| {
            let (send, receive) = sync_channel::<Result<Vec<AnyPoints<'_>>>>(1);
            let reading = windows.clone();
            scope.spawn(move || {
                for window in reading {
                    let blocks = window.start / cut.block..window.end.div_ceil(cut.block);
                    let read = blocks.map(|block| self.read(source, block)).collect::<Result<Vec<_>>>();
                    let failed = read.is_err();
                    // Nobody listens any more after an error on the other side.
                    if send.send(read).is_err() || failed {
                        return;
                    }
                }
            });
            let mut left = arrays;
            for window in windows {
                let read = receive
                    .recv()
                    .map_err(|_| Error::Computation("the reading of the data ended".into()))??;
                let count = cut.points_of(&window).len();
                let (now, rest) = left.into_iter().map(|array| array.split_at(count)).unzip();
                left = rest;
                let first = window.start / cut.block;
                let piece = |block: usize| {
                    let first_point = cut.points_of_blocks(&(block..block + 1)).start;
                    Ok(Piece { points: read[block - first].as_points(), first: first_point, turned: None })
                };
                told(window.clone(), self.sweep(pass, window, now, packed, &piece)?);
            }
            Ok(())
        })
    }

    /// Several nodes one after the other.
    fn each_node(
        &self,
        nodes: Vec<Range<usize>>,
        pass: &dyn AnyPass,
        arrays: Vec<super::ArrayMut>,
        packed: &mut Vec<Packed>,
        piece: &(dyn Fn(usize) -> Result<Piece<'static>> + Sync),
        told: &mut dyn FnMut(Range<usize>, Told),
    ) -> Result<()> {
        let mut left = arrays;
        for node in nodes {
            let count = self.cut.points_of(&node).len();
            let (now, rest) = left.into_iter().map(|array| array.split_at(count)).unzip();
            left = rest;
            let found = self.sweep(pass, node.clone(), now, packed, &|block| piece(block))?;
            told(node, found);
        }
        Ok(())
    }

    /// One block, which must be what the source has promised.
    fn read<'s>(&self, source: &'s dyn Source, block: usize) -> Result<AnyPoints<'s>> {
        let rows = self.cut.points_of_blocks(&(block..block + 1));
        let points = source.points(rows.clone())?;
        let (found, want) = (points.shape(), self.shape);
        if (found.points, found.features, found.sparse, found.format)
            != (rows.len(), want.features, want.sparse, want.format)
        {
            return Err(Error::Data(format!(
                "the source gave {} points of {} features for points {} to {}, whose shape says otherwise",
                found.points, found.features, rows.start, rows.end
            )));
        }
        Ok(points)
    }

    /// Both looks at a source.
    fn meet_streamed(&mut self, source: &dyn Source) -> Result<Facts> {
        use super::facts::{facts, scale_of};
        use crate::matrix::passes::{Look, Looked, Normed, Norms};
        let looked: Looked = self.one(source, &Look { features: self.shape.features })?;
        self.scale = scale_of(looked.largest, &self.shape);
        let mut normed: Normed = self.one(source, &Norms)?;
        self.norms2 = std::mem::take(&mut normed.norms2);
        Ok(facts(looked, &normed, self.scale, self.weights.as_deref(), self.shape.points))
    }

    /// A pass without arrays.
    fn one<P: crate::matrix::seam::Pass>(&self, source: &dyn Source, pass: &P) -> Result<P::Part> {
        let mut joining = Joining::new();
        let told = &mut |strips, told| joining.push(strips, told, &mut join);
        self.sweep_streamed(source, pass, vec![], &mut vec![], told)?;
        let told = joining.end(&mut join).map_or_else(|| AnyPass::empty(pass), |told| told.0);
        Ok(*told.into_any().downcast().expect("a pass tells parts of its own type"))
    }
}

fn unread() -> Result<Piece<'static>> {
    unreachable!("the pass does not look at points")
}

impl<S: Source> Data for Streamed<S> {
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
        false
    }

    fn select(&self, points: &[usize]) -> Result<Box<dyn Data + '_>> {
        let weights = self.weights().map(|w| points.iter().map(|&j| w[j]).collect());
        let mut chosen = vec![];
        for &j in points {
            let mut entries = vec![];
            self.source.points(j..j + 1)?.as_points().for_each(0, &mut |f, x| entries.push((f, x)));
            chosen.push(entries);
        }
        open(AnyPoints::of_entries(chosen, &self.engine.shape)?, weights)
    }

    fn entries(&self, point: usize, f: &mut dyn FnMut(usize, f64)) -> Result<()> {
        let scale = self.engine.scale;
        let one = self.source.points(point..point + 1)?;
        one.as_points().for_each(0, &mut |feature, x| f(feature, x * scale));
        Ok(())
    }

    fn slots(&self) -> Result<Box<dyn Slots + '_>> {
        let Streamed { source, engine, .. } = self;
        Ok(Box::new(StreamedSlots { source, engine, arrays: Arrays::default(), packed: vec![] }))
    }
}

struct StreamedSlots<'a> {
    source: &'a dyn Source,
    engine: &'a Engine,
    arrays: Arrays,
    /// Matrices of the last pass, whose memory the next one may use.
    packed: Vec<Packed>,
}

impl Slots for StreamedSlots<'_> {
    fn sweep_any(&mut self, pass: &dyn AnyPass) -> Result<(Box<dyn AnyPart>, Mat)> {
        let StreamedSlots { source, engine, arrays, packed } = self;
        let arrays = arrays.used(&pass.slots(), engine.rows.len());
        let mut joining = Joining::new();
        engine.sweep_streamed(*source, pass, arrays, packed, &mut |strips, told| {
            joining.push(strips, told, &mut join);
        })?;
        let (part, sums) = joining.end(&mut join).unwrap_or_else(|| (pass.empty(), vec![]));
        Ok((part, super::sums_of(&engine.shape, sums, pass.adds().width())))
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
}
