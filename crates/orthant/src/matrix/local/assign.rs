//! Passes of the methods that assign points to clusters: EM-ONMF, k-means and their kin.

use std::ops::Range;
use std::sync::{Mutex, OnceLock};

use super::bounds::Doubt;
use super::labels::{adds, follow, sum_columns, sums_of_labels};
use super::{Local, LocalStore, Points, Rooms, in_order, split};
use crate::matrix::Mat;
use crate::matrix::data::{Assigned, Followed, Remembered, Rule};
use crate::matrix::kernels::Real;
use crate::matrix::kernels::dense::NOWHERE;

/// The lowest index whose score is the largest, up to `tie` (relative to `size`): on exactly collinear
/// data the last bit must not decide.
#[inline(always)]
pub(super) fn largest(scores: &[f64], tie: f64) -> usize {
    let mut best = f64::NEG_INFINITY;
    for &s in scores {
        best = if s > best { s } else { best };
    }
    let enough = best - tie * best.abs();
    // From the last to the first, without a branch that a processor would guess wrongly for every other point.
    let mut first = 0;
    for (i, &s) in scores.iter().enumerate().rev() {
        first = if s >= enough { i } else { first };
    }
    first
}

/// The label of a point, its score, and the largest score of another cluster.
struct Choice {
    label: usize,
    score: f64,
    other: f64,
}

/// The largest score so far, the second, and whose the largest is, after one more. (Comparisons that are single
/// instructions: `f64::max` would look for NaN each time.)
#[inline(always)]
fn ahead((best, second, label): (f64, f64, usize), score: f64, i: usize) -> (f64, f64, usize) {
    let better = score > best;
    let lower = if better { best } else { score };
    let second = if lower > second { lower } else { second };
    (if better { score } else { best }, second, if better { i } else { label })
}

/// The cluster with the largest score less its offset. Where others are as good up to `tie`, relative to the terms of
/// the difference, the lowest index wins: on exactly collinear data the last bit must not decide.
#[inline(always)]
fn choose(scores: &[f64], offset: impl Fn(usize) -> f64, tie: f64) -> Choice {
    let (mut best, mut second, mut label) = (f64::NEG_INFINITY, f64::NEG_INFINITY, 0);
    for (i, &score) in scores.iter().enumerate() {
        (best, second, label) = ahead((best, second, label), score - offset(i), i);
    }
    let enough = best - tie * (scores[label].abs() + offset(label));
    if second >= enough {
        label = (0..scores.len()).position(|i| scores[i] - offset(i) >= enough).unwrap_or(label);
        let others = (0..scores.len()).filter(|&i| i != label).map(|i| scores[i] - offset(i));
        second = others.fold(f64::NEG_INFINITY, f64::max);
    }
    Choice { label, score: scores[label], other: second }
}

