//! The driver's side: who holds which shard, orders out and answers back, and what is done when somebody is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Mutex;

use super::{Answer, Blob, Call, Carried, Order, Spec};
use crate::bytes::Bytes;
use crate::error::{Error, Result};
use crate::matrix::cut::nodes;
use crate::matrix::seam::{Array, Slot};
use crate::matrix::{Cut, Shape};

/// Something that a transport keeps for the driver: an answer, or a shard with its holder.
pub type Handle = u64;

/// A shard to be loaded.
pub struct Load {
    /// By whom.
    pub worker: String,
    /// Its points.
    pub points: Range<usize>,
    /// For [`Holder::load`](super::Holder::load).
    pub spec: Vec<u8>,
}

/// An order to be carried.
pub struct Sending {
    /// To whom.
    pub worker: String,
    /// What it is, in a word.
    pub name: &'static str,
    /// For [`Holder::answer`](super::Holder::answer).
    pub order: Vec<u8>,
    /// Earlier answers that belong to it: they go from worker to worker.
    pub inputs: Vec<Handle>,
}

/// The way to the workers: four calls that carry bytes. Who is gone does not answer; somebody else, or nobody's
/// [`Holder`](super::Holder), says in its place that what was asked for is missing.
pub trait Transport: Send + Sync {
    /// Everyone who can hold points now; at least one, or an error.
    fn workers(&self) -> Result<Vec<String>>;
    /// Has shards read from their source and held. Letting go of the handle lets go of the shard.
    fn load(&self, loads: Vec<Load>) -> Result<Vec<Handle>>;
    /// Carries orders out, all at once; the answers stay there.
    fn call(&self, orders: Vec<Sending>) -> Result<Vec<Handle>>;
    /// Waits for answers and brings them.
    fn fetch(&self, handles: &[Handle]) -> Result<Vec<Vec<u8>>>;
    /// Lets go of answers and shards.
    fn release(&self, handles: &[Handle]);
    /// Up to so many bytes of saved arrays are kept by the driver, where no worker can lose them; more, by other workers.
    fn kept_here(&self) -> usize {
        64 << 20
    }
}

/// So many shards for each worker at the least: when one is gone the others share its work evenly.
const SHARDS_EACH: usize = 16;

/// Answers that one place takes at a time.
const FAN_IN: usize = 8;

/// Changes after which, or bytes of orders after which, everything beside the points is saved.
const SAVE_AFTER: usize = 16;
const SAVE_AFTER_BYTES: usize = 64 << 20;

/// How often shards are loaded anew within one round.
const PATIENCE: usize = 12;

/// What is asked of all shards.
pub(super) enum Deed {
    Scale(f64),
    Sweep(u64, Vec<u8>),
    Write(u64, Slot, Option<Array>),
    Drop(u64),
    Read(u64, Slot),
    /// Points of each shard.
    Points(BTreeMap<usize, Vec<usize>>),
    Save,
}

impl Deed {
    fn name(&self) -> &'static str {
        match self {
            Deed::Scale(_) => "norms",
            Deed::Sweep(..) => "sweep",
            Deed::Read(..) => "read",
            Deed::Points(_) => "points",
            Deed::Save => "save",
            Deed::Write(..) | Deed::Drop(_) => "write",
        }
    }

    /// Whether shards are changed by it.
    fn changes(&self) -> bool {
        match self {
            Deed::Sweep(slots, _) => *slots != 0,
            Deed::Scale(_) | Deed::Write(..) | Deed::Drop(_) => true,
            Deed::Read(..) | Deed::Points(_) | Deed::Save => false,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Deed::Sweep(_, pass) => pass.len(),
            Deed::Write(_, _, Some(Array::Numbers(_, numbers))) => 8 * numbers.len(),
            Deed::Write(_, _, Some(Array::Labels(labels))) => 4 * labels.len(),
            _ => 8,
        }
    }
}

