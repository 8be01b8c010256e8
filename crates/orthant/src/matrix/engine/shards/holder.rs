//! The side of those who hold points.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

use super::{Answer, Blob, Call, Order};
use crate::bytes::{Bytes, bytes_of};
use crate::error::{Error, Result};
use crate::matrix::cut::Joining;
use crate::matrix::engine::streamed::{Beside, WINDOW};
use crate::matrix::engine::strip::Ready;
use crate::matrix::engine::{Arrays, Engine, Told, join};
use crate::matrix::passes::{Normed, Norms};
use crate::matrix::points::Packed;
use crate::matrix::seam::{AnyPass, Array, Slot, Source};
use crate::matrix::{Cut, Format, Shape, room, threads};

/// What a shard is, as told to whoever is to hold it.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// Its number.
    pub shard: usize,
    /// Tells this loading of it from others.
    pub loading: u64,
    /// Its blocks, of the cut of the whole shape.
    pub blocks: Range<usize>,
    /// The shape of the whole.
    pub shape: Shape,
    /// Weights of its points, where they have any.
    pub weights: Option<Vec<f64>>,
}
bytes_of!(Spec { shard, loading, blocks, shape, weights });

impl Bytes for Shape {
    fn write(&self, to: &mut Vec<u8>) {
        ((self.points, self.features), (self.nonzeros, (self.format == Format::F32, self.sparse))).write(to);
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        let ((points, features), (nonzeros, (single, sparse))) = Bytes::read(from)?;
        let format = if single { Format::F32 } else { Format::F64 };
        Some(Shape { points, features, nonzeros, format, sparse })
    }
}

/// A run of blocks of a larger whole.
struct Shard {
    loading: u64,
    /// Knows points by their numbers in the whole.
    source: Box<dyn Source>,
    engine: Engine,
    /// The arrays of everyone who asked for some.
    known: BTreeMap<u64, Arrays>,
    /// The last change.
    done: u64,
}

/// What is saved of a shard: the arrays of everyone who asked for some.
type Saved = Vec<(u64, Vec<(Slot, Array)>)>;

type Nodes = Vec<(Range<usize>, Told)>;

impl Shard {
    fn sweep(&mut self, slots: u64, ready: &Ready) -> Result<Nodes> {
        let arrays = self.known.entry(slots).or_default();
        nodes_told(&self.engine, &*self.source, ready, arrays)
    }

    /// Finds the norms of its points, which stay here.
    fn scale(&mut self, scale: f64) -> Result<Nodes> {
        (self.engine.scale, self.engine.norms2) = (scale, vec![]);
        let ready = Ready::new(&Norms, &self.engine.shape, vec![]);
        let told = nodes_told(&self.engine, &*self.source, &ready, &mut Arrays::default())?;
        let mut nodes = vec![];
        for (strips, (part, sums)) in told {
            let mut normed: Normed = *part.into_any().downcast().expect("norms tell norms");
            self.engine.norms2.append(&mut normed.norms2);
            nodes.push((strips, (Box::new(normed) as _, sums)));
        }
        Ok(nodes)
    }

    fn points(&self, wanted: &[usize]) -> Result<Blob> {
        let mut bytes = vec![];
        for &j in wanted {
            let mut entries = vec![];
            let one = self.source.points(j..j + 1)?;
            one.as_points().for_each(0, &mut |f, x| entries.push((f, x)));
            entries.write(&mut bytes);
        }
        Ok(Blob(bytes))
    }

    fn saved(&self) -> Blob {
        let arrays =
            |arrays: &Arrays| arrays.arrays.iter().map(|(slot, array)| (*slot, array.clone())).collect();
        let saved: Saved = self.known.iter().map(|(number, a)| (*number, arrays(a))).collect();
        Blob(saved.to_bytes())
    }

    fn restore(&mut self, saved: Saved) {
        let arrays = |arrays: Vec<(Slot, Array)>| Arrays { arrays: arrays.into_iter().collect() };
        self.known = saved.into_iter().map(|(number, a)| (number, arrays(a))).collect();
    }
}

fn nodes_told(engine: &Engine, source: &dyn Source, ready: &Ready, arrays: &mut Arrays) -> Result<Nodes> {
    let mut left = arrays.used(&ready.pass.slots(), engine.rows.len());
    // Windows of a shard are joined here as far as the tree allows.
    let mut joining = Joining::new(engine.cut.strips());
    let told = &mut |strips: Range<usize>, told: Told| {
        joining.push(strips.clone(), (strips, told), &mut |a: &mut (Range<usize>, Told), b| {
            a.0.end = b.0.end;
            join(&mut a.1, b.1);
        });
    };
    // Windows come in order.
    let beside: &mut Beside = &mut |rows, work| {
        let (now, rest) = std::mem::take(&mut left).into_iter().map(|a| a.split_at(rows.len())).unzip();
        left = rest;
        work(now)
    };
    let window = if source.in_memory() { usize::MAX } else { WINDOW };
    engine.sweep_streamed(source, window, ready, beside, told)?;
    Ok(joining.into_nodes().into_iter().map(|(_, node)| node).collect())
}

