//! Eight runs side by side on sparse points, in float32: one position and one value of an entry serve all of them, and the
//! largest of k products is k comparisons of vectors.
//!
//! What belongs to the runs lies in lanes: centroids as features × k × lanes, labels and factors as points × lanes. Lanes
//! never meet, so that a run's numbers do not depend on which others are beside it; each of its sums is made in the
//! order of the entries, by one accumulator, so that they do not depend on who makes them either.

use std::ops::Range;

use super::vectors::{add_where, keep_larger, widen};
use super::{Kernel, add_times, holds, load, put};

/// Runs side by side, at most. (Kernels for 2 and 4 of them took as long as these: what is fetched is the same.)
pub(crate) const LANES: usize = 8;

/// The label of a point without a cluster.
pub(crate) const NONE: u8 = u8::MAX;

/// Squares of so many features are summed in float32 before they go over to float64.
pub(crate) const TOGETHER: usize = 32;

/// How many entries ahead of their use rows are asked for.
const AHEAD: usize = 16;

/// Most clusters whose sums are in registers at once.
const MOST: usize = 10;

/// Sparse rows in float32.
pub(crate) struct Rows {
    offsets: Vec<usize>,
    at: Vec<u32>,
    x: Vec<f32>,
    columns: usize,
}

impl Rows {
    /// Checks what kernels rely on: offsets rise within the entries, positions are below `columns`.
    pub(crate) fn new(offsets: Vec<usize>, at: Vec<u32>, x: Vec<f32>, columns: usize) -> Self {
        assert!(offsets.is_sorted() && offsets.last().is_some_and(|&last| last == at.len()));
        assert!(at.len() == x.len() && at.iter().all(|&at| (at as usize) < columns));
        Rows { offsets, at, x, columns }
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Columns become rows; entries of each stay in the order of the rows.
    pub(crate) fn turned(&self) -> Rows {
        let mut offsets = vec![0; self.columns + 1];
        self.at.iter().for_each(|&at| offsets[at as usize + 1] += 1);
        (0..self.columns).for_each(|c| offsets[c + 1] += offsets[c]);
        let (mut next, mut at, mut x) = (offsets.clone(), vec![0; self.at.len()], vec![0.0; self.x.len()]);
        for row in 0..self.len() {
            for entry in self.offsets[row]..self.offsets[row + 1] {
                let to = &mut next[self.at[entry] as usize];
                (at[*to], x[*to]) = (row as u32, self.x[entry]);
                *to += 1;
            }
        }
        Rows { offsets, at, x, columns: self.len() }
    }

    /// The total of a row.
    pub(crate) fn total(&self, row: usize) -> f32 {
        self.row(row).map(|(_, x)| f64::from(x)).sum::<f64>() as f32
    }

    /// Positions and values of a row.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        let range = self.offsets[row]..self.offsets[row + 1];
        self.at[range.clone()].iter().zip(&self.x[range]).map(|(&at, &x)| (at as usize, x))
    }
}

/// Asks for `count` numbers from position `at` on, wherever that is.
#[inline(always)]
fn ask<T>(x: &[T], at: usize, count: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let from = x.as_ptr().wrapping_add(at).cast::<i8>();
        for line in (0..count * size_of::<T>()).step_by(64) {
            // SAFETY: it is a hint, which may name any address, and every x86-64 has it.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(line)) }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (x, at, count);
}

/// Of `left` clusters, how many to take at once: about equal shares of what registers hold.
#[inline(always)]
pub(super) fn share(left: usize) -> usize {
    left.div_ceil(left.div_ceil(MOST))
}

/// Calls a function with as many clusters at once as `$q` says.
macro_rules! with_clusters {
    ($q:expr, $function:ident::<$fma:tt>($($argument:expr),*)) => {
        match $q {
            1 => $function::<$fma, 1>($($argument),*),
            2 => $function::<$fma, 2>($($argument),*),
            3 => $function::<$fma, 3>($($argument),*),
            4 => $function::<$fma, 4>($($argument),*),
            5 => $function::<$fma, 5>($($argument),*),
            6 => $function::<$fma, 6>($($argument),*),
            7 => $function::<$fma, 7>($($argument),*),
            8 => $function::<$fma, 8>($($argument),*),
            9 => $function::<$fma, 9>($($argument),*),
            _ => $function::<$fma, 10>($($argument),*),
        }
    };
}

/// Points, and what they are scored with.
#[derive(Clone, Copy)]
pub(crate) struct Scored<'a> {
    pub rows: &'a Rows,
    pub k: usize,
    /// features × k × lanes.
    pub u: &'a [f32],
    /// k × lanes.
    pub inverse: &'a [f32],
    pub offset: &'a [f32],
}