/// Where saved arrays are.
enum Kept {
    /// Of each shard, with the driver.
    Here(BTreeMap<usize, Blob>),
    /// Answers that workers keep for others, and the shards that each is of.
    There(Vec<(Vec<usize>, Handle)>),
}

pub(super) struct Fleet<'a> {
    transport: Box<dyn Transport + 'a>,
    pub(super) shape: Shape,
    weights: Option<Vec<f64>>,
    /// Blocks of each shard.
    blocks: Vec<Range<usize>>,
    /// Points of each shard.
    pub(super) rows: Vec<Range<usize>>,
    state: Mutex<State>,
}

struct State {
    /// Who holds each shard.
    holders: Vec<Option<(String, Handle)>>,
    /// Shards that were just loaded, and have yet to make all changes again.
    fresh: BTreeSet<usize>,
    loadings: u64,
    /// The number of the last change.
    number: u64,
    /// Up to this change everybody has been asked for it; later ones go out with the next order.
    sent: u64,
    scale: Option<f64>,
    /// Changes since everything was saved.
    log: Vec<(u64, Deed)>,
    saved_at: u64,
    kept: Kept,
    /// Bytes of each slot.
    sizes: BTreeMap<(u64, Slot), usize>,
}

impl<'a> Fleet<'a> {
    /// Has everything loaded.
    pub(super) fn new(
        transport: Box<dyn Transport + 'a>,
        shape: Shape,
        weights: Option<Vec<f64>>,
    ) -> Result<Self> {
        let cut = Cut::of(&shape);
        let workers = transport.workers()?.len();
        let wanted = workers.saturating_mul(SHARDS_EACH);
        // The largest nodes of the tree of which there are enough.
        let each = (cut.blocks() / wanted.max(1)).max(1);
        let each = (each + 1).next_power_of_two() / 2;
        let blocks: Vec<Range<usize>> =
            (0..cut.blocks()).step_by(each).map(|from| from..(from + each).min(cut.blocks())).collect();
        debug_assert!(blocks.iter().all(|b| nodes(b.clone(), cut.blocks()).len() == 1));
        let rows = blocks.iter().map(|blocks| cut.points_of_blocks(blocks)).collect();
        let state = State {
            holders: blocks.iter().map(|_| None).collect(),
            fresh: BTreeSet::new(),
            loadings: 0,
            number: 0,
            sent: 0,
            scale: None,
            log: vec![],
            saved_at: 0,
            kept: Kept::Here(BTreeMap::new()),
            sizes: BTreeMap::new(),
        };
        let fleet = Fleet { transport, shape, weights, blocks, rows, state: Mutex::new(state) };
        let mut state = fleet.state.lock().map_err(|_| strange())?;
        let all: Vec<usize> = (0..fleet.blocks.len()).collect();
        fleet.load(&mut state, &all)?;
        drop(state);
        Ok(fleet)
    }

    /// Something that nobody waits for: it goes out with the next order.
    pub(super) fn later(&self, deed: Deed) -> Result<()> {
        let mut state = self.state.lock().map_err(|_| strange())?;
        state.note(deed);
        Ok(())
    }

    /// One round: what all shards answer.
    pub(super) fn ask(&self, deed: Deed) -> Result<Answer> {
        let mut state = self.state.lock().map_err(|_| strange())?;
        let answer = self.round(&mut state, deed)?;
        let logged: usize = state.log.iter().map(|(_, deed)| deed.bytes()).sum();
        let sweeps = state.log.iter().filter(|(_, deed)| matches!(deed, Deed::Sweep(..))).count();
        if sweeps >= SAVE_AFTER || logged >= SAVE_AFTER_BYTES {
            self.save(&mut state)?;
        }
        Ok(answer)
    }

    /// Slots that a pass makes, or finds.
    pub(super) fn sizes(&self, sizes: impl Iterator<Item = ((u64, Slot), usize)>) -> Result<()> {
        self.state.lock().map_err(|_| strange())?.sizes.extend(sizes);
        Ok(())
    }

