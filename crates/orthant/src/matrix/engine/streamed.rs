//! Points that are asked of their source block by block, in every pass anew: data that need not fit into memory. While some
//! blocks are computed with, the next are read.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use super::beside::{Arrays, Budget, Room};
use super::facts::check_weights;
use super::strip::Ready;
use super::{ArrayMut, Engine, Piece, Told, join, open};
use crate::error::{Error, Result};
use crate::matrix::cut::{Joining, nodes};
use crate::matrix::points::{AnyPoints, Packed};
use crate::matrix::seam::{AnyPart, AnyPass, Array, Data, Facts, Slot, Slots, Source, Use, check_points};
use crate::matrix::{Cut, Format, Mat, Shape};

/// Bytes that are read at a time at most; three times as many are in memory at once.
pub(super) const WINDOW: usize = 32 << 20;
/// Not less than this, or the disk is asked too often.
const LEAST: usize = 1 << 20;

/// A source, and what the passes need to know about each of its points.
struct Streamed<S> {
    source: S,
    engine: Engine,
    facts: Facts,
    window: usize,
    budget: Budget,
    room: Arc<Room>,
}

/// Opens a source for clustering. Its points are read in every pass, and never all of them are in memory.
pub fn stream<'a, S: Source + 'a>(source: S) -> Result<Box<dyn Data + 'a>> {
    stream_within(source, Budget::unlimited())
}

/// The same within a budget of memory: arrays beside the points that do not fit it lie in files, and methods that work on
/// samples choose them accordingly.
pub fn stream_within<'a, S: Source + 'a>(source: S, budget: Budget) -> Result<Box<dyn Data + 'a>> {
    let (shape, weights) = (source.shape(), source.weights());
    if let Some(weights) = &weights {
        check_weights(weights, shape.points)?;
    }
    let window = (budget.bytes / 16).clamp(LEAST, WINDOW);
    // Norms and weights of all points; labels and strengths of the answer; what is read ahead.
    let taken = shape.points.saturating_mul(8 + 12 + if weights.is_some() { 16 } else { 0 }) + 4 * window;
    let room = Room::new(budget.bytes.saturating_sub(taken) / 2, budget.folder.clone());
    let cut = Cut::of(&shape);
    let mut engine = Engine { shape, cut, rows: 0..shape.points, scale: 1.0, weights, norms2: vec![] };
    let facts = engine.meet_streamed(&source, window)?;
    Ok(Box::new(Streamed { source, engine, facts, window, budget, room }))
}

/// The part of the arrays of a pass that belongs to some points, counted from the first that is here.
pub(super) type Beside<'b> =
    dyn FnMut(&Range<usize>, &mut dyn FnMut(Vec<ArrayMut>) -> Result<()>) -> Result<()> + 'b;