impl Scored<'_> {
    /// Checks what [`scores`] relies on, for so many points from `from` on.
    pub(super) fn check(&self, from: usize, count: usize) {
        let Scored { rows, k, u, inverse, offset } = self;
        assert!(holds(u.len(), rows.columns, k * LANES) && from + count <= rows.len());
        assert!(holds(inverse.len(), *k, LANES) && holds(offset.len(), *k, LANES) && *k < NONE as usize);
    }
}

/// For each point and lane the cluster with the largest `mᵀu·inverse − shift·offset`, the first of equals, and that score.
pub(crate) struct Nearest<'a> {
    pub to: Scored<'a>,
    pub from: usize,
    /// Of the points from `from` on.
    pub shift: &'a [f32],
    /// points × lanes, of the same points.
    pub label: &'a mut [u8],
    pub score: &'a mut [f32],
}

/// Where products are compared: what is largest so far, and whose it is.
struct Best {
    score: [f32; LANES],
    label: [i32; LANES],
}

/// `Σ x·table[at]` over some entries of rows, for Q clusters from `first` on.
///
/// # Safety
/// `entries` are some of `rows`; `table` holds a row of `width` numbers for every column of `rows`, and
/// `(first + Q)·LANES <= width`.
#[inline(always)]
pub(super) unsafe fn products<const FMA: bool, const Q: usize>(
    rows: &Rows,
    entries: Range<usize>,
    (table, width): (&[f32], usize),
    first: usize,
) -> [[f32; LANES]; Q] {
    let last = rows.at.len().saturating_sub(1);
    let mut sums = [[0.0f32; LANES]; Q];
    for entry in entries {
        // SAFETY: `entry` and `last` are entries, and the rest is as promised.
        unsafe {
            let [ahead]: [u32; 1] = load(&rows.at, (entry + AHEAD).min(last));
            ask(table, ahead as usize * width + first * LANES, Q * LANES);
            let ([at], [x]): ([u32; 1], [f32; 1]) = (load(&rows.at, entry), load(&rows.x, entry));
            for q in 0..Q {
                let own = load(table, at as usize * width + (first + q) * LANES);
                add_times::<f32, LANES, FMA>(&mut sums[q], x, own);
            }
        }
    }
    sums
}

/// Scores of the points with these rows and Q clusters from `first` on: `mᵀu·inverse − shift·offset`.
///
/// # Safety
/// `u` holds a row of k·LANES numbers for every column of `rows`, `inverse` and `offset` one; `first + Q <= k`; `row` is one.
#[inline(always)]
pub(super) unsafe fn scores<const FMA: bool, const Q: usize>(
    to: &Scored,
    row: usize,
    first: usize,
    shift: f32,
) -> [[f32; LANES]; Q] {
    let Scored { rows, k, u, inverse, offset } = to;
    // SAFETY: as promised.
    let mut scores: [[f32; LANES]; Q] =
        unsafe { products::<FMA, Q>(rows, rows.offsets[row]..rows.offsets[row + 1], (u, k * LANES), first) };
    for q in 0..Q {
        // SAFETY: as promised.
        let (inverse, offset): ([f32; LANES], [f32; LANES]) =
            unsafe { (load(inverse, (first + q) * LANES), load(offset, (first + q) * LANES)) };
        for l in 0..LANES {
            scores[q][l] = scores[q][l] * inverse[l] - shift * offset[l];
        }
    }
    scores
}