    fn round(&self, state: &mut State, deed: Deed) -> Result<Answer> {
        let wanted: Vec<usize> = match &deed {
            Deed::Points(points) => points.keys().copied().collect(),
            _ => (0..self.blocks.len()).collect(),
        };
        let name = deed.name();
        let merging = matches!(deed, Deed::Scale(_) | Deed::Sweep(..));
        // What is not logged is carried by itself.
        let single = if deed.changes() {
            state.note(deed);
            None
        } else {
            Some(deed)
        };
        let found = self.attempts(state, wanted, name, merging, single.as_ref());
        state.sent = state.number;
        found
    }

    /// Asks until everybody has answered.
    fn attempts(
        &self,
        state: &mut State,
        mut wanted: Vec<usize>,
        name: &'static str,
        merging: bool,
        single: Option<&Deed>,
    ) -> Result<Answer> {
        let mut all = Answer::default();
        let mut asked_again = BTreeSet::new();
        for attempt in 0.. {
            let orders = self.orders(state, &wanted, name, single);
            let answer = self.carry(orders, merging)?;
            if let Some(failure) = answer.failed {
                return Err(failure.into_error());
            }
            let missing = answer.missing.clone();
            state.fresh.retain(|shard| !wanted.contains(shard) || missing.contains(shard));
            all.merge(Answer { missing: vec![], ..answer });
            if missing.is_empty() {
                break;
            }
            if attempt >= PATIENCE {
                return Err(Error::Computation(
                    "workers keep losing their parts of the data: look at their logs and memory".into(),
                ));
            }
            // An order may have gone astray: those who are still there are asked once more before they load anything.
            let alive: BTreeSet<String> = self.transport.workers()?.into_iter().collect();
            let lost: Vec<usize> = missing
                .iter()
                .copied()
                .filter(|shard| {
                    let held =
                        state.holders[*shard].as_ref().is_some_and(|(worker, _)| alive.contains(worker));
                    !(held && asked_again.insert(*shard))
                })
                .collect();
            if !lost.is_empty() {
                self.load(state, &lost)?;
            }
            wanted = missing;
            wanted.sort_unstable();
        }
        Ok(all)
    }

    /// Orders for some shards: an order for each of their holders, and one more for those that have everything to make again.
    fn orders(
        &self,
        state: &State,
        wanted: &[usize],
        name: &'static str,
        single: Option<&Deed>,
    ) -> Vec<Sending> {
        let mut groups: Vec<(&str, bool, Vec<usize>)> = vec![];
        for &shard in wanted {
            let worker = state.holders[shard].as_ref().map_or("", |(worker, _)| worker.as_str());
            let fresh = state.fresh.contains(&shard);
            match groups.iter_mut().find(|(w, f, _)| (*w, *f) == (worker, fresh)) {
                Some((_, _, shards)) => shards.push(shard),
                None => groups.push((worker, fresh, vec![shard])),
            }
        }
        let order = |(worker, fresh, shards): (&str, bool, Vec<usize>)| {
            let mut calls = vec![];
            let mut inputs = vec![];
            if fresh && state.saved_at > 0 {
                calls.extend(state.scale.map(|scale| (1, Call::Scale(scale))));
                let carried = match &state.kept {
                    Kept::Here(saved) => {
                        shards.iter().filter_map(|s| saved.get(s).map(|blob| (*s, blob.clone()))).collect()
                    }
                    Kept::There(kept) => {
                        let useful = kept.iter().filter(|(of, _)| of.iter().any(|s| shards.contains(s)));
                        inputs.extend(useful.map(|(_, handle)| *handle));
                        vec![]
                    }
                };
                calls.push((state.saved_at, Call::Restore(carried)));
            }
            let from = if fresh { state.saved_at } else { state.sent };
            let later = state.log.iter().filter(|(number, _)| *number > from);
            calls.extend(later.map(|(number, deed)| (*number, self.call_for(deed, &shards))));
            calls.extend(single.map(|deed| (state.number, self.call_for(deed, &shards))));
            let order = Order::Do(shards, calls).to_bytes();
            Sending { worker: worker.into(), name, order, inputs }
        };
        groups.into_iter().map(order).collect()
    }