/// Assigns every point for one or several starts in one pass; `labels` are their arrays, `u` is features × (starts·k).
/// A single start may bring a memory: points whose label cannot have changed are then not scored, and their clusters'
/// sums follow those that change it.
///
/// Otherwise sums are made while a block is in the cache. But sparse points with a transposed copy are summed after the
/// pass: centroids and sums do not fit the cache together. `alone` says whether this pass keeps to its thread.
fn assign<P: Points>(
    data: &Local<P>,
    u: &Mat,
    rule: Rule,
    mut labels: Vec<&mut [i32]>,
    mut memory: Option<&mut Remembered>,
    rooms: &mut Rooms<P>,
    alone: bool,
) -> Assigned {
    let count = labels.len();
    let (width, k, points) = (u.cols, u.cols / count.max(1), data.points.shape().points);
    // For distances and for bounds.
    let norms2 = if rule == Rule::Euclid || memory.is_some() { u.column_norms2() } else { vec![] };
    let half_norms2 = if rule == Rule::Euclid { norms2.iter().map(|n| n / 2.0).collect() } else { vec![] };
    let drops = memory.as_mut().and_then(|m| m.advance(rule, u));
    let known = memory.as_mut().and_then(|m| m.take_sums()).filter(|_| drops.is_some());
    let transposed = data.points.has_transposed();
    // A power step needs the exact products anyway, and so does KL.
    let hasty = matches!(rule, Rule::Cosine | Rule::Euclid) && count == 1;
    let rough = if hasty { data.points.pack_rough(u, data.facts.scale) } else { None };
    let later = known.is_none() && transposed;
    let chunks = if known.is_some() { data.chunks(width) } else { data.chunks_with_sums(width) };
    let (mut to, mut factor) = (std::mem::take(&mut rooms.to), std::mem::take(&mut rooms.factor));
    // Every entry is written before it is read.
    to.resize(if later { points * count } else { 0 }, NOWHERE);
    factor.resize(if later { points * count } else { 0 }, 0.0);
    // labels[chunk][start]
    let mut pieces: Vec<Vec<&mut [i32]>> = (0..chunks.len()).map(|_| Vec::with_capacity(count)).collect();
    for array in &mut labels {
        let cut = split(array, &chunks, 1);
        pieces.iter_mut().zip(cut).for_each(|(chunk, piece)| chunk.push(piece));
    }
    let stride = if later { count } else { 0 };
    let leads = memory.as_mut().map_or(&mut [][..], |m| &mut m.leads);
    let lead_stride = usize::from(!leads.is_empty());
    let jobs: Vec<Chunk> = chunks
        .iter()
        .cloned()
        .zip(pieces)
        .zip(split(&mut to, &chunks, stride))
        .zip(split(&mut factor, &chunks, stride))
        .zip(split(leads, &chunks, lead_stride))
        .map(|((((rows, labels), to), factor), leads)| Chunk { rows, labels, to, factor, leads })
        .collect();
    let pass = Assigning {
        data,
        rule,
        u,
        packed: OnceLock::new(),
        old: Mutex::new(rooms.packed.take()),
        rough,
        doubt: Doubt::new::<P::T>(rule, u.rows, &norms2),
        half_norms2,
        count,
        k,
        drops,
        following: known.is_some(),
    };
    let mut sums = vec![];
    let parts: Vec<Part> = if alone && transposed {
        jobs.into_iter().map(|chunk| pass.chunk(chunk, None)).collect()
    } else if later || known.is_some() {
        in_order(jobs, |chunk| pass.chunk(chunk, None))
    } else {
        let parts = in_order(jobs, |chunk| {
            let mut own = data.points.sums(width);
            (pass.chunk(chunk, Some(&mut own)), own)
        });
        parts.into_iter().map(|(part, own)| (part, sums.push(own)).0).collect()
    };

    let mut assigned = Assigned {
        sums: Mat::zeros(0, 0),
        weight: vec![0.0; width],
        value: vec![0.0; width],
        changed: vec![0; count],
    };
    let mut moved = vec![];
    for part in parts {
        for (at, [weight, value]) in part.tally.into_iter().enumerate() {
            assigned.weight[at % width] += weight;
            assigned.value[at % width] += value;
        }
        assigned.changed.iter_mut().zip(&part.changed).for_each(|(t, p)| *t += p);
        moved.extend(part.moved);
    }
    let mut passes = 0;
    assigned.sums = match known {
        Some(mut followed) if moved.len() <= points / FEW => {
            passes = followed.passes + 1;
            follow(data, rule, labels[0], &moved, &mut followed.sums);
            followed.sums
        }
        Some(_) => sums_of_labels(data, labels[0], k, rule, alone, std::mem::take(&mut rooms.sums)),
        None if later => {
            sum_columns(data, &to, &factor, count, width, alone, std::mem::take(&mut rooms.sums))
        }
        None => data.points.total(sums, width),
    };
    match rule {
        // Σ w·mᵀu/‖m‖ of a cluster is the product of its sum with its direction.
        Rule::Cosine => assigned.value = u.column_dots(&assigned.sums),
        // Σ w‖m − c‖² = Σ w‖m‖² − 2(Σ wm)ᵀc + Σ w‖c‖²
        Rule::Euclid => {
            let products = u.column_dots(&assigned.sums);
            for (i, value) in assigned.value.iter_mut().enumerate() {
                *value -= 2.0 * (products[i] - assigned.weight[i] * pass.half_norms2[i]);
                *value = value.max(0.0);
            }
        }
        Rule::Power | Rule::Kl => (),
    }
    if transposed {
        (rooms.to, rooms.factor) = (to, factor);
        rooms.packed = pass.packed.into_inner().or(pass.old.into_inner().ok().flatten());
    }
    if let Some(memory) = memory {
        let mut copy = std::mem::take(&mut rooms.sums);
        copy.clear();
        copy.extend_from_slice(&assigned.sums.data);
        let sums = Mat { data: copy, ..assigned.sums };
        memory.followed = Some(Followed { sums, passes });
    }
    assigned
}

