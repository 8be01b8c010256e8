//! Eight numbers from eight vectors, and the largest of eight: where lanes meet.
//!
//! Here instructions are named instead of left to the compiler: it makes jumps and single numbers of
//! what are a few shuffles, and these took half the time of a pass over points with few features. The plain forms serve
//! all other machines, and the tests.

use super::Real;
#[cfg(target_arch = "x86_64")]
use super::vectors::same;

/// Sums of the lanes of C ≤ 8 vectors; zero beyond.
#[inline(always)]
pub(super) fn sums_of_lanes<T: Real, const L: usize, const FMA: bool, const C: usize>(
    vectors: [[T; L]; C],
) -> [T; 8] {
    const { assert!(C <= 8) };
    #[cfg(target_arch = "x86_64")]
    if FMA && size_of::<T>() == 4 && L >= 8 {
        let mut x = [[0.0f32; 8]; 8];
        for c in 0..C {
            // SAFETY: x86-64 machines are said to fuse, with vectors of this length, only after they were asked.
            x[c] = unsafe { if L == 16 { x86::fold_f32(same(vectors[c])) } else { same(vectors[c]) } };
        }
        // SAFETY: as above.
        return unsafe { same(x86::sums_f32(x)) };
    }
    #[cfg(target_arch = "x86_64")]
    if FMA && size_of::<T>() == 8 && L >= 4 {
        let mut x = [[0.0f64; 4]; 8];
        for c in 0..C {
            // SAFETY: as above.
            x[c] = unsafe { if L == 8 { x86::fold_f64(same(vectors[c])) } else { same(vectors[c]) } };
        }
        // SAFETY: as above.
        return unsafe { same(x86::sums_f64(x)) };
    }
    plain_sums(vectors)
}

#[inline(always)]
pub(super) fn plain_sums<T: Real, const L: usize, const C: usize>(vectors: [[T; L]; C]) -> [T; 8] {
    let mut sums = [T::default(); 8];
    for c in 0..C {
        sums[c] = super::lanes(vectors[c]);
    }
    sums
}

/// The first of eight numbers that is no smaller than the largest by more than `tie` relative to it, and its place.
#[inline(always)]
pub(super) fn first_largest<T: Real, const FMA: bool>(x: [T; 8], tie: f64) -> (usize, T) {
    #[cfg(target_arch = "x86_64")]
    if FMA && size_of::<T>() == 4 {
        // SAFETY: as above.
        let first = unsafe { x86::first_largest_f32(same(x), tie as f32) };
        return (first, x[first]);
    }
    plain_first_largest(x, tie)
}

#[inline(always)]
pub(super) fn plain_first_largest<T: Real>(x: [T; 8], tie: f64) -> (usize, T) {
    let mut best = x[0];
    for c in 1..8 {
        best = if x[c] > best { x[c] } else { best };
    }
    let best: f64 = best.into();
    let enough = T::of(best - tie * best.abs());
    let mut first = 0;
    for c in (0..8).rev() {
        first = if x[c] >= enough { c } else { first };
    }
    (first, x[first])
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    /// The two halves of a vector, added.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx2")]
    pub(super) fn fold_f32(x: __m512) -> [f32; 8] {
        let mut sums = [0.0; 8];
        let both = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps::<1>(x));
        // SAFETY: an array of eight numbers is written whole.
        unsafe { _mm256_storeu_ps(sums.as_mut_ptr(), both) };
        sums
    }

    /// As [`fold_f32`].
    #[inline]
    #[target_feature(enable = "avx512f,avx2")]
    pub(super) fn fold_f64(x: __m512d) -> [f64; 4] {
        let mut sums = [0.0; 4];
        let both = _mm256_add_pd(_mm512_castpd512_pd256(x), _mm512_extractf64x4_pd::<1>(x));
        // SAFETY: an array of four numbers is written whole.
        unsafe { _mm256_storeu_pd(sums.as_mut_ptr(), both) };
        sums
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn sums_f32(x: [[f32; 8]; 8]) -> [f32; 8] {
        // SAFETY: arrays of eight numbers are read and written whole.
        unsafe {
            let v = |c: usize| _mm256_loadu_ps(x[c].as_ptr());
            let first = _mm256_hadd_ps(_mm256_hadd_ps(v(0), v(1)), _mm256_hadd_ps(v(2), v(3)));
            let second = _mm256_hadd_ps(_mm256_hadd_ps(v(4), v(5)), _mm256_hadd_ps(v(6), v(7)));
            let low = _mm256_permute2f128_ps::<0x20>(first, second);
            let high = _mm256_permute2f128_ps::<0x31>(first, second);
            let mut sums = [0.0; 8];
            _mm256_storeu_ps(sums.as_mut_ptr(), _mm256_add_ps(low, high));
            sums
        }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn sums_f64(x: [[f64; 4]; 8]) -> [f64; 8] {
        // SAFETY: arrays of four or eight numbers are read and written whole.
        unsafe {
            let v = |c: usize| _mm256_loadu_pd(x[c].as_ptr());
            let four = |c: usize| {
                let (a, b) = (_mm256_hadd_pd(v(c), v(c + 1)), _mm256_hadd_pd(v(c + 2), v(c + 3)));
                _mm256_add_pd(_mm256_permute2f128_pd::<0x20>(a, b), _mm256_permute2f128_pd::<0x31>(a, b))
            };
            let mut sums = [0.0; 8];
            _mm256_storeu_pd(sums.as_mut_ptr(), four(0));
            _mm256_storeu_pd(sums.as_mut_ptr().add(4), four(4));
            sums
        }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn first_largest_f32(x: [f32; 8], tie: f32) -> usize {
        // SAFETY: an array of eight numbers is read whole.
        let x = unsafe { _mm256_loadu_ps(x.as_ptr()) };
        let most = _mm256_max_ps(x, _mm256_permute2f128_ps::<1>(x, x));
        let most = _mm256_max_ps(most, _mm256_permute_ps::<0b0100_1110>(most));
        let most = _mm256_max_ps(most, _mm256_permute_ps::<0b1011_0001>(most));
        let size = _mm256_andnot_ps(_mm256_set1_ps(-0.0), most);
        let enough = _mm256_fnmadd_ps(_mm256_set1_ps(tie), size, most);
        let as_good = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GE_OQ>(x, enough));
        // At least the largest is, unless it is no number.
        if as_good == 0 { 0 } else { as_good.trailing_zeros() as usize }
    }
}