impl Engine {
    /// One pass over the points here, which `source` gives by their numbers in the whole data.
    pub(super) fn sweep_streamed(
        &self,
        source: &dyn Source,
        window: usize,
        ready: &Ready,
        arrays: &mut Beside,
        told: &mut dyn FnMut(Range<usize>, Told),
    ) -> Result<()> {
        let Engine { cut, shape, .. } = self;
        let strips = cut.strips_of(&self.rows);
        let each = (shape.nonzeros / shape.points.max(1)).max(1) * bytes_each(shape) * cut.strip * cut.block;
        let most = (window / each.max(1)).clamp(1, cut.blocks().max(1));
        let blocks = (most + 1).next_power_of_two() / 2;
        // Whole nodes of the tree, of so many blocks at the most.
        let windows: Vec<Range<usize>> = nodes(strips, cut.strips())
            .into_iter()
            .flat_map(|node| {
                let step = blocks * cut.block;
                (node.start..node.end).step_by(step).map(move |from| from..(from + step).min(node.end))
            })
            .collect();
        let here = |rows: &Range<usize>| rows.start - self.rows.start..rows.end - self.rows.start;
        if !ready.pass.reads_points() {
            for window in windows {
                let rows = here(&cut.points_of(&window));
                arrays(&rows, &mut |now| {
                    let found = self.sweep(ready, window.clone(), now, &|_| unread())?;
                    told(window.clone(), found);
                    Ok(())
                })?;
            }
            return Ok(());
        }
        let mut compute = |window: Range<usize>, read: &AnyPoints<'_>| {
            let rows = cut.points_of(&window);
            let piece = |_| Ok(Piece { points: read.as_points(), first: rows.start, turned: None });
            arrays(&here(&rows), &mut |now| {
                let found = self.sweep(ready, window.clone(), now, &piece)?;
                told(window.clone(), found);
                Ok(())
            })
        };
        // There is nothing to be read ahead.
        if let [window] = &windows[..] {
            let read = self.read(source, cut.points_of(window))?;
            compute(window.clone(), &read)?;
            source.take_back(read);
            return Ok(());
        }
        std::thread::scope(|scope| {
            let (send, receive) = sync_channel::<Result<AnyPoints<'_>>>(1);
            let reading = windows.clone();
            scope.spawn(move || {
                for window in reading {
                    let read = self.read(source, cut.points_of(&window));
                    let failed = read.is_err();
                    // Nobody listens any more after an error on the other side.
                    if send.send(read).is_err() || failed {
                        return;
                    }
                }
            });
            for window in windows {
                let read = receive
                    .recv()
                    .map_err(|_| Error::Computation("the reading of the data ended".into()))??;
                compute(window, &read)?;
                source.take_back(read);
            }
            Ok(())
        })
    }

    /// Some points, which must be what the source has promised.
    fn read<'s>(&self, source: &'s dyn Source, rows: Range<usize>) -> Result<AnyPoints<'s>> {
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
    fn meet_streamed(&mut self, source: &dyn Source, window: usize) -> Result<Facts> {
        use super::facts::{facts, scale_of};
        use crate::matrix::passes::{Look, Looked, Normed, Norms};
        let looked: Looked = self.one(source, window, &Look { features: self.shape.features })?;
        self.scale = scale_of(looked.largest, &self.shape);
        let mut normed: Normed = self.one(source, window, &Norms)?;
        self.norms2 = std::mem::take(&mut normed.norms2);
        Ok(facts(looked, &normed, self.scale, self.weights.as_deref(), self.shape.points))
    }

    /// A pass without arrays.
    fn one<P: crate::matrix::seam::Pass>(
        &self,
        source: &dyn Source,
        window: usize,
        pass: &P,
    ) -> Result<P::Part> {
        let mut joining = Joining::new(self.cut.strips());
        let told = &mut |strips, told| joining.push(strips, told, &mut join);
        let ready = Ready::new(pass, &self.shape, vec![]);
        self.sweep_streamed(source, window, &ready, &mut |_, work| work(vec![]), told)?;
        let told = joining.end(&mut join).map_or_else(|| AnyPass::empty(pass), |told| told.0);
        Ok(*told.into_any().downcast().expect("a pass tells parts of its own type"))
    }
}

/// Bytes of an entry in memory.
fn bytes_each(shape: &Shape) -> usize {
    let number = if shape.format == Format::F32 { 4 } else { 8 };
    if shape.sparse { number + 4 } else { number }
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

    fn select(&self, points: &[usize]) -> Result<Box<dyn Data>> {
        check_points(points, self.engine.shape.points)?;
        let weights = self.weights().map(|w| points.iter().map(|&j| w[j]).collect());
        open(pick(&self.source, points)?, weights)
    }

    fn fits(&self) -> Option<usize> {
        sample_within(&self.engine.shape, self.budget.bytes)
    }

    fn entries(&self, point: usize, f: &mut dyn FnMut(usize, f64)) -> Result<()> {
        check_points(&[point], self.engine.shape.points)?;
        let scale = self.engine.scale;
        let one = self.source.points(point..point + 1)?;
        one.as_points().for_each(0, &mut |feature, x| f(feature, x * scale));
        Ok(())
    }

    fn slots(&self) -> Result<Box<dyn Slots + '_>> {
        let Streamed { source, engine, window, room, .. } = self;
        let arrays = Arrays::new(engine.rows.len(), room.clone());
        Ok(Box::new(StreamedSlots { source, engine, window: *window, arrays, packed: vec![] }))
    }
}