/// Where no more than one in so many points has changed its cluster, sums follow the single points.
const FEW: usize = 4;

/// What one chunk of the pass reads and writes.
struct Chunk<'a> {
    rows: Range<usize>,
    /// For each start.
    labels: Vec<&'a mut [i32]>,
    /// points × starts where the sums are taken later, else empty.
    to: &'a mut [u32],
    factor: &'a mut [f64],
    /// Of a single start that brings a memory, else empty.
    leads: &'a mut [f64],
}

/// What one chunk found.
struct Part {
    /// Weight and value of the points at even places of their block for each column, then of the others. Value: the
    /// rule's; for k-means `Σ w‖m‖²`, the part of it that does not depend on the centres.
    tally: Vec<[f64; 2]>,
    changed: Vec<usize>,
    /// Points with a new label and their old one, where sums follow them.
    moved: Vec<(usize, i32)>,
}

/// What all chunks of a pass share.
struct Assigning<'a, P: Points> {
    data: &'a Local<P>,
    rule: Rule,
    u: &'a Mat,
    /// Made when it is first needed.
    packed: OnceLock<P::Packed>,
    /// In the memory of that of the last pass.
    old: Mutex<Option<P::Packed>>,
    rough: Option<P::Rough>,
    half_norms2: Vec<f64>,
    /// How many starts, of k columns each.
    count: usize,
    k: usize,
    /// What the leads of each cluster's points lose; none where all points are to be scored.
    drops: Option<Vec<f64>>,
    doubt: Doubt,
    /// Whether sums are known that only points with a new label change.
    following: bool,
}

/// Room for one block. An entry is a point for one start.
#[derive(Default)]
struct Room {
    scores: Vec<f64>,
    rough: Vec<f32>,
    /// Points of the block that are to be scored, where not all are.
    scored: Vec<u32>,
    /// For each entry its column, or [`NOWHERE`], and the product with it.
    to: Vec<u32>,
    strength: Vec<f64>,
    factor: Vec<f64>,
}

/// One block of a chunk, from which its arrays count.
struct Block<'a, 'c> {
    rows: Range<usize>,
    offset: usize,
    chunk: &'a mut Chunk<'c>,
    part: &'a mut Part,
}