/// Compares the scores of a point with Q clusters from `first` on.
///
/// # Safety
/// As for [`scores`].
#[inline(always)]
unsafe fn compare<const FMA: bool, const Q: usize>(
    to: &Scored,
    row: usize,
    first: usize,
    shift: f32,
    best: &mut Best,
) {
    // SAFETY: as promised.
    let scores: [[f32; LANES]; Q] = unsafe { scores::<FMA, Q>(to, row, first, shift) };
    for q in 0..Q {
        keep_larger::<FMA>(&mut best.score, &mut best.label, scores[q], (first + q) as i32);
    }
}

impl Kernel for Nearest<'_> {
    type T = f32;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let Nearest { to, from, shift, label, score } = self;
        let (k, count) = (to.k, label.len() / LANES);
        to.check(from, count);
        assert!(score.len() >= count * LANES && shift.len() >= count);
        for p in 0..count {
            let row = from + p;
            let mut best = Best { score: [f32::NEG_INFINITY; LANES], label: [0; LANES] };
            let mut first = 0;
            while first < k {
                let q = share(k - first);
                // SAFETY: as asserted; `first + q` is at most k, and `share` never above the clusters that there are.
                unsafe {
                    with_clusters!(q, compare::<FMA>(&to, row, first, shift[p], &mut best));
                }
                first += q;
            }
            for l in 0..LANES {
                label[p * LANES + l] = best.label[l] as u8;
                score[p * LANES + l] = best.score[l];
            }
        }
    }
}

/// What points add to the sums of clusters.
#[derive(Clone, Copy)]
pub(crate) enum Added<'a> {
    /// A point adds itself times a factor to the cluster of its label (both points × lanes).
    ToOne { label: &'a [u8], factor: &'a [f32] },
    /// It adds itself to all of them, times a number each (points × k × lanes).
    ToAll(&'a [f32]),
}

/// `u[f, c] = Σ factor_j·x_j` over the points j that add to c, for every lane: feature by feature over the transposed copy,
/// so that what is added to stays in the nearest cache. Blocks of points are summed by themselves and joined as [`crate::matrix::Cut`] says.
pub(crate) struct Sums<'a> {
    /// Features, each with its points.
    pub turned: &'a Rows,
    pub k: usize,
    /// Points of a block, a power of two.
    pub block: usize,
    /// How many lanes are used.
    pub lanes: usize,
    pub added: Added<'a>,
    /// The first of the features that are summed, a multiple of [`TOGETHER`].
    pub from: usize,
    /// Of those, features × k × lanes.
    pub u: &'a mut [f32],
    /// Whether `tally` is to be `Σ u²` over the features, or `Σ u`.
    pub squares: bool,
    /// k × lanes for every [`TOGETHER`] of them.
    pub tally: &'a mut [f64],
}

/// A row for every label that a byte can be: of clusters that there are, and of [`NONE`].
const LABELS: usize = NONE as usize + 1;

/// Up to so many clusters labels are compared with all of them: beyond, that takes longer than going to the row of a label.
const COMPARED: usize = 16;

