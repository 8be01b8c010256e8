//! Eight runs side by side on sparse points, in float32: one position and one value of an entry serve all of them, and the
//! largest of k products is k comparisons of vectors.
//!
//! What belongs to the runs lies in lanes: centroids as features × k × lanes, labels and factors as points × lanes. Lanes
//! never meet, so that a run's numbers do not depend on which others are beside it; each of its sums is made in the
//! order of the entries, by one accumulator, so that they do not depend on who makes them either.

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
fn share(left: usize) -> usize {
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

/// For each point and lane the cluster with the largest `mᵀu·inverse − shift·offset`, the first of equals, and that score.
pub(crate) struct Nearest<'a> {
    pub rows: &'a Rows,
    pub from: usize,
    pub k: usize,
    /// features × k × lanes.
    pub u: &'a [f32],
    /// k × lanes.
    pub inverse: &'a [f32],
    pub offset: &'a [f32],
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

/// Scores of the point with these entries with Q clusters from `first` on.
///
/// # Safety
/// `u` holds a row of k·LANES numbers for every column of `rows`, `inverse` and `offset` one; `first + Q <= k`.
#[inline(always)]
unsafe fn compare<const FMA: bool, const Q: usize>(
    nearest: &Nearest,
    row: usize,
    first: usize,
    shift: f32,
    best: &mut Best,
) {
    let Nearest { rows, k, u, inverse, offset, .. } = nearest;
    let width = k * LANES;
    let (begin, end) = (rows.offsets[row], rows.offsets[row + 1]);
    let last = rows.at.len().saturating_sub(1);
    let mut sums = [[0.0f32; LANES]; Q];
    for entry in begin..end {
        // SAFETY: `entry` and `last` are entries, and the rest is as promised.
        unsafe {
            let [ahead]: [u32; 1] = load(&rows.at, (entry + AHEAD).min(last));
            ask(u, ahead as usize * width + first * LANES, Q * LANES);
            let ([at], [x]): ([u32; 1], [f32; 1]) = (load(&rows.at, entry), load(&rows.x, entry));
            for q in 0..Q {
                add_times::<f32, LANES, FMA>(
                    &mut sums[q],
                    x,
                    load(u, at as usize * width + (first + q) * LANES),
                );
            }
        }
    }
    for q in 0..Q {
        // SAFETY: as promised.
        let (inverse, offset): ([f32; LANES], [f32; LANES]) =
            unsafe { (load(inverse, (first + q) * LANES), load(offset, (first + q) * LANES)) };
        let mut score = [0.0; LANES];
        for l in 0..LANES {
            score[l] = sums[q][l] * inverse[l] - shift * offset[l];
        }
        keep_larger::<FMA>(&mut best.score, &mut best.label, score, (first + q) as i32);
    }
}

impl Kernel for Nearest<'_> {
    type T = f32;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(mut self) {
        let (label, score) = (std::mem::take(&mut self.label), std::mem::take(&mut self.score));
        let (k, rows, count) = (self.k, self.rows, label.len() / LANES);
        assert!(holds(self.u.len(), rows.columns, k * LANES) && self.from + count <= rows.len());
        assert!(holds(self.inverse.len(), k, LANES) && holds(self.offset.len(), k, LANES));
        assert!(score.len() >= count * LANES && self.shift.len() >= count && k < NONE as usize);
        for p in 0..count {
            let row = self.from + p;
            let mut best = Best { score: [f32::NEG_INFINITY; LANES], label: [0; LANES] };
            let mut first = 0;
            while first < k {
                let q = share(k - first);
                // SAFETY: as asserted; `first + q` is at most k, and `share` never above the clusters that there are.
                unsafe {
                    with_clusters!(q, compare::<FMA>(&self, row, first, self.shift[p], &mut best));
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

/// `u[f, c] = Σ factor_j·x_j` over the points j with label c, for every lane: feature by feature over the transposed copy,
/// so that what is added to stays in the nearest cache. Blocks of points are summed by themselves and joined as [`crate::matrix::Cut`] says.
pub(crate) struct Sums<'a> {
    /// Features, each with its points.
    pub turned: &'a Rows,
    pub k: usize,
    /// Points of a block.
    pub block: usize,
    /// How many lanes are used.
    pub lanes: usize,
    /// points × lanes.
    pub label: &'a [u8],
    pub factor: &'a [f32],
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

/// Adds some entries of a feature to the sums of their labels, which are zero before.
///
/// # Safety
/// `label` and `factor` hold LANES numbers for every column of `turned`; `entries` are some of its.
#[inline(always)]
unsafe fn add_entries<const FMA: bool>(
    of: &Sums,
    entries: std::ops::Range<usize>,
    sums: &mut [f32; LABELS * LANES],
) {
    // Vectors are named for this many lanes; elsewhere the compiler would take the comparisons apart.
    if !(FMA && cfg!(target_arch = "x86_64")) || of.k > COMPARED {
        // SAFETY: as promised.
        return unsafe { add_by_row(of, entries, sums) };
    }
    let mut first = 0;
    while first < of.k {
        let q = share(of.k - first);
        // SAFETY: as promised.
        unsafe { with_clusters!(q, add_compared::<FMA>(of, entries.clone(), first, sums)) };
        first += q;
    }
}

/// The sums of Q clusters from `first` on, in registers: labels are compared with every one of them.
///
/// # Safety
/// As for [`add_entries`].
#[inline(always)]
unsafe fn add_compared<const FMA: bool, const Q: usize>(
    of: &Sums,
    entries: std::ops::Range<usize>,
    first: usize,
    sums: &mut [f32; LABELS * LANES],
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
        sums[(first + q) * LANES..][..LANES].copy_from_slice(&own[q]);
    }
}

/// Adds to the rows of labels, one number after the other.
///
/// # Safety
/// As for [`add_entries`].
#[inline(always)]
unsafe fn add_by_row(of: &Sums, entries: std::ops::Range<usize>, sums: &mut [f32; LABELS * LANES]) {
    for entry in entries {
        // SAFETY: as promised; a label is a byte, and there is a row for each.
        unsafe {
            let (label, x) = added::<false>(of, entry);
            let mut add = |l: usize| {
                let place = usize::from(label[l]) * LANES + l;
                let [sum]: [f32; 1] = load(sums, place);
                put(sums, place, [sum + x[l]]);
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
/// As for [`add_entries`]; `entry` is one.
#[inline(always)]
unsafe fn added<const FMA: bool>(of: &Sums, entry: usize) -> ([u8; LANES], [f32; LANES]) {
    let Sums { turned, label, factor, .. } = of;
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
/// As for [`add_entries`].
#[inline(always)]
unsafe fn join_blocks<const FMA: bool>(
    sums: &Sums,
    entries: std::ops::Range<usize>,
    own: &mut [f32; LABELS * LANES],
) {
    let Sums { turned, block, k, .. } = sums;
    let width = k * LANES;
    // Sums that wait for what comes after them, each with one of its blocks.
    let mut waiting: Vec<(usize, Vec<f64>)> = vec![];
    let mut begin = entries.start;
    while begin < entries.end {
        let at = turned.at[begin] as usize / block;
        let rest = &turned.at[begin..entries.end];
        let next = begin + rest.partition_point(|&point| (point as usize) < (at + 1) * block);
        own[..width].fill(0.0);
        // SAFETY: as promised.
        unsafe { add_entries::<FMA>(sums, begin..next, own) };
        // Those that meet before they meet this one.
        while let [.., (a, _), (b, _)] = waiting[..]
            && (a ^ b).checked_ilog2() < (b ^ at).checked_ilog2()
        {
            join(&mut waiting);
        }
        waiting.push((at, own[..width].iter().map(|&x| f64::from(x)).collect()));
        begin = next;
    }
    while waiting.len() > 1 {
        join(&mut waiting);
    }
    for (_, all) in waiting {
        own.iter_mut().zip(all).for_each(|(own, all)| *own = all as f32);
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
        assert!(holds(self.label.len(), self.turned.columns, LANES) && self.block > 0);
        assert!(holds(self.factor.len(), self.turned.columns, LANES) && self.lanes <= LANES);
        assert!(features.end <= self.turned.len() && self.from.is_multiple_of(TOGETHER) && k < LABELS);
        assert!(holds(self.tally.len(), features.len().div_ceil(TOGETHER), width));
        let mut own = [0.0f32; LABELS * LANES];
        let mut near = vec![0.0f32; width];
        for (at, row) in features.clone().enumerate() {
            let entries = self.turned.offsets[row]..self.turned.offsets[row + 1];
            own[..width].fill(0.0);
            let block = |entry: Option<usize>| entry.map(|entry| self.turned.at[entry] as usize / self.block);
            // SAFETY: as asserted.
            unsafe {
                if block(entries.clone().next()) == block(entries.clone().last()) {
                    add_entries::<FMA>(&self, entries, &mut own);
                } else {
                    join_blocks::<FMA>(&self, entries, &mut own);
                }
            }
            self.u[at * width..(at + 1) * width].copy_from_slice(&own[..width]);
            for (near, &own) in near.iter_mut().zip(&own) {
                *near += own * if self.squares { own } else { 1.0 };
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
                        rows: &rows,
                        from,
                        k,
                        u: &u,
                        inverse: &inverse,
                        offset: &offset,
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
                    let (turned, label, factor) = (&turned, &label, &factor);
                    let lanes = LANES;
                    run_form(form, Sums { turned, k, block, lanes, label, factor, from, u, squares, tally });
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
                    label: &label,
                    factor: &factor,
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