impl<P: Points> Assigning<'_, P> {
    fn packed(&self) -> &P::Packed {
        let old = || self.old.lock().ok().and_then(|mut old| old.take());
        self.packed.get_or_init(|| self.data.points.pack_into(old(), self.u, self.data.facts.scale))
    }

    /// Lowers the leads of a block's points and finds those to be scored.
    fn select(&self, labels: &[i32], leads: &mut [f64], drops: &[f64], room: &mut Room) {
        room.scored.clear();
        for (p, (lead, (label, to))) in leads.iter_mut().zip(labels.iter().zip(&mut room.to)).enumerate() {
            *to = u32::try_from(*label).unwrap_or(NOWHERE);
            *lead -= drops.get(*to as usize).copied().unwrap_or(0.0);
            if *lead <= 0.0 {
                room.scored.push(p as u32);
            }
        }
    }

    /// Gives a point its label for one start.
    #[inline(always)]
    fn label(&self, block: &mut Block, p: usize, r: usize, i: usize, lead: f64) {
        let at = block.offset + p;
        if let Some(place) = block.chunk.leads.get_mut(at) {
            *place = lead;
        }
        let label = &mut block.chunk.labels[r][at];
        if *label != i as i32 {
            block.part.changed[r] += 1;
            if self.following {
                block.part.moved.push((block.rows.start + p, *label));
            }
            *label = i as i32;
        }
    }

    /// Labels those of the scored points for which float32 is enough; the others remain in the list.
    fn choose_roughly(&self, block: &mut Block, rough: &P::Rough, room: &mut Room) {
        let k = self.k;
        let points = &self.data.points;
        let all = self.drops.is_none();
        if all {
            room.scored.clear();
            room.scored.extend(0..block.rows.len() as u32);
        }
        room.rough.resize(block.rows.len() * k, 0.0);
        let list = Some(room.scored.as_slice()).filter(|_| !all);
        points.rough_scores(block.rows.clone(), list, rough, &mut room.rough);
        let mut unsure = 0;
        for at in 0..room.scored.len() {
            let p = room.scored[at];
            let j = block.rows.start + p as usize;
            let norm2 = self.data.norms2[j];
            let scores = &room.rough[at * k..(at + 1) * k];
            let (mut best, mut other, mut i) = (f64::NEG_INFINITY, f64::NEG_INFINITY, 0);
            for (at, &score) in scores.iter().enumerate() {
                let score = f64::from(score) - self.half_norms2.get(at).copied().unwrap_or(0.0);
                (best, other, i) = ahead((best, other, i), score, at);
            }
            let doubt = self.doubt.with(points.roughness(j));
            let lead = match self.rule {
                Rule::Euclid => doubt.of_distances(best, other, norm2),
                _ => doubt.of_scores(best, other, norm2),
            };
            // Below this float32 has no digits left for a point's entries.
            if lead > 0.0 && norm2 > 1e-40 {
                self.label(block, p as usize, 0, i, lead);
                room.to[p as usize] = i as u32;
            } else {
                room.scored[unsure] = p;
                unsure += 1;
            }
        }
        room.scored.truncate(unsure);
    }

    /// Labels all points, for all starts, where nothing counts but which score is the largest.
    fn choose_plainly(&self, block: &mut Block, room: &mut Room) {
        let Assigning { data, count, k, .. } = *self;
        let rows = block.rows.clone();
        let Room { scores, to, strength, .. } = room;
        if count > 1 || !data.points.nearest(rows.clone(), self.packed(), to, strength) {
            scores.resize(to.len() * k, 0.0);
            data.points.scores(rows.clone(), None, self.packed(), scores);
            for (entry, scores) in scores.chunks_exact(k).enumerate() {
                let i = largest(scores, P::T::TIE);
                to[entry] = (entry % count * k + i) as u32;
                strength[entry] = scores[i];
            }
        }
        let here = block.offset..block.offset + rows.len();
        for (r, labels) in block.chunk.labels.iter_mut().enumerate() {
            let mut changed = 0;
            let to = to[r..].iter_mut().step_by(count);
            for ((label, to), norm2) in
                labels[here.clone()].iter_mut().zip(to).zip(&data.norms2[rows.clone()])
            {
                *to = if *norm2 > 0.0 { *to } else { NOWHERE };
                let new = if *norm2 > 0.0 { *to as i32 - (r * k) as i32 } else { -1 };
                changed += usize::from(*label != new);
                *label = new;
            }
            block.part.changed[r] += changed;
        }
    }

    /// Tallies all points of a block, in their order: what each adds to its cluster's sum, and its value, are told by
    /// `of` from the point, its weight and its score.
    #[inline(always)]
    fn tally(
        &self,
        rows: Range<usize>,
        room: &mut Room,
        part: &mut Part,
        of: impl Fn(usize, f64, f64) -> (f64, f64),
    ) {
        let width = self.count * self.k;
        // Two tallies in turn: one alone would wait for itself where points of a cluster follow each other.
        let (first, second) = part.tally.split_at_mut(width);
        let tallies = [first, second];
        for (p, j) in rows.enumerate() {
            let w = self.data.weight(j);
            let tally = &mut *tallies[p % 2];
            for entry in p * self.count..(p + 1) * self.count {
                if let Some([weight, value]) = tally.get_mut(room.to[entry] as usize) {
                    let (adds, worth) = of(j, w, room.strength[entry]);
                    *weight += w;
                    *value += worth;
                    room.factor[entry] = adds;
                }
            }
        }
    }

    /// Labels the scored points, for all starts.
    fn choose(&self, block: &mut Block, some: bool, room: &mut Room) {
        let Assigning { data, rule, count, k, .. } = *self;
        let scored = if some { room.scored.len() } else { block.rows.len() };
        let remembered = !block.chunk.leads.is_empty();
        for at in 0..scored {
            let scores = &room.scores[at * count * k..(at + 1) * count * k];
            let p = if some { room.scored[at] as usize } else { at };
            let norm2 = data.norms2[block.rows.start + p];
            for r in 0..count {
                let (s, entry) = (&scores[r * k..(r + 1) * k], p * count + r);
                if norm2 == 0.0 && rule != Rule::Euclid {
                    let label = &mut block.chunk.labels[r][block.offset + p];
                    block.part.changed[r] += usize::from(*label != -1);
                    *label = -1;
                    room.to[entry] = NOWHERE;
                    block.chunk.leads.get_mut(block.offset + p).into_iter().for_each(|l| *l = f64::INFINITY);
                    continue;
                }
                let (choice, lead) = if rule == Rule::Euclid {
                    let half = &self.half_norms2[r * k..(r + 1) * k];
                    let choice = choose(s, |i| half[i], P::T::TIE);
                    let best = choice.score - half[choice.label];
                    let lead = remembered.then(|| self.doubt.of_distances(best, choice.other, norm2));
                    (choice, lead)
                } else {
                    let choice = choose(s, |_| 0.0, P::T::TIE);
                    let lead = remembered.then(|| self.doubt.of_scores(choice.score, choice.other, norm2));
                    (choice, lead)
                };
                room.to[entry] = (r * k + choice.label) as u32;
                room.strength[entry] = choice.score;
                self.label(block, p, r, choice.label, lead.unwrap_or(0.0));
            }
        }
    }

    fn chunk(&self, mut chunk: Chunk, mut sums: Option<&mut P::Sums>) -> Part {
        let Assigning { data, rule, count, k, .. } = *self;
        let width = count * k;
        let all = chunk.rows.clone();
        let mut part = Part { tally: vec![[0.0; 2]; 2 * width], changed: vec![0; count], moved: vec![] };
        let mut room = Room::default();
        for rows in data.blocks(all.clone()) {
            let offset = rows.start - all.start;
            let (here, entries) = (offset..offset + rows.len(), rows.len() * count);
            room.to.resize(entries, NOWHERE);
            room.strength.resize(entries, 0.0);
            room.factor.resize(entries, 0.0);
            if let Some(drops) = &self.drops {
                self.select(&chunk.labels[0][here.clone()], &mut chunk.leads[here.clone()], drops, &mut room);
            }
            let mut block = Block { rows: rows.clone(), offset, chunk: &mut chunk, part: &mut part };
            if let Some(rough) = &self.rough {
                self.choose_roughly(&mut block, rough, &mut room);
            }
            let some = self.rough.is_some() || self.drops.is_some();
            if !some && rule != Rule::Euclid && block.chunk.leads.is_empty() {
                self.choose_plainly(&mut block, &mut room);
            } else if !some || !room.scored.is_empty() {
                room.scores.resize(rows.len() * width, 0.0);
                let list = Some(room.scored.as_slice()).filter(|_| some);
                data.points.scores(rows.clone(), list, self.packed(), &mut room.scores);
                self.choose(&mut block, some, &mut room);
            }
            match rule {
                Rule::Power => self.tally(rows.clone(), &mut room, &mut part, |_, w, s| (w * s, w * s * s)),
                Rule::Cosine => {
                    self.tally(rows.clone(), &mut room, &mut part, |j, _, _| (adds(data, rule, j), 0.0))
                }
                Rule::Euclid => {
                    self.tally(rows.clone(), &mut room, &mut part, |j, w, _| (w, w * data.norms2[j]))
                }
                Rule::Kl => self.tally(rows.clone(), &mut room, &mut part, |_, w, s| (w, w * s)),
            }
            if let Some(sums) = &mut sums {
                data.points.add_one(sums, rows, data.facts.scale, &room.to, &room.factor);
            } else if !chunk.to.is_empty() {
                let range = offset * count..here.end * count;
                chunk.to[range.clone()].copy_from_slice(&room.to);
                chunk.factor[range].copy_from_slice(&room.factor);
            }
        }
        part
    }
}

