//! What this machine can do at most, in the same instruction sets as the kernels: the benches put the
//! time of a pass in relation to it.

use super::{Kernel, Real, add, add_products, lanes, load, run};

/// Reads numbers as `S` streams side by side and adds them up.
struct Read<'a, T, const S: usize>(&'a [T]);

impl<T: Real, const S: usize> Kernel for Read<'_, T, S> {
    type T = T;
    type Out = T;

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) -> T {
        let length = self.0.len() / S;
        let mut sums = [[[T::default(); L]; 2]; S];
        let mut at = 0;
        while at + 2 * L <= length {
            for s in 0..S {
                for half in 0..2 {
                    // SAFETY: of S streams of `length` each, the s-th, in which two vectors are left.
                    let vector: [T; L] = unsafe { load(self.0, s * length + at + half * L) };
                    add::<T, L, FMA>(&mut sums[s][half], vector);
                }
            }
            at += 2 * L;
        }
        sums.into_iter().flatten().fold(T::default(), |total, sum| total.add(lanes(sum)))
    }
}

/// Reads all of `x` from one place after the other (`streams` 1) or from 4 or 8 places in turn, and returns its
/// sum so that nothing can be left out.
pub fn read<T: Real>(x: &[T], streams: usize) -> T {
    match streams {
        0 | 1 => run(Read::<T, 1>(x)),
        2..=4 => run(Read::<T, 4>(x)),
        _ => run(Read::<T, 8>(x)),
    }
}

/// As many sums as hide the latency of a multiply-add and still fit the registers of AVX2.
const SUMS: usize = 12;

struct MultiplyAdd<T>(usize, T);

impl<T: Real> Kernel for MultiplyAdd<T> {
    type T = T;
    /// The number of operations, and a sum that depends on all of them.
    type Out = (usize, T);

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) -> (usize, T) {
        let MultiplyAdd(rounds, x) = self;
        let mut sums = [[x; L]; SUMS];
        for _ in 0..rounds {
            for sum in &mut sums {
                let mut next = [x; L];
                add_products::<T, L, FMA>(&mut next, *sum, [x; L]);
                *sum = next;
            }
        }
        let total = sums.into_iter().fold(T::default(), |total, sum| total.add(lanes(sum)));
        (2 * rounds * SUMS * L, total)
    }
}

/// Multiplies and adds in registers alone, `rounds` times; returns how many operations that were (a fused one
/// counts as two) and a number that depends on all of them. `x` should be one that the compiler does not know.
pub fn multiply_add<T: Real>(rounds: usize, x: T) -> (usize, T) {
    run(MultiplyAdd(rounds, x))
}

/// The instruction set that was chosen.
pub fn instructions() -> &'static str {
    match super::level() {
        #[cfg(target_arch = "x86_64")]
        super::Level::Avx512 => "AVX-512",
        #[cfg(target_arch = "x86_64")]
        super::Level::Avx2 => "AVX2 and FMA",
        super::Level::Baseline => "baseline",
    }
}