/// The shards that one worker has. It answers every order: with what was asked for, with what went wrong, or with the shards
/// that it does not have.
#[derive(Default)]
pub struct Holder {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    shards: BTreeMap<usize, Shard>,
    /// The last change, the shards that made it, and what they answered: an order may come twice.
    last: Option<(u64, Vec<usize>, Answer)>,
    /// Matrices of the last pass, whose memory the next one may use.
    packed: Vec<Packed>,
}

impl Holder {
    /// Takes a shard in; `source` knows its points by their numbers in the whole data.
    pub fn load(&self, spec: &[u8], source: Box<dyn Source>) -> Result<Vec<u8>> {
        let Spec { shard, loading, blocks, shape, weights } = Spec::from_bytes(spec).ok_or_else(strange)?;
        let cut = Cut::of(&shape);
        let rows = cut.points_of_blocks(&blocks);
        let engine = Engine { shape, cut, rows, scale: 1.0, weights, norms2: vec![] };
        let new = Shard { loading, source, engine, known: BTreeMap::new(), done: 0 };
        let mut state = self.state.lock().map_err(|_| strange())?;
        state.shards.insert(shard, new);
        state.last = None;
        Ok(Answer::default().to_bytes())
    }

    /// Lets go of a shard, if it was not loaded again since.
    pub fn unload(&self, spec: &[u8]) {
        if let (Ok(mut state), Some(Spec { shard, loading, .. })) =
            (self.state.lock(), Spec::from_bytes(spec))
            && state.shards.get(&shard).is_some_and(|s| s.loading == loading)
        {
            state.shards.remove(&shard);
            state.last = None;
        }
    }

    /// How many shards it has.
    pub fn shards(&self) -> usize {
        self.state.lock().map_or(0, |state| state.shards.len())
    }

    /// The answer of somebody who was to load a shard and did not.
    pub fn not_loaded(spec: &[u8]) -> Vec<u8> {
        let shards = Spec::from_bytes(spec).map_or(vec![], |spec| vec![spec.shard]);
        Answer::missing(shards).to_bytes()
    }

    /// Answers an order, to which these other answers belong.
    pub fn answer(&self, order: &[u8], inputs: &[&[u8]]) -> Vec<u8> {
        let answer = Order::from_bytes(order).ok_or_else(strange).and_then(|order| {
            let mut state = self.state.lock().map_err(|_| strange())?;
            state.answer(order, inputs)
        });
        answer.unwrap_or_else(|error| Answer::failed(&error).to_bytes())
    }
}

fn strange() -> Error {
    Error::Computation("an order that makes no sense reached a part of the data".into())
}

impl State {
    fn answer(&mut self, order: Order, inputs: &[&[u8]]) -> Result<Vec<u8>> {
        let read = || inputs.iter().map(|bytes| Answer::from_bytes(bytes).ok_or_else(strange));
        match order {
            Order::Merge => Ok(Answer::of_all(read().collect::<Result<Vec<_>>>()?).to_bytes()),
            Order::Copy => inputs.first().map(|bytes| bytes.to_vec()).ok_or_else(strange),
            Order::Confirm => {
                let all = Answer::of_all(read().collect::<Result<Vec<_>>>()?);
                Ok(Answer { pieces: vec![], ..all }.to_bytes())
            }
            Order::Do(shards, calls) => {
                let last = calls.last().map_or(0, |(number, _)| *number);
                if let Some((number, known, answer)) = &self.last
                    && (*number, known) == (last, &shards)
                    && calls.last().is_some_and(|(_, call)| changes(call))
                {
                    return Ok(answer.to_bytes());
                }
                let saved = Answer::of_all(read().collect::<Result<Vec<_>>>()?).pieces;
                let changed = calls.last().is_some_and(|(_, call)| changes(call));
                let told = self.perform(shards.clone(), calls, saved)?;
                let answer = told.to_bytes();
                let done = Some((last, shards, told));
                let old = if changed { std::mem::replace(&mut self.last, done) } else { done };
                let nodes = old.into_iter().flat_map(|(_, _, old)| old.nodes);
                nodes.for_each(|(_, (_, sums))| room::give(sums));
                Ok(answer)
            }
        }
    }