    fn call_for(&self, deed: &Deed, shards: &[usize]) -> Call {
        match deed {
            Deed::Scale(scale) => Call::Scale(*scale),
            Deed::Sweep(slots, pass) => Call::Sweep(*slots, Carried::Bytes(pass.clone())),
            Deed::Write(slots, slot, array) => {
                let part = |rows: &Range<usize>| match array {
                    Some(Array::Labels(labels)) => Some(Array::Labels(labels[rows.clone()].to_vec())),
                    Some(Array::Numbers(each, numbers)) => {
                        let range = rows.start * each..rows.end * each;
                        Some(Array::Numbers(*each, numbers[range].to_vec()))
                    }
                    None => None,
                };
                Call::Write(*slots, *slot, shards.iter().map(|&s| (s, part(&self.rows[s]))).collect())
            }
            Deed::Drop(slots) => Call::Drop(*slots),
            Deed::Read(slots, slot) => Call::Read(*slots, *slot),
            Deed::Points(points) => Call::Points(
                shards.iter().filter_map(|s| points.get(s).map(|wanted| (*s, wanted.clone()))).collect(),
            ),
            Deed::Save => Call::Save,
        }
    }

    /// Carries orders, has what many tell merged on the way, and joins what comes.
    fn carry(&self, orders: Vec<Sending>, merging: bool) -> Result<Answer> {
        let mut workers: Vec<String> = orders.iter().map(|order| order.worker.clone()).collect();
        let mut handles = self.transport.call(orders)?;
        let mut all = handles.clone();
        while merging && handles.len() > FAN_IN {
            workers = workers.into_iter().step_by(FAN_IN).collect();
            let merges = handles.chunks(FAN_IN).zip(&workers).map(|(inputs, worker)| Sending {
                worker: worker.clone(),
                name: "merge",
                order: Order::Merge.to_bytes(),
                inputs: inputs.to_vec(),
            });
            handles = self.transport.call(merges.collect())?;
            all.extend(&handles);
        }
        let fetched = self.transport.fetch(&handles);
        self.transport.release(&all);
        let answers: Option<Vec<Answer>> = fetched?.iter().map(|bytes| Answer::from_bytes(bytes)).collect();
        Ok(Answer::of_all(answers.ok_or_else(strange)?))
    }

    /// How many of these shards make up so many points, as nearly as may be. Sums of sparse points are long, and each node of
    /// the tree that a worker has alone is sent: so up to a sixteenth more or less is taken where the others' begin with a larger node.
    fn border(&self, shards: &[usize], points: usize) -> usize {
        let mut before = 0;
        let mut off = vec![points];
        for &shard in shards {
            before += self.rows[shard].len();
            off.push(before.abs_diff(points));
        }
        let nearest = off.iter().copied().min().unwrap_or(0);
        let allowed = if self.shape.sparse { nearest.max(points / 16) } else { nearest };
        let alignment = |count: usize| shards.get(count).map_or(u32::MAX, |shard| shard.trailing_zeros());
        (0..off.len())
            .filter(|&count| off[count] <= allowed)
            .max_by_key(|&count| (alignment(count), std::cmp::Reverse(off[count])))
            .unwrap_or(0)
    }