/// Sums some entries of a feature by their clusters, k × lanes. `rows` is memory for one row a label.
///
/// # Safety
/// `added` holds LANES labels and factors, or k·LANES numbers, for every column of `turned`; `entries` are some of its, and `sums`
/// are k·LANES.
#[inline(always)]
unsafe fn sum_entries<const FMA: bool>(
    of: &SumsOf,
    entries: Range<usize>,
    rows: &mut [f32; LABELS * LANES],
    sums: &mut [f32],
) {
    let (label, factor) = match of.added {
        Added::ToOne { label, factor } => (label, factor),
        Added::ToAll(numbers) => {
            let mut first = 0;
            while first < of.k {
                let q = share(of.k - first);
                // SAFETY: as promised; `first + q` is at most k.
                unsafe { with_clusters!(q, add_to_all::<FMA>(of, numbers, entries.clone(), first, sums)) };
                first += q;
            }
            return;
        }
    };
    let own = Labelled { turned: of.turned, lanes: of.lanes, label, factor };
    // Vectors are named for this many lanes; elsewhere the compiler would take the comparisons apart.
    if !(FMA && cfg!(target_arch = "x86_64")) || of.k > COMPARED {
        // SAFETY: as promised.
        unsafe { add_by_row(&own, entries, rows) };
        sums.copy_from_slice(&rows[..sums.len()]);
        return rows[..sums.len()].fill(0.0);
    }
    let mut first = 0;
    while first < of.k {
        let q = share(of.k - first);
        // SAFETY: as promised.
        unsafe { with_clusters!(q, add_compared::<FMA>(&own, entries.clone(), first, sums)) };
        first += q;
    }
}

/// The part of [`Sums`] that says what is summed.
struct SumsOf<'a> {
    turned: &'a Rows,
    k: usize,
    lanes: usize,
    added: Added<'a>,
    /// How many digits of a point's number tell its place in its block.
    block: u32,
}

/// The same where points have labels.
struct Labelled<'a> {
    turned: &'a Rows,
    lanes: usize,
    label: &'a [u8],
    factor: &'a [f32],
}

/// The sums of Q clusters from `first` on, to all of which the entries add.
///
/// # Safety
/// As for [`sum_entries`]; `first + Q <= k`.
#[inline(always)]
unsafe fn add_to_all<const FMA: bool, const Q: usize>(
    of: &SumsOf,
    numbers: &[f32],
    entries: Range<usize>,
    first: usize,
    sums: &mut [f32],
) {
    // SAFETY: as promised.
    let own: [[f32; LANES]; Q] =
        unsafe { products::<FMA, Q>(of.turned, entries, (numbers, of.k * LANES), first) };
    for q in 0..Q {
        // SAFETY: as promised.
        unsafe { put(sums, (first + q) * LANES, own[q]) };
    }
}

/// The sums of Q clusters from `first` on, in registers: labels are compared with every one of them.
///
/// # Safety
/// As for [`sum_entries`].
#[inline(always)]
unsafe fn add_compared<const FMA: bool, const Q: usize>(
    of: &Labelled,
    entries: Range<usize>,
    first: usize,
    sums: &mut [f32],
) {
    let mut own = [[0.0f32; LANES]; Q];
    for entry in entries {
        // SAFETY: as promised.
        let (label, x) = unsafe { added::<FMA>(of, entry) };
        let label = widen::<FMA>(label);
        for q in 0..Q {
            add_where::<FMA>(&mut own[q], label, (first + q) as i32, x);
        }
    }
    for q in 0..Q {
        // SAFETY: as promised.
        unsafe { put(sums, (first + q) * LANES, own[q]) };
    }
}

/// Adds to the rows of labels, one number after the other.
///
/// # Safety
/// As for [`sum_entries`].
#[inline(always)]
unsafe fn add_by_row(of: &Labelled, entries: Range<usize>, rows: &mut [f32; LABELS * LANES]) {
    for entry in entries {
        // SAFETY: as promised; a label is a byte, and there is a row for each.
        unsafe {
            let (label, x) = added::<false>(of, entry);
            let mut add = |l: usize| {
                let place = usize::from(label[l]) * LANES + l;
                let [sum]: [f32; 1] = load(rows, place);
                put(rows, place, [sum + x[l]]);
            };
            // Of as many as there are the compiler makes no loop.
            match of.lanes {
                LANES => (0..LANES).for_each(&mut add),
                few => (0..few).for_each(&mut add),
            }
        }
    }
}

