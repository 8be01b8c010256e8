//! Points that others hold: each a run of blocks, reached by bytes alone. Passes go out, parts come back, and are joined in
//! the one tree; facts about all of the data are told to everyone before anything is computed.
//!
//! A [`Shard`] answers calls for the points it has; a [`Peer`] carries a call to one, wherever it is. Slots live with the
//! points.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::facts::{check_weights, facts as joined_facts, scale_of};
use super::{Arrays, Engine, Told, join, open};
use crate::bytes::Bytes;
use crate::error::{Error, Result};
use crate::matrix::cut::Joining;
use crate::matrix::passes::{self, Look, Looked, Normed, Norms};
use crate::matrix::points::{AnyPoints, Packed};
use crate::matrix::seam::{AnyPart, AnyPass, Array, Data, Facts, Slot, Slots, Source};
use crate::matrix::{Cut, Mat, Shape, threads};

/// The way to a shard.
pub trait Peer: Send + Sync {
    /// Carries a call there and the answer back.
    fn call(&self, call: &[u8]) -> Result<Vec<u8>>;
}

/// What is asked of a shard.
enum Call {
    /// To use this scale, and to find the norms of its points.
    Scale(f64),
    /// One pass over its points and the arrays with this number.
    Sweep(u64, Vec<u8>),
    /// What a slot of the arrays with this number holds.
    Read(u64, Slot),
    /// To fill a slot.
    Write(u64, Slot, Option<Array>),
    /// To drop the arrays with this number.
    Drop(u64),
    /// Some points, by their numbers in the whole data.
    Points(Vec<usize>),
}

impl Bytes for Call {
    fn write(&self, to: &mut Vec<u8>) {
        match self {
            Call::Scale(scale) => (0u8, *scale).write(to),
            Call::Sweep(slots, pass) => {
                (1u8, *slots).write(to);
                pass.write(to);
            }
            Call::Read(slots, slot) => (2u8, (*slots, *slot)).write(to),
            Call::Write(slots, slot, array) => {
                (3u8, (*slots, *slot)).write(to);
                array.write(to);
            }
            Call::Drop(slots) => (4u8, *slots).write(to),
            Call::Points(points) => {
                5u8.write(to);
                points.write(to);
            }
        }
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        Some(match u8::read(from)? {
            0 => Call::Scale(Bytes::read(from)?),
            1 => Call::Sweep(Bytes::read(from)?, Bytes::read(from)?),
            2 => Call::Read(Bytes::read(from)?, Bytes::read(from)?),
            3 => Call::Write(Bytes::read(from)?, Bytes::read(from)?, Bytes::read(from)?),
            4 => Call::Drop(Bytes::read(from)?),
            5 => Call::Points(Bytes::read(from)?),
            _ => return None,
        })
    }
}

/// A run of blocks of a larger whole, from a source that knows points by their numbers in it.
pub struct Shard<S> {
    source: S,
    /// What changes when the scale is told, and the arrays of everyone who asked for some.
    state: Mutex<(Engine, BTreeMap<u64, Arrays>)>,
}

impl<S: Source> Shard<S> {
    /// The blocks `blocks` of the data that `source` has; `weights` are those of their points.
    pub fn new(source: S, blocks: Range<usize>) -> Result<Self> {
        let shape = source.shape();
        let cut = Cut::of(&shape);
        let rows = cut.points_of_blocks(&blocks);
        let weights = source.weights();
        if let Some(weights) = &weights {
            check_weights(weights, shape.points)?;
        }
        let weights = weights.map(|w| w[rows.clone()].to_vec());
        let engine = Engine { shape, cut, rows, scale: 1.0, weights, norms2: vec![] };
        Ok(Shard { source, state: Mutex::new((engine, BTreeMap::new())) })
    }

    /// Answers a call.
    pub fn answer(&self, call: &[u8]) -> Result<Vec<u8>> {
        let strange = || Error::Computation("a call that makes no sense reached a part of the data".into());
        let mut state = self.state.lock().map_err(|_| strange())?;
        let (engine, known) = &mut *state;
        match Call::from_bytes(call).ok_or_else(strange)? {
            Call::Scale(scale) => {
                (engine.scale, engine.norms2) = (scale, vec![]);
                let told = nodes_told(engine, &self.source, &Norms, &mut Arrays::default())?;
                let mut norms2 = vec![];
                for (_, (part, _)) in &told {
                    let mut bytes = vec![];
                    part.write(&mut bytes);
                    norms2.extend(Normed::from_bytes(&bytes).ok_or_else(strange)?.norms2);
                }
                engine.norms2 = norms2;
                Ok(write_told(told))
            }
            Call::Sweep(slots, pass) => {
                let pass = passes::read(&pass).ok_or_else(strange)?;
                let arrays = known.entry(slots).or_default();
                Ok(write_told(nodes_told(engine, &self.source, &*pass, arrays)?))
            }
            Call::Read(slots, slot) => Ok(known.entry(slots).or_default().get(slot).cloned().to_bytes()),
            Call::Write(slots, slot, array) => {
                let arrays = known.entry(slots).or_default();
                match array {
                    Some(array) => arrays.set(slot, array),
                    None => arrays.forget(slot),
                }
                Ok(vec![])
            }
            Call::Drop(slots) => {
                known.remove(&slots);
                Ok(vec![])
            }
            Call::Points(points) => {
                let mut bytes = vec![];
                for j in points {
                    let mut entries = vec![];
                    let one = self.source.points(j..j + 1)?;
                    one.as_points().for_each(0, &mut |f, x| entries.push((f, x)));
                    entries.write(&mut bytes);
                }
                Ok(bytes)
            }
        }
    }
}

