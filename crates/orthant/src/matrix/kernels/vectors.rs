//! Vectors of L numbers: one register of the instruction set that [`super::run`] has chosen.
//!
//! They are arrays, which the compiler is to keep in registers. What is written number by number it first takes apart and
//! then may or may not put together again: of the same loop it made vectors of 64, 32 or 16 bytes or single numbers,
//! depending on the format and on how many sums there were (up to three times slower). The operations of the inner
//! loops are therefore named here, once; each rounds as its plain form does.

use super::Real;
use super::lanes::LANES;

/// `L` consecutive numbers from position `at`.
///
/// # Safety
/// `at + L <= x.len()`.
#[inline(always)]
pub(super) unsafe fn load<T: Copy, const L: usize>(x: &[T], at: usize) -> [T; L] {
    debug_assert!(at + L <= x.len());
    // SAFETY: within the slice, as promised; an array may lie anywhere when it is read unaligned.
    unsafe { x.as_ptr().add(at).cast::<[T; L]>().read_unaligned() }
}

/// Writes `L` consecutive numbers from position `at`.
///
/// # Safety
/// `at + L <= x.len()`.
#[inline(always)]
pub(super) unsafe fn put<T: Real, const L: usize>(x: &mut [T], at: usize, values: [T; L]) {
    debug_assert!(at + L <= x.len());
    // SAFETY: as for `load`; numbers need not be dropped.
    unsafe { x.as_mut_ptr().add(at).cast::<[T; L]>().write_unaligned(values) }
}

/// 1 for the last `new` of L numbers, 0 for the others.
#[inline(always)]
pub(super) fn last<T: Real, const L: usize>(new: usize) -> [T; L] {
    let mut mask = [T::default(); L];
    for l in 0..L {
        mask[l] = T::of(if l + new < L { 0.0 } else { 1.0 });
    }
    mask
}

/// The L numbers before position `end` times a mask from [`last`]: those that an earlier vector has had already are
/// zero. (Multiplied, because a choice for each number became a jump for each.)
///
/// # Safety
/// `L <= end` and `end <= x.len()`.
#[inline(always)]
pub(super) unsafe fn load_last<T: Real, const L: usize, const FMA: bool>(
    x: &[T],
    end: usize,
    mask: &[T; L],
) -> [T; L] {
    // SAFETY: from `end - L` to `end`.
    let vector: [T; L] = unsafe { load(x, end - L) };
    let mut masked = [T::default(); L];
    add_products::<T, L, FMA>(&mut masked, vector, *mask);
    masked
}

/// `count` ≤ L consecutive numbers from position `at`, then zeros.
///
/// # Safety
/// `at + count <= x.len()`.
#[inline(always)]
pub(super) unsafe fn load_first<T: Real, const L: usize, const FMA: bool>(
    x: &[T],
    at: usize,
    count: usize,
) -> [T; L] {
    debug_assert!(at + count <= x.len() && count <= L);
    #[cfg(target_arch = "x86_64")]
    if FMA && L * size_of::<T>() == 64 {
        use std::arch::x86_64::{_mm512_maskz_loadu_pd, _mm512_maskz_loadu_ps};
        let some = (1u32 << count) - 1;
        // SAFETY: as for `instruction`; numbers that the mask leaves out are not read.
        return unsafe {
            match L {
                16 => same(_mm512_maskz_loadu_ps(some as u16, x.as_ptr().add(at).cast())),
                _ => same(_mm512_maskz_loadu_pd(some as u8, x.as_ptr().add(at).cast())),
            }
        };
    }
    let mut vector = [T::default(); L];
    for l in 0..count {
        // SAFETY: as promised.
        vector[l] = unsafe { *x.get_unchecked(at + l) };
    }
    vector
}

/// Writes the first `count` ≤ L of some numbers from position `at`.
///
/// # Safety
/// `at + count <= x.len()`.
#[inline(always)]
pub(super) unsafe fn put_first<T: Real, const L: usize, const FMA: bool>(
    x: &mut [T],
    at: usize,
    count: usize,
    values: [T; L],
) {
    debug_assert!(at + count <= x.len() && count <= L);
    #[cfg(target_arch = "x86_64")]
    if FMA && L * size_of::<T>() == 64 {
        use std::arch::x86_64::{_mm512_mask_storeu_pd, _mm512_mask_storeu_ps};
        let mask = (1u32 << count) - 1;
        // SAFETY: as for `instruction`; numbers that the mask leaves out are not written.
        unsafe {
            match L {
                16 => _mm512_mask_storeu_ps(x.as_mut_ptr().add(at).cast(), mask as u16, same(values)),
                _ => _mm512_mask_storeu_pd(x.as_mut_ptr().add(at).cast(), mask as u8, same(values)),
            }
        }
        return;
    }
    for l in 0..count {
        // SAFETY: as promised.
        unsafe { *x.get_unchecked_mut(at + l) = values[l] };
    }
}