/// How many points a sample may have within so many bytes; none where they are enough for all.
pub(super) fn sample_within(shape: &Shape, bytes: usize) -> Option<usize> {
    // It is there twice while it is put in order, and later beside V, D and Λ of its points.
    let each = (shape.nonzeros / shape.points.max(1)).max(1);
    let fits = bytes / 2 / (2 * each * bytes_each(shape) + 512);
    (fits < shape.points).then_some(fits)
}

/// Some points of a source in the given order, in memory: those that lie close together are read together.
pub fn pick(source: &dyn Source, points: &[usize]) -> Result<AnyPoints<'static>> {
    let shape = source.shape();
    let each = (shape.nonzeros / shape.points.max(1)).max(1) * bytes_each(&shape);
    let (gap, most) = ((64 << 10) / each.max(1) + 1, (4 * LEAST / each.max(1)).max(1));
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by_key(|&at| points[at]);
    let mut chosen: Vec<AnyPoints<'static>> = vec![];
    let mut from = 0;
    while from < order.len() {
        let first = points[order[from]];
        let mut to = from + 1;
        while to < order.len()
            && points[order[to]] - points[order[to - 1]] <= gap
            && points[order[to]] - first < most
        {
            to += 1;
        }
        let read = source.points(first..points[order[to - 1]] + 1)?;
        let wanted: Vec<usize> = order[from..to].iter().map(|&at| points[at] - first).collect();
        chosen.push(read.as_points().select(&wanted));
        source.take_back(read);
        from = to;
    }
    let mut place = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, &asked)| place[asked] = at);
    AnyPoints::joined(chosen, &shape, &place)
}

struct StreamedSlots<'a> {
    source: &'a dyn Source,
    engine: &'a Engine,
    window: usize,
    arrays: Arrays,
    /// Matrices of the last pass, whose memory the next one may use.
    packed: Vec<Packed>,
}

impl Slots for StreamedSlots<'_> {
    fn sweep_any(&mut self, pass: &dyn AnyPass) -> Result<(Box<dyn AnyPart>, Mat)> {
        let StreamedSlots { source, engine, window, arrays, packed } = self;
        let uses: Vec<Use> = pass.slots();
        arrays.prepare(&uses)?;
        let mut joining = Joining::new(engine.cut.strips());
        let beside: &mut Beside = &mut |rows, work| arrays.window(&uses, rows, work);
        let ready = Ready::new(pass, &engine.shape, std::mem::take(packed));
        engine.sweep_streamed(*source, *window, &ready, beside, &mut |strips, told| {
            joining.push(strips, told, &mut join);
        })?;
        *packed = ready.into_packed();
        let (part, sums) = joining.end(&mut join).unwrap_or_else(|| (pass.empty(), vec![]));
        Ok((part, super::sums_of(&engine.shape, sums, pass.adds().width())))
    }

    fn read(&mut self, slot: Slot) -> Result<Option<Array>> {
        self.arrays.get(slot)
    }

    fn write(&mut self, slot: Slot, array: Array) -> Result<()> {
        self.arrays.set(slot, array)
    }

    fn forget(&mut self, slot: Slot) -> Result<()> {
        self.arrays.forget(slot);
        Ok(())
    }

    fn with_numbers(&mut self, slot: Slot, look: &mut dyn FnMut(&[f64])) -> Result<()> {
        match self.arrays.look(slot) {
            Some(numbers) => look(numbers),
            None => {
                if let Some(Array::Numbers(_, numbers)) = self.arrays.get(slot)? {
                    look(&numbers);
                }
            }
        }
        Ok(())
    }
}
