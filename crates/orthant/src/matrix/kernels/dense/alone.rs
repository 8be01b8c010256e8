//! Every point alone: its product with one vector, its norm, and what a first look at it tells.

use super::super::{Kernel, Real, holds, lanes, load, prefetch};
use super::NOWHERE;

/// `out[p] = scale · x_pᵀu[to_p, :]` in float64, whatever the format of the points.
pub(crate) struct DotOne<'a, T> {
    pub x: &'a [T],
    pub features: usize,
    pub scale: f64,
    /// A row of `u` for each point, or [`NOWHERE`].
    pub to: &'a [u32],
    /// Rows of `features` numbers.
    pub u: &'a [f64],
    pub out: &'a mut [f64],
}

impl<T: Real> Kernel for DotOne<'_, T> {
    type T = f64;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let DotOne { x, features, scale, to, u, out } = self;
        assert!(holds(x.len(), to.len(), features));
        for (p, (&to, out)) in to.iter().zip(out).enumerate() {
            prefetch(x, p * features, features);
            if to == NOWHERE {
                *out = 0.0;
                continue;
            }
            let (point, u) = (&x[p * features..(p + 1) * features], &u[to as usize * features..][..features]);
            *out = scale * dot_wide::<T, L, FMA>(point, u);
        }
    }
}

/// `‖scale·x − v·u‖²` of one point in float64.
pub(crate) struct Left<'a, T> {
    pub x: &'a [T],
    pub scale: f64,
    pub u: &'a [f64],
    pub v: f64,
}

impl<T: Real> Kernel for Left<'_, T> {
    type T = f64;
    type Out = f64;

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) -> f64 {
        let Left { x, scale, u, v } = self;
        let u = &u[..x.len()];
        let mut sums = [0.0f64; L];
        let whole = x.len() / L * L;
        for f in (0..whole).step_by(L) {
            // SAFETY: both are as long, and `whole` is no longer.
            let (x, u): ([T; L], [f64; L]) = unsafe { (load(x, f), load(u, f)) };
            for l in 0..L {
                let x: f64 = x[l].into();
                let left = x * scale - v * u[l];
                sums[l] = sums[l].plus::<FMA>(left, left);
            }
        }
        for f in whole..x.len() {
            let x: f64 = x[f].into();
            let left = x * scale - v * u[f];
            sums[f - whole] = sums[f - whole].plus::<FMA>(left, left);
        }
        lanes(sums)
    }
}

/// Between which numbers each feature lies.
pub(crate) struct Extent<T> {
    least: Vec<T>,
    most: Vec<T>,
    /// Zero, or NaN where an entry was not finite.
    nothing: Vec<T>,
}

impl<T: Real> Extent<T> {
    pub(crate) fn new(features: usize) -> Self {
        let zeros = || vec![T::default(); features];
        Extent { least: zeros(), most: zeros(), nothing: zeros() }
    }

    /// The largest entry of each feature, if all that were seen are finite and not negative.
    pub(crate) fn most(&self) -> Option<Vec<f64>> {
        let zero = T::default();
        let fine = self.least.iter().chain(&self.nothing).all(|x| *x == zero);
        fine.then(|| self.most.iter().map(|&x| x.into()).collect())
    }
}

/// Widens an extent to hold some points.
pub(crate) struct Extend<'a, T> {
    pub x: &'a [T],
    pub extent: &'a mut Extent<T>,
}

impl<T: Real> Kernel for Extend<'_, T> {
    type T = T;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let Extent { least, most, nothing } = self.extent;
        let features = least.len();
        // As slices: through the vectors each number would be stored before the next is loaded.
        let (least, most, nothing) = (&mut least[..], &mut most[..features], &mut nothing[..features]);
        for point in self.x.chunks_exact(features.max(1)) {
            for f in 0..features {
                let x = point[f];
                least[f] = if x < least[f] { x } else { least[f] };
                most[f] = if x > most[f] { x } else { most[f] };
                nothing[f] = nothing[f].plus::<FMA>(x, T::default());
            }
        }
    }
}

/// Tells other numbers from these, or the same in another order.
pub(crate) struct Digest<'a, T> {
    pub x: &'a [T],
}

impl<T: Real> Kernel for Digest<'_, T> {
    type T = T;
    type Out = u64;

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) -> u64 {
        // Words of 32 bits, of which vectors can multiply several at once.
        const LANES: usize = 32;
        let mut lanes = [0x811c_9dc5u32; LANES];
        let chunks = self.x.chunks_exact(LANES);
        let rest = chunks.remainder();
        for chunk in chunks {
            for l in 0..LANES {
                lanes[l] = (lanes[l] ^ chunk[l].word()).wrapping_mul(0x0100_0193).rotate_left(11);
            }
        }
        for (lane, x) in lanes.iter_mut().zip(rest) {
            *lane = (*lane ^ x.word()).wrapping_mul(0x0100_0193).rotate_left(11);
        }
        crate::bytes::digest(lanes.iter().map(|&lane| u64::from(lane)))
    }
}

/// `‖scale·x‖²` of one point in float64.
pub(crate) struct Norm2<'a, T> {
    pub x: &'a [T],
    pub scale: f64,
}

impl<T: Real> Kernel for Norm2<'_, T> {
    type T = f64;
    type Out = f64;

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) -> f64 {
        let Norm2 { x, scale } = self;
        const WAYS: usize = 4;
        let mut sums = [[0.0f64; L]; WAYS];
        let whole = x.len() / (WAYS * L) * (WAYS * L);
        for f in (0..whole).step_by(WAYS * L) {
            for way in 0..WAYS {
                // SAFETY: WAYS vectors are left of what is no longer than `x`.
                let x: [T; L] = unsafe { load(x, f + way * L) };
                for l in 0..L {
                    let x = x[l].into() * scale;
                    sums[way][l] = sums[way][l].plus::<FMA>(x, x);
                }
            }
        }
        for l in 0..L {
            sums[0][l] = (sums[0][l] + sums[1][l]) + (sums[2][l] + sums[3][l]);
        }
        let mut total = lanes(sums[0]);
        for f in whole..x.len() {
            let x = x[f].into() * scale;
            total = total.plus::<FMA>(x, x);
        }
        total
    }
}

/// `xᵀu` in float64.
#[inline(always)]
fn dot_wide<T: Real, const L: usize, const FMA: bool>(x: &[T], u: &[f64]) -> f64 {
    const WAYS: usize = 4;
    let u = &u[..x.len()];
    let mut sums = [[0.0f64; L]; WAYS];
    let mut f = 0;
    while f + WAYS * L <= x.len() {
        for way in 0..WAYS {
            let f = f + way * L;
            // SAFETY: WAYS vectors are left of both, which are as long.
            let (x, u): ([T; L], [f64; L]) = unsafe { (load(x, f), load(u, f)) };
            for l in 0..L {
                sums[way][l] = sums[way][l].plus::<FMA>(x[l].into(), u[l]);
            }
        }
        f += WAYS * L;
    }
    while f + L <= x.len() {
        // SAFETY: one vector is left of both.
        let (x, u): ([T; L], [f64; L]) = unsafe { (load(x, f), load(u, f)) };
        for l in 0..L {
            sums[0][l] = sums[0][l].plus::<FMA>(x[l].into(), u[l]);
        }
        f += L;
    }
    for l in 0..L {
        sums[0][l] = (sums[0][l] + sums[1][l]) + (sums[2][l] + sums[3][l]);
    }
    let mut total = lanes(sums[0]);
    for f in f..x.len() {
        total = total.plus::<FMA>(x[f].into(), u[f]);
    }
    total
}