/// What two formats of numbers are in instructions, by the bytes of a number and how many fill a register.
#[cfg(target_arch = "x86_64")]
macro_rules! instruction {
    ($T:ty, $L:expr, $ps256:ident, $pd256:ident, $ps512:ident, $pd512:ident, $sum:expr $(, $x:expr)*) => {{
        use std::arch::x86_64::*;
        // SAFETY: kernels are told to fuse, with vectors of this length, only on machines that were asked for the
        // instructions; `same` is between arrays and registers of as many bytes.
        unsafe {
            match (size_of::<$T>(), $L) {
                (4, 8) => return *$sum = same($ps256($(same::<_, __m256>($x),)* same(*$sum))),
                (8, 4) => return *$sum = same($pd256($(same::<_, __m256d>($x),)* same(*$sum))),
                (4, 16) => return *$sum = same($ps512($(same::<_, __m512>($x),)* same(*$sum))),
                (8, 8) => return *$sum = same($pd512($(same::<_, __m512d>($x),)* same(*$sum))),
                _ => (),
            }
        }
    }};
}

/// The same bytes under another name.
///
/// # Safety
/// Both take as many bytes, and any bytes are a value of `B`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) unsafe fn same<A: Copy, B: Copy>(x: A) -> B {
    debug_assert_eq!(size_of::<A>(), size_of::<B>());
    // SAFETY: as promised.
    unsafe { std::mem::transmute_copy(&x) }
}

/// `sum += a·b`, lane by lane.
#[inline(always)]
pub(super) fn add_products<T: Real, const L: usize, const FMA: bool>(sum: &mut [T; L], a: [T; L], b: [T; L]) {
    #[cfg(target_arch = "x86_64")]
    if FMA {
        instruction!(T, L, _mm256_fmadd_ps, _mm256_fmadd_pd, _mm512_fmadd_ps, _mm512_fmadd_pd, sum, a, b);
    }
    for l in 0..L {
        sum[l] = sum[l].plus::<FMA>(a[l], b[l]);
    }
}

/// `sum += a·b` for one number a.
#[inline(always)]
pub(super) fn add_times<T: Real, const L: usize, const FMA: bool>(sum: &mut [T; L], a: T, b: [T; L]) {
    add_products::<T, L, FMA>(sum, [a; L], b);
}

/// `sum += x`, lane by lane.
#[inline(always)]
pub(super) fn add<T: Real, const L: usize, const FMA: bool>(sum: &mut [T; L], x: [T; L]) {
    #[cfg(target_arch = "x86_64")]
    if FMA {
        instruction!(T, L, _mm256_add_ps, _mm256_add_pd, _mm512_add_ps, _mm512_add_pd, sum, x);
    }
    for l in 0..L {
        sum[l] = sum[l].add(x[l]);
    }
}

/// Bytes as numbers of 32 bits, lane by lane.
#[inline(always)]
pub(super) fn widen<const FMA: bool>(x: [u8; LANES]) -> [i32; LANES] {
    #[cfg(target_arch = "x86_64")]
    if FMA {
        use std::arch::x86_64::{_mm_set_epi64x, _mm256_cvtepu8_epi32};
        // SAFETY: as for `instruction`.
        return unsafe { same(_mm256_cvtepu8_epi32(_mm_set_epi64x(0, same(x)))) };
    }
    x.map(i32::from)
}

/// `sum += x` in the lanes whose label is `own`; the others stay as they are.
#[inline(always)]
pub(super) fn add_where<const FMA: bool>(
    sum: &mut [f32; LANES],
    label: [i32; LANES],
    own: i32,
    x: [f32; LANES],
) {
    #[cfg(target_arch = "x86_64")]
    if FMA {
        use std::arch::x86_64::*;
        // SAFETY: as for `instruction`.
        unsafe {
            let chosen = _mm256_castsi256_ps(_mm256_cmpeq_epi32(same(label), _mm256_set1_epi32(own)));
            *sum = same(_mm256_add_ps(same(*sum), _mm256_and_ps(chosen, same(x))));
        }
        return;
    }
    for l in 0..LANES {
        sum[l] += if label[l] == own { x[l] } else { 0.0 };
    }
}

/// Where a score is larger than the best so far it takes that one's place, and `own` that of its label.
#[inline(always)]
pub(super) fn keep_larger<const FMA: bool>(
    best: &mut [f32; LANES],
    label: &mut [i32; LANES],
    score: [f32; LANES],
    own: i32,
) {
    #[cfg(target_arch = "x86_64")]
    if FMA {
        use std::arch::x86_64::*;
        // SAFETY: as for `instruction`.
        unsafe {
            let larger = _mm256_cmp_ps::<_CMP_GT_OQ>(same(score), same(*best));
            *best = same(_mm256_blendv_ps(same(*best), same(score), larger));
            let own = _mm256_castsi256_ps(_mm256_set1_epi32(own));
            *label = same(_mm256_blendv_ps(same(*label), own, larger));
        }
        return;
    }
    for l in 0..LANES {
        let larger = score[l] > best[l];
        best[l] = if larger { score[l] } else { best[l] };
        label[l] = if larger { own } else { label[l] };
    }
}

/// Sum of the lanes in a fixed order.
#[inline(always)]
pub(super) fn lanes<T: Real, const L: usize>(mut x: [T; L]) -> T {
    let mut half = L / 2;
    while half > 0 {
        for l in 0..half {
            x[l] = x[l].add(x[l + half]);
        }
        half /= 2;
    }
    x[0]
}
