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

/// Sums of the lanes of C ≤ 8 vectors of each of P points, added in the same order for one point or four: the first four
/// columns of every point, then the others; zero beyond.
#[inline(always)]
pub(super) fn sums_of_points<T: Real, const L: usize, const FMA: bool, const P: usize, const C: usize>(
    vectors: [[[T; L]; C]; P],
) -> [[[T; 4]; P]; 2] {
    #[cfg(target_arch = "x86_64")]
    if FMA && P == 4 && L * size_of::<T>() == 64 {
        let mut x = [[[T::default(); L]; 8]; 4];
        for p in 0..P {
            x[p][..C].copy_from_slice(&vectors[p]);
        }
        // SAFETY: x86-64 machines are said to fuse, with vectors of this length, only after they were asked.
        return unsafe {
            if size_of::<T>() == 4 {
                same(x86::sums_of_four_f32(same(x)))
            } else {
                same(x86::sums_of_four_f64(same(x)))
            }
        };
    }
    let mut sums = [[[T::default(); 4]; P]; 2];
    for p in 0..P {
        let [a, b, c, d, e, f, g, h] = sums_of_lanes::<T, L, FMA, C>(vectors[p]);
        (sums[0][p], sums[1][p]) = ([a, b, c, d], [e, f, g, h]);
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

/// [`first_largest`] of the first `columns` numbers of each of four points, as [`sums_of_points`] has them.
#[inline(always)]
pub(super) fn first_largest_of_four<T: Real, const L: usize, const FMA: bool>(
    mut x: [[[T; 4]; 4]; 2],
    columns: usize,
    tie: f64,
) -> ([u32; 4], [T; 4]) {
    #[cfg(target_arch = "x86_64")]
    if FMA && L == 16 {
        // SAFETY: as above.
        let (first, largest) = unsafe { x86::first_largest_of_four_f32(same(x), columns, tie as f32) };
        // SAFETY: numbers of four bytes.
        return (first, unsafe { same(largest) });
    }
    let (mut first, mut largest) = ([0; 4], [T::default(); 4]);
    for c in columns..8 {
        for p in 0..4 {
            x[c / 4][p][c % 4] = T::of(f64::NEG_INFINITY);
        }
    }
    for p in 0..4 {
        let ([a, b, c, d], [e, f, g, h]) = (x[0][p], x[1][p]);
        let (place, product) = first_largest::<T, FMA>([a, b, c, d, e, f, g, h], tie);
        (first[p], largest[p]) = (place as u32, product);
    }
    (first, largest)
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

    /// As `sums_of_points` for vectors of 16 numbers: each step adds two vectors' lanes in one.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn sums_of_four_f32(x: [[[f32; 16]; 8]; 4]) -> [[f32; 16]; 2] {
        // SAFETY: arrays of 16 numbers are read and written whole.
        unsafe {
            let v = |p: usize, c: usize| _mm512_loadu_ps(x[p][c].as_ptr());
            let fold = |p: usize, c: usize| {
                let (a, b) = (v(p, c), v(p + 1, c));
                _mm512_add_ps(_mm512_shuffle_f32x4::<0x44>(a, b), _mm512_shuffle_f32x4::<0xee>(a, b))
            };
            let pairs = |a: __m512, b: __m512| {
                _mm512_add_ps(_mm512_shuffle_ps::<0x88>(a, b), _mm512_shuffle_ps::<0xdd>(a, b))
            };
            let two = |p: usize, c: usize| {
                pairs(pairs(fold(p, c), fold(p, c + 1)), pairs(fold(p, c + 2), fold(p, c + 3)))
            };
            let four = |c: usize| {
                let (a, b) = (two(0, c), two(2, c));
                _mm512_add_ps(_mm512_shuffle_f32x4::<0x88>(a, b), _mm512_shuffle_f32x4::<0xdd>(a, b))
            };
            let mut sums = [[0.0; 16]; 2];
            _mm512_storeu_ps(sums[0].as_mut_ptr(), four(0));
            _mm512_storeu_ps(sums[1].as_mut_ptr(), four(4));
            sums
        }
    }

    /// The same for vectors of eight numbers.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn sums_of_four_f64(x: [[[f64; 8]; 8]; 4]) -> [[f64; 8]; 4] {
        // SAFETY: arrays of eight numbers are read and written whole.
        unsafe {
            let v = |p: usize, c: usize| _mm512_loadu_pd(x[p][c].as_ptr());
            let fold = |p: usize, c: usize| {
                let (a, b) = (v(p, c), v(p + 1, c));
                _mm512_add_pd(_mm512_shuffle_f64x2::<0x44>(a, b), _mm512_shuffle_f64x2::<0xee>(a, b))
            };
            let pairs = |p: usize, c: usize| {
                let (a, b) = (fold(p, c), fold(p, c + 1));
                _mm512_add_pd(_mm512_shuffle_pd::<0x00>(a, b), _mm512_shuffle_pd::<0xff>(a, b))
            };
            let (low, high) =
                (_mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15));
            let two = |p: usize, c: usize| {
                let (a, b) = (pairs(p, c), pairs(p, c + 2));
                _mm512_add_pd(_mm512_permutex2var_pd(a, low, b), _mm512_permutex2var_pd(a, high, b))
            };
            let mut sums = [[0.0; 8]; 4];
            _mm512_storeu_pd(sums[0].as_mut_ptr(), two(0, 0));
            _mm512_storeu_pd(sums[1].as_mut_ptr(), two(2, 0));
            _mm512_storeu_pd(sums[2].as_mut_ptr(), two(0, 4));
            _mm512_storeu_pd(sums[3].as_mut_ptr(), two(2, 4));
            sums
        }
    }

    /// As `first_largest_of_four`: the places and the numbers.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vl,avx2")]
    pub(super) fn first_largest_of_four_f32(
        x: [[f32; 16]; 2],
        columns: usize,
        tie: f32,
    ) -> ([u32; 4], [f32; 4]) {
        // SAFETY: arrays of 16 numbers are read whole.
        let x = unsafe { x.each_ref().map(|x| _mm512_loadu_ps(x.as_ptr())) };
        let four = _mm512_set_epi32(3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0);
        let places = [four, _mm512_or_si512(four, _mm512_set1_epi32(4))];
        let nowhere = _mm512_set1_ps(f32::NEG_INFINITY);
        let own = |half: usize| {
            let there = _mm512_cmplt_epi32_mask(places[half], _mm512_set1_epi32(columns as i32));
            _mm512_mask_mov_ps(nowhere, there, x[half])
        };
        let (low, high) = (own(0), own(1));
        let most = _mm512_max_ps(low, high);
        let most = _mm512_max_ps(most, _mm512_permute_ps::<0b0100_1110>(most));
        let most = _mm512_max_ps(most, _mm512_permute_ps::<0b1011_0001>(most));
        let enough = _mm512_fnmadd_ps(_mm512_set1_ps(tie), _mm512_abs_ps(most), most);
        // At least the largest is as good, unless it is no number: then there is no place but 8.
        let as_good = |x: __m512, places: __m512i| {
            _mm512_mask_mov_epi32(_mm512_set1_epi32(8), _mm512_cmp_ps_mask::<_CMP_GE_OQ>(x, enough), places)
        };
        let first = _mm512_min_epu32(as_good(low, places[0]), as_good(high, places[1]));
        let first = _mm512_min_epu32(first, _mm512_shuffle_epi32::<0b0100_1110>(first));
        let first = _mm512_min_epu32(first, _mm512_shuffle_epi32::<0b1011_0001>(first));
        let first = _mm512_permutexvar_epi32(
            _mm512_set_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 8, 4, 0),
            first,
        );
        let first = _mm512_and_si512(first, _mm512_set1_epi32(7));
        // Where it stands in the two vectors.
        let high = _mm512_slli_epi32::<2>(_mm512_and_si512(first, _mm512_set1_epi32(4)));
        let within = _mm512_and_si512(first, _mm512_set1_epi32(3));
        let point = _mm512_set_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 8, 4, 0);
        let at = _mm512_or_si512(_mm512_or_si512(high, within), point);
        let largest = _mm512_permutex2var_ps(x[0], at, x[1]);
        let (mut to, mut numbers) = ([0u32; 4], [0.0; 4]);
        // SAFETY: arrays of four numbers are written whole.
        unsafe {
            _mm_storeu_si128(to.as_mut_ptr().cast(), _mm512_castsi512_si128(first));
            _mm_storeu_ps(numbers.as_mut_ptr(), _mm512_castps512_ps128(largest));
        }
        (to, numbers)
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
