//! Sums of dense points: all columns for every point, or one column for each.

use super::super::{Kernel, Real, add_times, holds, last, load, load_last, put};

/// `sums[i, :] += Σ_p b[p, i] · x_p` for the points of one block.
pub(crate) struct Sum<'a, T> {
    pub x: &'a [T],
    pub features: usize,
    /// points × width.
    pub b: &'a [T],
    pub width: usize,
    /// `width` rows of `pitch ≥ features` numbers.
    pub sums: &'a mut [T],
    pub pitch: usize,
}

impl<T> Sum<'_, T> {
    /// How many points there are, all with their factors; and that there are all sums.
    #[inline(always)]
    fn points(&self) -> usize {
        let points = self.x.len() / self.features;
        assert!(holds(self.b.len(), points, self.width) && holds(self.sums.len(), self.width, self.pitch));
        assert!(self.features <= self.pitch);
        points
    }
}

/// The sums of C columns over S vectors of features from f on, held in registers for all points of the block. Of the
/// last vector, which reaches back into the one before it, only the last `new` features count.
#[inline(always)]
fn sum_tile<T: Real, const L: usize, const FMA: bool, const S: usize, const C: usize>(
    sum: &mut Sum<T>,
    f: usize,
    new: usize,
    i: usize,
) {
    let (features, width, pitch) = (sum.features, sum.width, sum.pitch);
    let mut sums = [[[T::default(); L]; S]; C];
    let mask = last(new);
    let points = sum.points();
    assert!(f + S * L <= features && i + C <= width);
    for c in 0..C {
        for s in 0..S {
            // SAFETY: the s-th vector from f on of one of `width` rows.
            sums[c][s] = unsafe { load(sum.sums, (i + c) * pitch + f + s * L) };
        }
    }
    for p in 0..points {
        let mut vectors = [[T::default(); L]; S];
        // SAFETY: the same vectors of a point, and C of its `width` factors.
        let factors: [T; C] = unsafe {
            for s in 0..S {
                let at = p * features + f + s * L;
                vectors[s] =
                    if new == L { load(sum.x, at) } else { load_last::<T, L, FMA>(sum.x, at + L, &mask) };
            }
            load(sum.b, p * width + i)
        };
        for c in 0..C {
            for s in 0..S {
                add_times::<T, L, FMA>(&mut sums[c][s], factors[c], vectors[s]);
            }
        }
    }
    for c in 0..C {
        for s in 0..S {
            // SAFETY: where they were loaded from.
            unsafe { put(sum.sums, (i + c) * pitch + f + s * L, sums[c][s]) };
        }
    }
}

/// All features for C columns from i on: as many sums at a time as the registers hold.
#[inline(always)]
fn sum_columns<T: Real, const L: usize, const FMA: bool, const C: usize>(sum: &mut Sum<T>, i: usize) {
    let features = sum.features;
    if features < L {
        let points = sum.x.chunks_exact(features).zip(sum.b.chunks_exact(sum.width));
        for (point, b) in points.take(sum.points()) {
            for c in i..i + C {
                let sums = &mut sum.sums[c * sum.pitch..][..features];
                sums.iter_mut().zip(point).for_each(|(sum, &x)| *sum = sum.plus::<FMA>(b[c], x));
            }
        }
        return;
    }
    let mut f = 0;
    if L * size_of::<T>() == 64 {
        while f + 4 * L <= features {
            sum_tile::<T, L, FMA, 4, C>(sum, f, L, i);
            f += 4 * L;
        }
    }
    while f + 2 * L <= features {
        sum_tile::<T, L, FMA, 2, C>(sum, f, L, i);
        f += 2 * L;
    }
    if f + L <= features {
        sum_tile::<T, L, FMA, 1, C>(sum, f, L, i);
        f += L;
    }
    if f < features {
        sum_tile::<T, L, FMA, 1, C>(sum, features - L, features - f, i);
    }
}

impl<T: Real> Kernel for Sum<'_, T> {
    type T = T;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(mut self) {
        let (features, width) = (self.features, self.width);
        if features == 0 {
            return;
        }
        let mut i = 0;
        while i + 6 <= width {
            sum_columns::<T, L, FMA, 6>(&mut self, i);
            i += 6;
        }
        match width - i {
            5 => sum_columns::<T, L, FMA, 5>(&mut self, i),
            4 => sum_columns::<T, L, FMA, 4>(&mut self, i),
            3 => sum_columns::<T, L, FMA, 3>(&mut self, i),
            2 => sum_columns::<T, L, FMA, 2>(&mut self, i),
            1 => sum_columns::<T, L, FMA, 1>(&mut self, i),
            _ => (),
        }
    }
}

/// `total += recent`, which begins anew.
pub(crate) struct Flush<'a, T> {
    /// Rows of `pitch ≥ features` numbers.
    pub recent: &'a mut [T],
    pub pitch: usize,
    /// Rows of `features` numbers.
    pub total: &'a mut [f64],
    pub features: usize,
}

