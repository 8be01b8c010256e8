//! Inner loops. One generic source is compiled for AVX-512, AVX2 + FMA and the baseline (NEON on
//! ARM), and the best that the machine has is chosen at run time: see [`run`].
//!
//! Written by hand because no library is fast at products with a matrix of 2 to 20 columns; the
//! plain versions that the tests compare them with are in `tests` below.

pub(crate) mod dense;
pub(crate) mod lanes;
pub mod machine;
mod memory;
mod pages;
mod reduce;
pub(crate) mod shares;
pub(crate) mod sparse;
pub(crate) mod tall;
mod vectors;

use std::sync::OnceLock;

pub(crate) use memory::check_room;
pub use memory::{Memory, amount};
pub(crate) use pages::with_room;
use reduce::{first_largest_of_four, sums_of_points};
use vectors::{add, add_products, add_times, lanes, last, load, load_first, load_last, put, put_first};

/// The two floating-point formats that data come in.
pub trait Real:
    Lanes + Copy + Clone + Send + Sync + Default + PartialOrd + std::fmt::Debug + Into<f64> + 'static
{
    /// Scores closer than this (relative) are ties: 1e-12, or what float32 can tell apart.
    const TIE: f64;
    /// Half the distance from 1 to the next number.
    const ROUNDING: f64;
    /// Sums of this many points may be held in this format before they go over to float64.
    const SUMS: usize;
    /// Largest exponent of a power of two that factors can be multiplied by with room to spare.
    const EXPONENT: i32;
    /// Name of the format.
    const FORMAT: super::Format;
    /// Rounded from float64.
    fn of(x: f64) -> Self;
    /// `self + a·b`, fused where `FMA` says that the machine can.
    fn plus<const FMA: bool>(self, a: Self, b: Self) -> Self;
    /// `self + b`.
    fn add(self, b: Self) -> Self;
    /// Its bits, folded to 32.
    fn word(self) -> u32;
    /// Dense points of this format among the kinds of points.
    fn dense(points: super::Dense<'_, Self>) -> super::AnyPoints<'_>;
    /// Sparse points with 32-bit columns among the kinds of points.
    fn narrow(points: super::Csr<'_, Self, i32>) -> super::AnyPoints<'_>;
    /// Sparse points with 64-bit columns among the kinds of points.
    fn wide(points: super::Csr<'_, Self, i64>) -> super::AnyPoints<'_>;
}

/// Runs a kernel with vectors of 64, 32 or 16 bytes; a format knows how many of its numbers that is.
pub trait Lanes: Sized {
    /// 64 bytes.
    fn run64<K: Kernel<T = Self>>(kernel: K) -> K::Out;
    /// 32 bytes.
    fn run32<K: Kernel<T = Self>>(kernel: K) -> K::Out;
    /// 16 bytes.
    fn run16<K: Kernel<T = Self>>(kernel: K) -> K::Out;
}

macro_rules! real {
    ($t:ty, $lanes:expr, $tie:expr, $sums:expr, $exponent:expr, $format:ident, $x:ident => $word:expr) => {
        impl Real for $t {
            const TIE: f64 = $tie;
            const ROUNDING: f64 = <$t>::EPSILON as f64 / 2.0;
            const SUMS: usize = $sums;
            const EXPONENT: i32 = $exponent;
            const FORMAT: super::Format = super::Format::$format;
            #[inline(always)]
            fn of(x: f64) -> Self {
                x as $t
            }
            #[inline(always)]
            fn plus<const FMA: bool>(self, a: Self, b: Self) -> Self {
                if FMA { a.mul_add(b, self) } else { a * b + self }
            }
            #[inline(always)]
            fn add(self, b: Self) -> Self {
                self + b
            }
            #[inline(always)]
            fn word(self) -> u32 {
                let $x = self;
                $word
            }
            fn dense(points: super::Dense<'_, Self>) -> super::AnyPoints<'_> {
                points.into()
            }
            fn narrow(points: super::Csr<'_, Self, i32>) -> super::AnyPoints<'_> {
                points.into()
            }
            fn wide(points: super::Csr<'_, Self, i64>) -> super::AnyPoints<'_> {
                points.into()
            }
        }

        impl Lanes for $t {
            #[inline(always)]
            fn run64<K: Kernel<T = Self>>(kernel: K) -> K::Out {
                kernel.run::<{ 4 * $lanes }, true>()
            }
            #[inline(always)]
            fn run32<K: Kernel<T = Self>>(kernel: K) -> K::Out {
                kernel.run::<{ 2 * $lanes }, true>()
            }
            #[inline(always)]
            fn run16<K: Kernel<T = Self>>(kernel: K) -> K::Out {
                // NEON always has a fused multiply-add; x86-64 without AVX2 would call a slow library routine.
                kernel.run::<$lanes, { cfg!(target_arch = "aarch64") }>()
            }
        }
    };
}
// One float32 accumulator over 94249 points errs 1.7e-5, blocks of 256 summed in float64 3.6e-8.
real!(f32, 4, 1e-6, 256, 100, F32, x => x.to_bits());
real!(f64, 2, 1e-12, usize::MAX, 1000, F64, x => (x.to_bits() >> 32) as u32 ^ (x.to_bits() as u32).rotate_left(7));

/// An inner loop: `L` numbers of `T` fill a vector register, `FMA` says whether to fuse.
pub trait Kernel: Sized {
    /// Format of the numbers.
    type T: Real;
    /// What it returns.
    type Out;
    /// Must be `#[inline(always)]`, so that it is compiled anew inside each function below; so must all that it calls
    /// with arithmetic in it. No closure can be: one that is called twice becomes a function of its own, without the
    /// machine's vectors, in which every fused multiplication is a call of a library.
    fn run<const L: usize, const FMA: bool>(self) -> Self::Out;
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Level {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Baseline,
}

fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("fma")
            {
                return Level::Avx512;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return Level::Avx2;
            }
        }
        Level::Baseline
    })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
fn run_avx512<K: Kernel>(kernel: K) -> K::Out {
    K::T::run64(kernel)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2<K: Kernel>(kernel: K) -> K::Out {
    K::T::run32(kernel)
}

/// How many float64 numbers a vector holds in the form that [`run`] chooses.
pub(crate) fn vector() -> usize {
    match level() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => 8,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => 4,
        Level::Baseline => 2,
    }
}

/// Not inlined, as the others cannot be: there would be a copy of it wherever a kernel is run.
#[inline(never)]
fn run_baseline<K: Kernel>(kernel: K) -> K::Out {
    K::T::run16(kernel)
}

/// Runs a kernel in the widest form that this machine has.
#[inline]
pub(crate) fn run<K: Kernel>(kernel: K) -> K::Out {
    match level() {
        // SAFETY: `level` returns these only after the CPU was asked for every feature enabled there.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { run_avx512(kernel) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { run_avx2(kernel) },
        Level::Baseline => run_baseline(kernel),
    }
}

/// Numbers from the beginning of a cache line on, zero at first: rows that fill whole lines then lie in no more of them
/// than they must. (What the allocator gives begins 16 bytes after one.)
pub(crate) struct Aligned<T> {
    room: Vec<T>,
    from: usize,
    length: usize,
}

impl<T: Real> Aligned<T> {
    const LINE: usize = 64;

    pub(crate) fn zeros(length: usize) -> Self {
        let spare = Self::LINE / size_of::<T>();
        let room = vec![T::default(); length + spare];
        let from = room.as_ptr().align_offset(Self::LINE).min(spare);
        Aligned { room, from, length }
    }
}

impl<T> std::ops::Deref for Aligned<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.room[self.from..self.from + self.length]
    }
}

impl<T> std::ops::DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.room[self.from..self.from + self.length]
    }
}