type Nodes = Vec<(Range<usize>, Told)>;

fn nodes_told(
    engine: &Engine,
    source: &dyn Source,
    pass: &dyn AnyPass,
    arrays: &mut Arrays,
) -> Result<Nodes> {
    let mut nodes = vec![];
    let arrays = arrays.used(&pass.slots(), engine.rows.len());
    let mut packed: Vec<Packed> = vec![];
    // Windows of a shard are joined here as far as the tree allows.
    let mut joining = Joining::new();
    let told = &mut |strips: Range<usize>, told: Told| {
        joining.push(strips.clone(), (strips, told), &mut |a: &mut (Range<usize>, Told), b| {
            a.0.end = b.0.end;
            join(&mut a.1, b.1);
        });
    };
    engine.sweep_streamed(source, pass, arrays, &mut packed, told)?;
    nodes.extend(joining.into_nodes().into_iter().map(|(_, node)| node));
    Ok(nodes)
}

fn write_told(nodes: Nodes) -> Vec<u8> {
    let mut bytes = nodes.len().to_bytes();
    for (strips, (part, sums)) in nodes {
        strips.write(&mut bytes);
        part.write(&mut bytes);
        sums.write(&mut bytes);
    }
    bytes
}

fn read_told(pass: &dyn AnyPass, mut bytes: &[u8]) -> Option<Nodes> {
    let from = &mut bytes;
    (0..usize::read(from)?)
        .map(|_| Some((Bytes::read(from)?, (pass.read_part(from)?, Bytes::read(from)?))))
        .collect()
}

/// Data that several shards hold together.
struct Shards<'a> {
    peers: Vec<Box<dyn Peer + 'a>>,
    shape: Shape,
    /// The points of each.
    rows: Vec<Range<usize>>,
    weights: Option<Vec<f64>>,
    facts: Facts,
    /// Numbers for arrays.
    next: AtomicU64,
}

/// Opens data of which each peer holds a run of blocks, in order and without gaps; `ends` says where each run ends, in
/// blocks of [`Cut::of`] the whole shape.
pub fn shards<'a>(
    peers: Vec<Box<dyn Peer + 'a>>,
    ends: &[usize],
    shape: Shape,
    weights: Option<Vec<f64>>,
) -> Result<Box<dyn Data + 'a>> {
    let cut = Cut::of(&shape);
    let mut from = 0;
    let mut rows = vec![];
    for &end in ends {
        if end < from || end > cut.blocks() {
            return Err(Error::Data(format!(
                "parts of the data end at block {end}, the one before at {from}"
            )));
        }
        rows.push(cut.points_of_blocks(&(from..end)));
        from = end;
    }
    if rows.len() != peers.len() || from != cut.blocks() {
        return Err(Error::Data(format!("the parts hold {from} of {} blocks", cut.blocks())));
    }
    if let Some(weights) = &weights {
        check_weights(weights, shape.points)?;
    }
    let facts = Facts {
        scale: 1.0,
        largest: 0.0,
        norm2: 0.0,
        usable_weight: 0.0,
        zero_points: vec![],
        weightless_points: vec![],
        usable_points: 0,
        faint: None,
        zero_features: 0,
        not_finite: None,
        negative: None,
        weighted: weights.is_some(),
        digest: 0,
    };
    let mut all = Shards { peers, shape, rows, weights, facts, next: AtomicU64::new(1) };
    let (looked, _) = all.sweep(0, &Look { features: shape.features })?;
    let looked: Looked = *looked.into_any().downcast().expect("a look tells what it saw");
    let scale = scale_of(looked.largest, &shape);
    let answers = all.ask(|_| Call::Scale(scale))?;
    let (normed, _) = all.joined(&Norms, answers)?;
    let normed: Normed = *normed.into_any().downcast().expect("norms tell norms");
    all.facts = joined_facts(looked, &normed, scale, all.weights.as_deref(), shape.points);
    Ok(Box::new(all))
}