impl<T: Real> Kernel for Flush<'_, T> {
    type T = T;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let Flush { recent, pitch, total, features } = self;
        assert!(features <= pitch);
        for (total, recent) in total.chunks_exact_mut(features.max(1)).zip(recent.chunks_exact_mut(pitch)) {
            for (total, recent) in total.iter_mut().zip(recent) {
                let sum: f64 = (*recent).into();
                *total += sum;
                *recent = T::default();
            }
        }
    }
}

/// `sums[to[e], :] += scale · factor[e] · x_p` for entries e = p·starts + r: every point adds to one row for each of
/// `starts` starts.
pub(crate) struct SumOne<'a, T> {
    pub x: &'a [T],
    pub features: usize,
    /// points × starts: a row of `sums`, or [`NOWHERE`].
    pub to: &'a [u32],
    /// points × starts.
    pub factor: &'a [f64],
    pub scale: f64,
    pub starts: usize,
    /// Rows of `pitch ≥ features` numbers.
    pub sums: &'a mut [T],
    pub pitch: usize,
    /// Room for the entries, sorted by row: a row's sums then stay in registers from one point to the next, where a
    /// sum that is stored and loaded again for each would wait for itself.
    pub order: &'a mut Vec<(u32, T)>,
    /// Room for where each row's entries end.
    pub ends: &'a mut Vec<u32>,
}

/// A point that adds to no row.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// The sums of one row over S vectors of features from f on; `new` as for [`sum_tile`].
///
/// # Safety
/// `f + S·L <= features`; `sums` holds `features` numbers, and `x` as many for each member.
#[inline(always)]
unsafe fn sum_strip<T: Real, const L: usize, const FMA: bool, const S: usize>(
    x: &[T],
    features: usize,
    members: &[(u32, T)],
    sums: &mut [T],
    f: usize,
    new: usize,
) {
    let mut strip = [[T::default(); L]; S];
    let mask = last(new);
    for s in 0..S {
        // SAFETY: the s-th vector from f on.
        strip[s] = unsafe { load(sums, f + s * L) };
    }
    for &(p, factor) in members {
        for s in 0..S {
            let at = p as usize * features + f + s * L;
            // SAFETY: the same of a point.
            let vector: [T; L] =
                unsafe { if new == L { load(x, at) } else { load_last::<T, L, FMA>(x, at + L, &mask) } };
            add_times::<T, L, FMA>(&mut strip[s], factor, vector);
        }
    }
    for s in 0..S {
        // SAFETY: where it was loaded from.
        unsafe { put(sums, f + s * L, strip[s]) };
    }
}

impl<T: Real> Kernel for SumOne<'_, T> {
    type T = T;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let SumOne { x, features, to, factor, scale, starts, sums, pitch, order, ends } = self;
        if features == 0 {
            return;
        }
        assert!(features <= pitch);
        // Counting sort: points of a row keep their order.
        let rows = sums.len() / pitch;
        ends.clear();
        ends.resize(rows + 1, 0);
        let count = x.len() / features * starts;
        let (to, factor) = (&to[..count], &factor[..count]);
        to.iter().filter(|&&to| to != NOWHERE).for_each(|&to| ends[to as usize + 1] += 1);
        for row in 0..rows {
            ends[row + 1] += ends[row];
        }
        order.clear();
        order.resize(ends[rows] as usize, (0, T::default()));
        for (e, (&to, &factor)) in to.iter().zip(factor).enumerate() {
            if to != NOWHERE {
                let end = &mut ends[to as usize];
                order[*end as usize] = ((e / starts) as u32, T::of(factor * scale));
                *end += 1;
            }
        }
        let mut from = 0;
        for (sums, &end) in sums.chunks_exact_mut(pitch).zip(&*ends) {
            let members = &order[from..end as usize];
            from = end as usize;
            if members.is_empty() {
                continue;
            }
            if features < L {
                for &(p, factor) in members {
                    let point = &x[p as usize * features..(p as usize + 1) * features];
                    sums.iter_mut().zip(point).for_each(|(sum, &x)| *sum = sum.plus::<FMA>(factor, x));
                }
                continue;
            }
            let mut f = 0;
            // SAFETY: entries are `count`, so that each member's point e / `starts` is one of `x`; no more vectors are
            // taken than are left, and the last reaches back by less than L ≤ `features`.
            unsafe {
                while f + 8 * L <= features {
                    sum_strip::<T, L, FMA, 8>(x, features, members, sums, f, L);
                    f += 8 * L;
                }
                if f + 4 * L <= features {
                    sum_strip::<T, L, FMA, 4>(x, features, members, sums, f, L);
                    f += 4 * L;
                }
                while f + L <= features {
                    sum_strip::<T, L, FMA, 1>(x, features, members, sums, f, L);
                    f += L;
                }
                if f < features {
                    sum_strip::<T, L, FMA, 1>(x, features, members, sums, features - L, features - f);
                }
            }
        }
    }
}