    /// Has shards loaded: by who held them if they are still there, else by those with the least to do.
    fn load(&self, state: &mut State, lost: &[usize]) -> Result<()> {
        let alive = self.transport.workers()?;
        let mut duties: BTreeMap<&str, usize> = alive.iter().map(|worker| (worker.as_str(), 0)).collect();
        let size = |shard: usize| self.rows[shard].len();
        let mut homeless = vec![];
        let mut places: BTreeMap<usize, String> = BTreeMap::new();
        for (shard, holder) in state.holders.iter().enumerate() {
            let worker = holder.as_ref().map(|(worker, _)| worker.as_str());
            match worker.and_then(|worker| duties.get_mut(worker)) {
                Some(duty) => {
                    *duty += size(shard);
                    if lost.contains(&shard) {
                        places.insert(shard, worker.unwrap_or_default().into());
                    }
                }
                // A shard of somebody else who is gone may yet be asked for in vain: then it is its turn.
                None if lost.contains(&shard) => homeless.push(shard),
                None => {}
            }
        }
        // Neighbours stay together: what they tell is joined where they are.
        let total: usize = duties.values().sum::<usize>() + homeless.iter().map(|&s| size(s)).sum::<usize>();
        let share = total.div_ceil(alive.len().max(1));
        let mut order: Vec<(usize, &str)> = duties.iter().map(|(worker, duty)| (*duty, *worker)).collect();
        order.sort_by_key(|(duty, worker)| (*duty, alive.iter().position(|w| w == worker)));
        let mut left = &homeless[..];
        for (at, (duty, worker)) in order.iter().enumerate() {
            let last = at + 1 == order.len();
            let count = if last { left.len() } else { self.border(left, share.saturating_sub(*duty)) };
            let (own, others) = left.split_at(count);
            places.extend(own.iter().map(|&shard| (shard, String::from(*worker))));
            left = others;
        }
        let mut loads = vec![];
        for (&shard, worker) in &places {
            if let Some((_, old)) = state.holders[shard].take() {
                self.transport.release(&[old]);
            }
            state.loadings += 1;
            let weights = self.weights.as_ref().map(|w| w[self.rows[shard].clone()].to_vec());
            let (loading, blocks) = (state.loadings, self.blocks[shard].clone());
            let spec = Spec { shard, loading, blocks, shape: self.shape, weights }.to_bytes();
            loads.push(Load { worker: worker.clone(), points: self.rows[shard].clone(), spec });
        }
        let handles = self.transport.load(loads)?;
        for ((&shard, worker), &handle) in places.iter().zip(&handles) {
            state.holders[shard] = Some((worker.clone(), handle));
            state.fresh.insert(shard);
        }
        // A shard whose loader is gone in its turn is found missing by the next order.
        for answer in self.transport.fetch(&handles)? {
            let answer = Answer::from_bytes(&answer).ok_or_else(strange)?;
            if let Some(failure) = answer.failed {
                return Err(failure.into_error());
            }
        }
        Ok(())
    }

    /// Saves what is beside the points, so that changes up to now need not be made again.
    fn save(&self, state: &mut State) -> Result<()> {
        let bytes: usize = state.sizes.values().sum();
        let workers = self.transport.workers()?;
        let kept = if bytes <= self.transport.kept_here() || workers.len() < 2 {
            let answer = self.round(state, Deed::Save)?;
            Some(Kept::Here(answer.pieces.into_iter().collect()))
        } else {
            self.save_there(state, &workers)?
        };
        let Some(kept) = kept else { return Ok(()) };
        if let Kept::There(old) = std::mem::replace(&mut state.kept, kept) {
            self.transport.release(&old.iter().map(|(_, handle)| *handle).collect::<Vec<_>>());
        }
        state.saved_at = state.number;
        state.log.clear();
        self.share(state, &workers)
    }