impl Shards<'_> {
    /// A call to every shard, all at once.
    fn ask(&self, call: impl Fn(usize) -> Call) -> Result<Vec<Vec<u8>>> {
        let calls = self
            .peers
            .iter()
            .enumerate()
            .map(|(at, peer)| (&**peer as &dyn Peer, call(at).to_bytes()))
            .collect();
        threads::in_order(calls, |(peer, call): (&dyn Peer, Vec<u8>)| peer.call(&call)).into_iter().collect()
    }

    fn sweep(&self, slots: u64, pass: &dyn AnyPass) -> Result<Told> {
        let bytes = pass.write();
        self.joined(pass, self.ask(|_| Call::Sweep(slots, bytes.clone()))?)
    }

    fn joined(&self, pass: &dyn AnyPass, answers: Vec<Vec<u8>>) -> Result<Told> {
        let mut joining = Joining::new();
        for answer in answers {
            for (strips, told) in read_told(pass, &answer).ok_or_else(strange)? {
                joining.push(strips, told, &mut join);
            }
        }
        Ok(joining.end(&mut join).unwrap_or_else(|| (pass.empty(), vec![])))
    }

    /// Entries of some points as they were given, in the order asked for.
    fn fetch(&self, points: &[usize]) -> Result<Vec<Vec<(usize, f64)>>> {
        let holder = |j: usize| self.rows.iter().position(|rows| rows.contains(&j)).unwrap_or(0);
        let asked = |at: usize| points.iter().copied().filter(|&j| holder(j) == at).collect::<Vec<_>>();
        let mut answers = vec![];
        for (at, peer) in self.peers.iter().enumerate() {
            let wanted = asked(at);
            answers.push(if wanted.is_empty() {
                vec![]
            } else {
                peer.call(&Call::Points(wanted).to_bytes())?
            });
        }
        let mut left: Vec<&[u8]> = answers.iter().map(Vec::as_slice).collect();
        points.iter().map(|&j| Bytes::read(&mut left[holder(j)]).ok_or_else(strange)).collect()
    }
}

fn strange() -> Error {
    Error::Computation("an answer that makes no sense came from a part of the data".into())
}

impl Data for Shards<'_> {
    fn shape(&self) -> Shape {
        self.shape
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

    fn select(&self, points: &[usize]) -> Result<Box<dyn Data + '_>> {
        let weights = self.weights().map(|w| points.iter().map(|&j| w[j]).collect());
        open(AnyPoints::of_entries(self.fetch(points)?, &self.shape)?, weights)
    }

    fn entries(&self, point: usize, f: &mut dyn FnMut(usize, f64)) -> Result<()> {
        let entries = self.fetch(&[point])?;
        entries.into_iter().flatten().for_each(|(feature, x)| f(feature, x * self.facts.scale));
        Ok(())
    }

    fn gather(&self, points: &[usize]) -> Result<Mat> {
        let mut columns = Mat::zeros(self.shape.features, points.len());
        for (i, entries) in self.fetch(points)?.into_iter().enumerate() {
            entries.into_iter().for_each(|(f, x)| columns[(f, i)] = x * self.facts.scale);
        }
        Ok(columns)
    }

    fn slots(&self) -> Result<Box<dyn Slots + '_>> {
        Ok(Box::new(ShardSlots { data: self, number: self.next.fetch_add(1, Ordering::Relaxed) }))
    }
}

struct ShardSlots<'a> {
    data: &'a Shards<'a>,
    number: u64,
}

impl Slots for ShardSlots<'_> {
    fn sweep_any(&mut self, pass: &dyn AnyPass) -> Result<(Box<dyn AnyPart>, Mat)> {
        let (part, sums) = self.data.sweep(self.number, pass)?;
        Ok((part, super::sums_of(&self.data.shape, sums, pass.adds().width())))
    }

    fn read(&mut self, slot: Slot) -> Result<Option<Array>> {
        let mut whole: Option<Array> = None;
        for answer in self.data.ask(|_| Call::Read(self.number, slot))? {
            let part: Option<Array> = Bytes::from_bytes(&answer).ok_or_else(strange)?;
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
        let part = |rows: &Range<usize>| match &array {
            Array::Labels(labels) => Array::Labels(labels[rows.clone()].to_vec()),
            Array::Numbers(each, numbers) => {
                Array::Numbers(*each, numbers[rows.start * each..rows.end * each].to_vec())
            }
        };
        self.data.ask(|at| Call::Write(self.number, slot, Some(part(&self.data.rows[at]))))?;
        Ok(())
    }

    fn forget(&mut self, slot: Slot) -> Result<()> {
        self.data.ask(|_| Call::Write(self.number, slot, None))?;
        Ok(())
    }
}

impl Drop for ShardSlots<'_> {
    fn drop(&mut self) {
        // A shard that cannot be reached has nothing left to drop.
        let _ = self.data.ask(|_| Call::Drop(self.number));
    }
}