/// What the point of an entry adds in each lane, and to which cluster.
///
/// # Safety
/// As for [`sum_entries`]; `entry` is one.
#[inline(always)]
unsafe fn added<const FMA: bool>(of: &Labelled, entry: usize) -> ([u8; LANES], [f32; LANES]) {
    let Labelled { turned, label, factor, .. } = of;
    let last = turned.at.len().saturating_sub(1);
    // SAFETY: as promised; `last` is an entry too.
    unsafe {
        let [ahead]: [u32; 1] = load(&turned.at, (entry + AHEAD).min(last));
        ask(factor, ahead as usize * LANES, LANES);
        ask(label, ahead as usize * LANES, LANES);
        let ([at], [x]): ([u32; 1], [f32; 1]) = (load(&turned.at, entry), load(&turned.x, entry));
        // Fused with zero, a product is rounded as it would be alone.
        let mut product = [0.0; LANES];
        add_times::<f32, LANES, FMA>(&mut product, x, load(factor, at as usize * LANES));
        (load(label, at as usize * LANES), product)
    }
}

/// The sums of a feature whose entries are in several blocks, as the tree joins them.
///
/// # Safety
/// As for [`sum_entries`].
#[inline(always)]
unsafe fn join_blocks<const FMA: bool>(
    of: &SumsOf,
    entries: Range<usize>,
    rows: &mut [f32; LABELS * LANES],
    sums: &mut [f32],
) {
    let SumsOf { turned, block, .. } = of;
    // Sums that wait for what comes after them, each with one of its blocks.
    let mut waiting: Vec<(usize, Vec<f64>)> = vec![];
    let mut begin = entries.start;
    while begin < entries.end {
        let at = turned.at[begin] as usize >> block;
        let rest = &turned.at[begin..entries.end];
        let next = begin + rest.partition_point(|&point| point as usize >> block == at);
        // SAFETY: as promised.
        unsafe { sum_entries::<FMA>(of, begin..next, rows, sums) };
        // Those that meet before they meet this one.
        while let [.., (a, _), (b, _)] = waiting[..]
            && (a ^ b).checked_ilog2() < (b ^ at).checked_ilog2()
        {
            join(&mut waiting);
        }
        waiting.push((at, sums.iter().map(|&x| f64::from(x)).collect()));
        begin = next;
    }
    while waiting.len() > 1 {
        join(&mut waiting);
    }
    for (_, all) in waiting {
        sums.iter_mut().zip(all).for_each(|(sum, all)| *sum = all as f32);
    }
}

/// Joins the last two of the sums that wait.
fn join(waiting: &mut Vec<(usize, Vec<f64>)>) {
    if let (Some((_, after)), Some((_, sum))) = (waiting.pop(), waiting.last_mut()) {
        sum.iter_mut().zip(after).for_each(|(sum, after)| *sum += after);
    }
}

impl Kernel for Sums<'_> {
    type T = f32;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let (k, width) = (self.k, self.k * LANES);
        let features = self.from..self.from + self.u.len() / width;
        let points = self.turned.columns;
        assert!(match self.added {
            Added::ToOne { label, factor } =>
                holds(label.len(), points, LANES) && holds(factor.len(), points, LANES),
            Added::ToAll(numbers) => holds(numbers.len(), points, width),
        });
        assert!(self.block.is_power_of_two() && self.lanes <= LANES);
        assert!(features.end <= self.turned.len() && self.from.is_multiple_of(TOGETHER) && k < LABELS);
        assert!(holds(self.tally.len(), features.len().div_ceil(TOGETHER), width));
        let Sums { turned, lanes, added, .. } = self;
        let of = SumsOf { turned, k, lanes, added, block: self.block.ilog2() };
        let mut rows = [0.0f32; LABELS * LANES];
        let mut near = vec![0.0f32; width];
        for (at, (row, sums)) in features.clone().zip(self.u.chunks_exact_mut(width)).enumerate() {
            let entries = turned.offsets[row]..turned.offsets[row + 1];
            let ends = |entries: &[u32]| entries.first().zip(entries.last()).map_or(0, |(a, b)| a ^ b);
            // SAFETY: as asserted.
            unsafe {
                if ends(&turned.at[entries.clone()]) >> of.block == 0 {
                    sum_entries::<FMA>(&of, entries, &mut rows, sums);
                } else {
                    join_blocks::<FMA>(&of, entries, &mut rows, sums);
                }
            }
            for (near, &sum) in near.iter_mut().zip(&*sums) {
                *near += sum * if self.squares { sum } else { 1.0 };
            }
            if at % TOGETHER == TOGETHER - 1 || row + 1 == features.end {
                let tally = &mut self.tally[at / TOGETHER * width..][..width];
                for (tally, near) in tally.iter_mut().zip(&mut near) {
                    *tally = f64::from(std::mem::take(near));
                }
            }
        }
    }
}