impl<P: Points> LocalStore<'_, P> {
    /// The labels of the given starts, in their order.
    fn labels_of_all(&mut self, starts: &[usize]) -> Vec<&mut [i32]> {
        for &start in starts {
            self.labels_of(start);
        }
        let mut arrays: Vec<(usize, &mut [i32])> = self
            .labels
            .iter_mut()
            .enumerate()
            .filter_map(|(slot, array)| Some((starts.iter().position(|&s| s == slot)?, array.as_mut_slice())))
            .collect();
        arrays.sort_by_key(|(position, _)| *position);
        arrays.into_iter().map(|(_, array)| array).collect()
    }

    pub(super) fn assign_and_sum(&mut self, u: &[&Mat], rule: Rule, starts: &[usize]) -> Vec<Assigned> {
        let (data, alone) = (self.data, self.alone);
        let points = self.points();
        // What a power step adds changes with the directions, and scores of KL are logarithms, which no norm bounds; starts
        // of dense points that share a product are scored together.
        let bounded = matches!(rule, Rule::Cosine | Rule::Euclid)
            && (data.points.has_transposed() || starts.len() == 1);
        let mut memories: Vec<Option<Remembered>> =
            starts.iter().map(|&start| self.memory.remove(&start)).collect();
        for memory in &mut memories {
            *memory = bounded.then(|| memory.take().unwrap_or_else(|| Remembered::nothing(rule, points)));
        }
        let mut rooms: Vec<Rooms<P>> =
            starts.iter().map(|start| self.rooms.remove(start).unwrap_or_default()).collect();
        let labels = self.labels_of_all(starts);
        let assigned = if data.points.has_transposed() {
            // Sparse data: the columns of one start fit the cache, those of all do not. A thread takes whole starts.
            let alone = alone || starts.len() >= rayon::current_num_threads();
            let jobs = u.iter().zip(labels).zip(&mut memories).zip(&mut rooms).collect();
            in_order(jobs, |(((u, labels), memory), rooms)| {
                assign(data, u, rule, vec![labels], memory.as_mut(), rooms, alone)
            })
        } else if let [one] = u {
            vec![assign(data, one, rule, labels, memories[0].as_mut(), &mut rooms[0], false)]
        } else {
            Self::assign_all(data, u, rule, labels)
        };
        let known = starts.iter().zip(memories).filter_map(|(&start, memory)| Some((start, memory?)));
        self.memory.extend(known);
        if data.points.has_transposed() {
            self.rooms.extend(starts.iter().copied().zip(rooms));
        }
        assigned
    }

    /// Several starts in one product.
    fn assign_all(data: &Local<P>, u: &[&Mat], rule: Rule, labels: Vec<&mut [i32]>) -> Vec<Assigned> {
        let all = assign(data, &Mat::beside(u), rule, labels, None, &mut Rooms::default(), false);
        let mut from = 0;
        let own = |u: &&Mat| {
            let columns = from..from + u.cols;
            from += u.cols;
            (columns.clone(), all.sums.columns(columns))
        };
        u.iter()
            .map(own)
            .zip(&all.changed)
            .map(|((columns, sums), &changed)| Assigned {
                sums,
                weight: all.weight[columns.clone()].to_vec(),
                value: all.value[columns].to_vec(),
                changed: vec![changed],
            })
            .collect()
    }
}