    /// Everyone keeps what its neighbour saved. None where somebody is gone: the next order will find out who.
    fn save_there(&self, state: &mut State, workers: &[String]) -> Result<Option<Kept>> {
        let all: Vec<usize> = (0..self.blocks.len()).collect();
        let orders = self.orders(state, &all, "save", Some(&Deed::Save));
        let mut shards: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (shard, holder) in state.holders.iter().enumerate() {
            shards.entry(holder.as_ref().map_or("", |h| h.0.as_str())).or_default().push(shard);
        }
        let holders: Vec<String> = orders.iter().map(|order| order.worker.clone()).collect();
        let saved = self.transport.call(orders)?;
        let sending = |(inputs, at): (Vec<Handle>, usize), name: &'static str, order: Order| {
            let here = workers.iter().position(|w| *w == holders[at]).unwrap_or(0);
            let worker = workers[(here + 1) % workers.len()].clone();
            Sending { worker, name, order: order.to_bytes(), inputs }
        };
        let copies: Vec<Sending> =
            saved.iter().enumerate().map(|(at, &h)| sending((vec![h], at), "copy", Order::Copy)).collect();
        let copies = self.transport.call(copies)?;
        let confirms =
            copies.iter().enumerate().map(|(at, &h)| sending((vec![h], at), "confirm", Order::Confirm));
        let confirmed = self.carry(confirms.collect(), false)?;
        self.transport.release(&saved);
        if confirmed.failed.is_some() || !confirmed.missing.is_empty() {
            self.transport.release(&copies);
            return Ok(None);
        }
        state.sent = state.number;
        let of = |worker: &String| shards.get(worker.as_str()).cloned().unwrap_or_default();
        Ok(Some(Kept::There(holders.iter().map(of).zip(copies).collect())))
    }

    /// Gives those who came later their share. Everything was just saved, so that nothing need be computed again.
    fn share(&self, state: &mut State, workers: &[String]) -> Result<()> {
        let duty = |state: &State, worker: &String| -> usize {
            let held = state.holders.iter().zip(&self.rows);
            held.filter(|(h, _)| h.as_ref().is_some_and(|h| h.0 == *worker)).map(|(_, rows)| rows.len()).sum()
        };
        let idle = workers.iter().any(|worker| duty(state, worker) == 0);
        let share = self.shape.points.div_ceil(workers.len());
        if !idle || self.blocks.len() < 2 {
            return Ok(());
        }
        let mut moved = vec![];
        let mut duties: BTreeMap<&String, usize> = workers.iter().map(|w| (w, duty(state, w))).collect();
        for shard in (0..self.blocks.len()).rev() {
            let Some((worker, _)) = &state.holders[shard] else { continue };
            let Some(duty) = duties.get_mut(worker) else { continue };
            if *duty >= share + self.rows[shard].len().div_ceil(2) {
                *duty -= self.rows[shard].len();
                moved.push(shard);
            }
        }
        for &shard in &moved {
            if let Some((_, old)) = state.holders[shard].take() {
                self.transport.release(&[old]);
            }
        }
        if moved.is_empty() { Ok(()) } else { self.load(state, &moved) }
    }
}

impl State {
    /// Takes down a change.
    fn note(&mut self, deed: Deed) {
        match &deed {
            Deed::Scale(scale) => self.scale = Some(*scale),
            Deed::Write(slots, slot, array) => {
                let bytes = if array.is_some() { deed.bytes() } else { 0 };
                self.sizes.insert((*slots, *slot), bytes);
            }
            Deed::Drop(slots) => self.sizes.retain(|(of, _), _| of != slots),
            _ => {}
        }
        self.number += 1;
        self.log.push((self.number, deed));
    }
}

impl Drop for Fleet<'_> {
    fn drop(&mut self) {
        if let Ok(state) = self.state.get_mut() {
            let mut handles: Vec<Handle> =
                state.holders.iter().flatten().map(|(_, handle)| *handle).collect();
            if let Kept::There(kept) = &state.kept {
                handles.extend(kept.iter().map(|(_, handle)| *handle));
            }
            self.transport.release(&handles);
        }
    }
}

fn strange() -> Error {
    Error::Computation("an answer that makes no sense came from a part of the data".into())
}