    /// All calls in turn; shards that do not have what a call builds upon are missing.
    fn perform(
        &mut self,
        shards: Vec<usize>,
        calls: Vec<(u64, Call)>,
        saved: Vec<(usize, Blob)>,
    ) -> Result<Answer> {
        let (mut here, mut missing): (Vec<usize>, Vec<usize>) =
            shards.into_iter().partition(|shard| self.shards.contains_key(shard));
        let mut answer = Answer::default();
        let count = calls.len();
        for (at, (number, call)) in calls.into_iter().enumerate() {
            let is_last = at + 1 == count;
            let (mut now, mut lost) = (vec![], vec![]);
            for &shard in &here {
                let done = self.shards[&shard].done;
                match &call {
                    Call::Restore(_) => now.push(shard),
                    // A change that was made before has nothing to answer any more.
                    call if changes(call) && done >= number => {
                        if is_last {
                            lost.push(shard);
                        }
                    }
                    call if changes(call) && done + 1 == number => now.push(shard),
                    call if !changes(call) && done == number => now.push(shard),
                    _ => lost.push(shard),
                }
            }
            here.retain(|shard| !lost.contains(shard));
            missing.append(&mut lost);
            let told = self.one(&now, number, call, &saved)?;
            if is_last {
                answer = told;
            }
        }
        answer.missing = missing;
        Ok(answer)
    }

    fn one(&mut self, shards: &[usize], number: u64, call: Call, saved: &[(usize, Blob)]) -> Result<Answer> {
        let pass = match &call {
            Call::Sweep(_, pass) => Some(pass.here().ok_or_else(strange)?),
            _ => None,
        };
        let packed = std::mem::take(&mut self.packed);
        let mut mine: Vec<(usize, &mut Shard)> =
            self.shards.iter_mut().filter(|(n, _)| shards.contains(n)).map(|(n, s)| (*n, s)).collect();
        let mut answer = Answer::default();
        match &call {
            Call::Sweep(..) | Call::Scale(_) => {
                // As many at once as there are threads: what each tells takes memory until it is joined.
                let threads = rayon::current_num_threads();
                let count = mine.first().map_or(0, |(_, shard)| shard.engine.cut.strips());
                // What the columns are packed into is the same for all shards.
                let shape = mine.first().map(|(_, shard)| shard.engine.shape);
                let ready = pass.zip(shape).map(|(pass, shape)| Ready::new(pass, &shape, packed));
                while !mine.is_empty() {
                    let some = mine.drain(..threads.min(mine.len())).collect();
                    let told =
                        threads::in_order(some, |(_, shard): (usize, &mut Shard)| match (&call, &ready) {
                            (Call::Sweep(slots, _), Some(ready)) => shard.sweep(*slots, ready),
                            (Call::Scale(scale), _) => shard.scale(*scale),
                            _ => Ok(vec![]),
                        });
                    for nodes in told {
                        let name = pass.map_or(AnyPass::name(&Norms), |pass| pass.name());
                        let (pass, nodes) = (name.into(), nodes?);
                        answer.merge(Answer { pass, count, nodes, ..Answer::default() });
                    }
                }
                self.packed = ready.map_or(vec![], Ready::into_packed);
            }
            Call::Write(slots, slot, arrays) => {
                for (n, shard) in &mut mine {
                    let array = arrays.iter().find(|(to, _)| to == n).ok_or_else(strange)?.1.clone();
                    let known = shard.known.entry(*slots).or_default();
                    match array {
                        Some(array) => known.set(*slot, array),
                        None => known.forget(*slot),
                    }
                }
            }
            Call::Drop(slots) => mine.iter_mut().for_each(|(_, shard)| {
                shard.known.remove(slots);
            }),
            Call::Read(slots, slot) => {
                let array = |shard: &Shard| shard.known.get(slots).and_then(|a| a.get(*slot)).cloned();
                answer.pieces = mine.iter().map(|(n, s)| (*n, Blob(array(s).to_bytes()))).collect();
            }
            Call::Points(points) => {
                for (n, shard) in &mine {
                    let wanted = points.iter().find(|(of, _)| of == n).ok_or_else(strange)?;
                    answer.pieces.push((*n, shard.points(&wanted.1)?));
                }
            }
            Call::Save => answer.pieces = mine.iter().map(|(n, s)| (*n, s.saved())).collect(),
            Call::Restore(carried) => {
                for (n, shard) in &mut mine {
                    let Some((_, blob)) = carried.iter().chain(saved).find(|(of, _)| of == n) else {
                        return Err(Error::Computation(format!(
                            "what was saved of part {n} of the data is lost: too many workers left at once"
                        )));
                    };
                    shard.restore(Saved::from_bytes(&blob.0).ok_or_else(strange)?);
                }
            }
        }
        if changes(&call) {
            self.shards.iter_mut().filter(|(n, _)| shards.contains(n)).for_each(|(_, s)| s.done = number);
        }
        Ok(answer)
    }
}

/// Whether a call changes what a shard holds. A pass without slots does not.
fn changes(call: &Call) -> bool {
    match call {
        Call::Sweep(slots, _) => *slots != 0,
        Call::Scale(_) | Call::Write(..) | Call::Drop(_) | Call::Restore(_) => true,
        Call::Read(..) | Call::Points(_) | Call::Save => false,
    }
}