/// Whether `length` numbers are `rows` rows of `pitch`, or more. Kernels ask this once, of all that they are given, and
/// then walk along the rows unchecked: no position within them overflows.
#[inline(always)]
fn holds(length: usize, rows: usize, pitch: usize) -> bool {
    rows.checked_mul(pitch).is_some_and(|needed| needed <= length)
}

/// How far ahead of their use numbers are asked for.
const AHEAD: usize = 16 << 10;

/// Asks for what stands `AHEAD` bytes after `count` numbers from position `at`. Rows that are read side by side are no
/// pattern that processors see through by themselves: a pass over dense points took twice as long without this.
#[inline(always)]
fn prefetch<T>(x: &[T], at: usize, count: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        let from = x.as_ptr().wrapping_add(at).cast::<i8>();
        for line in (AHEAD..AHEAD + count * size_of::<T>()).step_by(64) {
            // SAFETY: it is a hint, which may name any address, and every x86-64 has it.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(from.wrapping_add(line)) }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (x, at, count);
}

struct Dot<'a>(&'a [f64], &'a [f64]);

impl Kernel for Dot<'_> {
    type T = f64;
    type Out = f64;
    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) -> f64 {
        let Dot(x, y) = self;
        let n = x.len().min(y.len());
        let mut sums = [[0.0f64; L]; 4];
        let mut at = 0;
        while at + 4 * L <= n {
            for (p, sum) in sums.iter_mut().enumerate() {
                let at = at + p * L;
                // SAFETY: p < 4, and n is the shorter length.
                let (a, b): ([f64; L], [f64; L]) = unsafe { (load(x, at), load(y, at)) };
                add_products::<f64, L, FMA>(sum, a, b);
            }
            at += 4 * L;
        }
        let mut total = 0.0;
        for sum in sums {
            total += lanes(sum);
        }
        for i in at..n {
            total = total.plus::<FMA>(x[i], y[i]);
        }
        total
    }
}

/// `xᵀy`.
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    run(Dot(x, y))
}

struct Axpy<'a>(f64, &'a [f64], &'a mut [f64]);

impl Kernel for Axpy<'_> {
    type T = f64;
    type Out = ();
    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let Axpy(a, x, y) = self;
        for (y, &x) in y.iter_mut().zip(x) {
            *y = y.plus::<FMA>(a, x);
        }
    }
}

/// `y ← y + a·x`.
pub(crate) fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    run(Axpy(a, x, y))
}

#[cfg(test)]
mod tests;