/// `ln(x + added)` of every number.
pub(crate) struct Logarithms<'a> {
    /// Rows of k × lanes.
    pub x: &'a mut [f32],
    /// For each lane.
    pub added: [f32; LANES],
}

impl Kernel for Logarithms<'_> {
    type T = f32;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        for lanes in self.x.as_chunks_mut::<LANES>().0 {
            for l in 0..LANES {
                lanes[l] = logarithm(lanes[l] + self.added[l]);
            }
        }
    }
}

/// The natural logarithm of a positive normal number, the same bits in every form that it is compiled to: of `m·2ᵉ` with m
/// near 1 it is `e·ln 2 + 2·artanh((m − 1)/(m + 1))`. Wrong by about one unit in the last place.
#[inline(always)]
pub(crate) fn logarithm(x: f32) -> f32 {
    const ROOT: u32 = 0x3f35_04f3; // 1/√2
    let bits = x.to_bits().wrapping_sub(ROOT);
    let exponent = (bits as i32) >> 23;
    let m = f32::from_bits((bits & 0x007f_ffff).wrapping_add(ROOT));
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let series = z * (1.0 / 3.0 + z * (1.0 / 5.0 + z * (1.0 / 7.0 + z * (1.0 / 9.0))));
    exponent as f32 * std::f32::consts::LN_2 + (2.0 * s + 2.0 * s * series)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{forms, numbers, run_form};
    use super::*;

    #[test]
    fn lanes_are_the_plain_loops_of_each_run() {
        let (points, features) = (37, 70);
        let x = numbers(points * features, 5);
        let stored = |p: usize, f: usize| (p * 7 + f * 3).is_multiple_of(4);
        let (mut offsets, mut at, mut values) = (vec![0], vec![], vec![]);
        for p in 0..points {
            for f in (0..features).filter(|&f| stored(p, f)) {
                at.push(f as u32);
                values.push(x[p * features + f] as f32);
            }
            offsets.push(at.len());
        }
        let rows = Rows::new(offsets, at, values, features);
        let turned = rows.turned();
        for (k, block) in
            [(1, 64), (2, 1), (3, 64), (4, 8), (5, 4), (7, 64), (10, 2), (11, 64), (23, 8), (32, 64)]
        {
            let u: Vec<f32> = numbers(features * k * LANES, 6).iter().map(|&x| x as f32).collect();
            let inverse: Vec<f32> = (0..k * LANES).map(|i| [1.0, 0.5, 2.0][i % 3]).collect();
            let offset: Vec<f32> = numbers(k * LANES, 7).iter().map(|&x| x as f32).collect();
            let shift: Vec<f32> = (0..points).map(|p| (p % 3) as f32).collect();
            let label: Vec<u8> =
                (0..points * LANES).map(|i| if i % 11 == 3 { NONE } else { (i * 5 % k) as u8 }).collect();
            let factor: Vec<f32> = numbers(points * LANES, 8).iter().map(|&x| x as f32).collect();
            for form in forms() {
                let (from, count) = (3, points - 5);
                let (mut nearest, mut score) = (vec![0; count * LANES], vec![0.0; count * LANES]);
                run_form(
                    form,
                    Nearest {
                        to: Scored { rows: &rows, k, u: &u, inverse: &inverse, offset: &offset },
                        from,
                        shift: &shift[from..],
                        label: &mut nearest,
                        score: &mut score,
                    },
                );
                for (p, l) in (0..count).flat_map(|p| (0..LANES).map(move |l| (p, l))) {
                    let of = |c: usize| {
                        let product: f32 =
                            rows.row(from + p).map(|(f, x)| x * u[(f * k + c) * LANES + l]).sum();
                        product * inverse[c * LANES + l] - shift[from + p] * offset[c * LANES + l]
                    };
                    let best = (0..k).rev().max_by(|&a, &b| of(a).total_cmp(&of(b))).unwrap();
                    assert_eq!(usize::from(nearest[p * LANES + l]), best, "{form}, k = {k}");
                    assert_eq!(score[p * LANES + l], of(best), "{form}, k = {k}");
                }
                let (mut sums, squares) = (vec![f32::NAN; features * k * LANES], k % 2 == 0);
                let mut tallies = vec![0.0; features.div_ceil(TOGETHER) * k * LANES];
                // In two pieces, as by two threads.
                let (lower, upper) = sums.split_at_mut(TOGETHER * k * LANES);
                let (lower_tally, upper_tally) = tallies.split_at_mut(k * LANES);
                for (from, u, tally) in [(0, lower, lower_tally), (TOGETHER, upper, upper_tally)] {
                    let added = Added::ToOne { label: &label, factor: &factor };
                    let (turned, lanes) = (&turned, LANES);
                    run_form(form, Sums { turned, k, block, lanes, added, from, u, squares, tally });
                }
                let mut expected = vec![0.0; features * k * LANES];
                for (p, l) in (0..points).flat_map(|p| (0..LANES).map(move |l| (p, l))) {
                    let (to, factor) = (usize::from(label[p * LANES + l]), factor[p * LANES + l]);
                    if to < k {
                        rows.row(p).for_each(|(f, x)| expected[(f * k + to) * LANES + l] += factor * x);
                    }
                }
                assert_eq!(sums, expected, "{form}, k = {k}, blocks of {block}");
                for (i, tally) in tallies.iter().enumerate() {
                    let (chunk, column) = (i / (k * LANES), i % (k * LANES));
                    let rows = expected.chunks(k * LANES).skip(chunk * TOGETHER).take(TOGETHER);
                    let sum: f32 =
                        rows.map(|row| row[column] * if squares { row[column] } else { 1.0 }).sum();
                    assert_eq!(*tally, f64::from(sum), "{form}, k = {k}");
                }
                // Lanes that nobody uses are left alone.
                let few = Sums {
                    turned: &turned,
                    k,
                    block,
                    lanes: 2,
                    added: Added::ToOne { label: &label, factor: &factor },
                    from: 0,
                    u: &mut sums,
                    squares,
                    tally: &mut tallies,
                };
                run_form(form, few);
                let used = |i: &usize| i % LANES < 2;
                assert!((0..expected.len()).filter(used).all(|i| sums[i] == expected[i]), "{form}, k = {k}");
                let mut logarithms = vec![0.0f32, 1e-30, 0.3, 0.7, 1.0, 1.5, 8.0, 1e30];
                run_form(form, Logarithms { x: &mut logarithms, added: [1e-3; LANES] });
                for (got, x) in logarithms.iter().zip([0.0f32, 1e-30, 0.3, 0.7, 1.0, 1.5, 8.0, 1e30]) {
                    assert_eq!(*got, logarithm(x + 1e-3), "{form}");
                    assert!(
                        (f64::from(*got) - f64::from(x + 1e-3).ln()).abs() < 2e-7 * got.abs().max(1.0) as f64
                    );
                }
            }
        }
    }
}
