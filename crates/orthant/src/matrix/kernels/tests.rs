//! Every kernel, in every form this machine has, against the plain triple loop.

use super::*;
use crate::matrix::{Csr, Mat};

/// Small whole numbers: sums are exact in every format and order, so equality is exact.
pub(super) fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % 7) as f64 - 2.0
        })
        .collect()
}

pub(super) fn forms() -> Vec<&'static str> {
    let mut forms = vec!["baseline"];
    #[cfg(target_arch = "x86_64")]
    {
        if level() != Level::Baseline {
            forms.push("avx2");
        }
        if level() == Level::Avx512 {
            forms.push("avx512");
        }
    }
    forms
}

pub(super) fn run_form<K: Kernel>(form: &str, kernel: K) -> K::Out {
    match form {
        // SAFETY: `forms` lists only what the machine has.
        #[cfg(target_arch = "x86_64")]
        "avx2" => unsafe { run_avx2(kernel) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        "avx512" => unsafe { run_avx512(kernel) },
        _ => run_baseline(kernel),
    }
}

fn dense_kernels_match<T: Real>() {
    for (points, features) in [(1, 1), (3, 5), (9, 16), (13, 33), (21, 70), (8, 162)] {
        for width in [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 33, 50] {
            let x = numbers(points * features, 1);
            let u = Mat { rows: features, cols: width, data: numbers(features * width, 2) };
            let b = numbers(points * width, 3);
            let xt: Vec<T> = x.iter().map(|&v| T::of(v)).collect();
            let bt: Vec<T> = b.iter().map(|&v| T::of(v)).collect();
            let to: Vec<u32> = (0..points * 2)
                .map(|i| if i % 5 == 4 { dense::NOWHERE } else { (i % width) as u32 })
                .collect();
            let factor = numbers(points * 2, 4);
            let packed = dense::Packed::new(&u, 2.0);
            for form in forms() {
                let mut out = vec![f64::NAN; points * width];
                run_form(form, dense::Scores { x: &xt, features, list: None, u: &packed, out: &mut out });
                if dense::Nearest::can(&packed) {
                    let (mut near, mut strength) = (vec![9; points], vec![f64::NAN; points]);
                    let pitch = features.next_multiple_of(16) + 16;
                    let mut sums = vec![T::of(1.0); width * pitch];
                    for weight in [None, Some(&b[..points])] {
                        let (u, to, strength) = (&packed, &mut near[..], &mut strength[..]);
                        let step = dense::PowerStep { weight, scale: 0.5, sums: &mut sums, pitch };
                        let (tie, step) = (1e-6, weight.map(|_| step));
                        run_form(form, dense::Nearest { x: &xt, features, u, tie, to, strength, step });
                    }
                    for (i, f) in (0..width).flat_map(|i| (0..features).map(move |f| (i, f))) {
                        let own = (0..points).filter(|&p| near[p] as usize == i);
                        let plain: f64 = own.map(|p| 0.5 * b[p] * strength[p] * x[p * features + f]).sum();
                        assert_eq!(sums[i * pitch + f].into(), 1.0 + plain, "{form} power step");
                    }
                    for (p, scores) in out.chunks_exact(width).enumerate() {
                        // Whole numbers: many are equal, and the first counts.
                        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                        let first = scores.iter().position(|&s| s == most).unwrap();
                        assert_eq!((near[p] as usize, strength[p]), (first, most), "{form} nearest");
                    }
                }
                let list: Vec<u32> = (0..points as u32).rev().filter(|p| p % 3 != 1).collect();
                let mut some = vec![f64::NAN; list.len() * width];
                let scores =
                    dense::Scores { x: &xt, features, list: Some(&list), u: &packed, out: &mut some };
                run_form(form, scores);
                for (row, &p) in some.chunks_exact(width).zip(&list) {
                    assert_eq!(row, &out[p as usize * width..(p as usize + 1) * width], "{form} list");
                }
                let own: Vec<u32> = (0..points).map(|p| to[p * 2]).collect();
                let mut wide = vec![f64::NAN; points];
                let rows = u.transpose();
                run_form(
                    form,
                    dense::DotOne { x: &xt, features, scale: 2.0, to: &own, u: &rows.data, out: &mut wide },
                );
                for (p, &i) in own.iter().enumerate() {
                    let plain = if i == dense::NOWHERE { 0.0 } else { out[p * width + i as usize] };
                    assert_eq!(wide[p], plain, "{form} dot");
                }
                let mut sums = vec![T::of(1.0); width * features];
                let pitch = features;
                run_form(form, dense::Sum { x: &xt, features, b: &bt, width, sums: &mut sums, pitch });
                let mut ones = vec![T::of(1.0); width * features];
                run_form(
                    form,
                    dense::SumOne {
                        x: &xt,
                        features,
                        to: &to,
                        factor: &factor,
                        scale: 1.0,
                        starts: 2,
                        sums: &mut ones,
                        pitch,
                        order: &mut vec![],
                        ends: &mut vec![],
                    },
                );
                for p in 0..points {
                    for i in 0..width {
                        let plain: f64 = (0..features).map(|f| 2.0 * x[p * features + f] * u[(f, i)]).sum();
                        assert_eq!(out[p * width + i], plain, "{form} {points}x{features}, width {width}");
                    }
                }
                for i in 0..width {
                    for f in 0..features {
                        let plain: f64 = (0..points).map(|p| b[p * width + i] * x[p * features + f]).sum();
                        let sum: f64 = sums[i * features + f].into();
                        assert_eq!(sum, 1.0 + plain, "{form} sum");
                        let plain: f64 = (0..points * 2)
                            .filter(|&r| to[r] == i as u32)
                            .map(|r| factor[r] * x[(r / 2) * features + f])
                            .sum();
                        let one: f64 = ones[i * features + f].into();
                        assert_eq!(one, 1.0 + plain, "{form} one");
                    }
                }
            }
        }
    }
}

/// `sum + a·b` and `sum + a` of L lanes, with the bits of one number at a time.
struct AsOneByOne<T>(std::marker::PhantomData<T>);

impl<T: Real> Kernel for AsOneByOne<T> {
    type T = T;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        // No whole numbers: every product and sum is rounded.
        let odd = |seed: u64| -> [T; L] {
            let x = numbers(L, seed);
            std::array::from_fn(|l| T::of((x[l] + 0.37) / 3.0))
        };
        let (sum, a, b) = (odd(7), odd(8), odd(9));
        let (mut products, mut times, mut sums) = (sum, sum, sum);
        vectors::add_products::<T, L, FMA>(&mut products, a, b);
        vectors::add_times::<T, L, FMA>(&mut times, a[0], b);
        vectors::add::<T, L, FMA>(&mut sums, a);
        for l in 0..L {
            assert_eq!(products[l], sum[l].plus::<FMA>(a[l], b[l]), "{L} lanes");
            assert_eq!(times[l], sum[l].plus::<FMA>(a[0], b[l]), "{L} lanes");
            assert_eq!(sums[l], sum[l].add(a[l]), "{L} lanes");
        }
    }
}

#[test]
fn vectors_add_as_single_numbers_do() {
    for form in forms() {
        run_form(form, AsOneByOne::<f32>(std::marker::PhantomData));
        run_form(form, AsOneByOne::<f64>(std::marker::PhantomData));
    }
}

/// Numbers of four points.
struct OfFour<T, const C: usize>([Vec<f64>; 4], std::marker::PhantomData<T>);

impl<T: Real, const C: usize> Kernel for OfFour<T, C> {
    type T = T;
    type Out = ();

    /// Thirds round, so that another order of the additions would show.
    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let mut vectors = [[[T::default(); L]; C]; 4];
        for (at, x) in self.0.iter().flatten().enumerate().filter(|(at, _)| at % 16 < L) {
            vectors[at / 16 / C][at / 16 % C][at % 16] = T::of(x / 3.0);
        }
        let sums = reduce::sums_of_points::<T, L, FMA, 4, C>(vectors);
        for p in 0..4 {
            let one = reduce::sums_of_lanes::<T, L, FMA, C>(vectors[p]);
            assert_eq!([sums[0][p], sums[1][p]].as_flattened(), one);
            let first = reduce::first_largest::<T, FMA>(one, 1e-6);
            let (places, largest) = first_largest_of_four::<T, L, FMA>(sums, 8, 1e-6);
            assert_eq!((places[p] as usize, largest[p]), first);
        }
    }
}

/// Eight numbers as those of each of four points, and which of them is the first that is as good as the largest.
struct FirstOfFour([f32; 8], usize);

impl Kernel for FirstOfFour {
    type T = f32;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let Self([a, b, c, d, e, f, g, h], first) = self;
        let x = [[[a, b, c, d]; 4], [[e, f, g, h]; 4]];
        let found = first_largest_of_four::<f32, L, FMA>(x, 8, 1e-6);
        assert_eq!(found, ([first as u32; 4], [self.0[first]; 4]));
        let (places, _) = first_largest_of_four::<f32, L, FMA>(x, first + 1, 1e-6);
        assert!(places.iter().all(|&place| place as usize <= first));
    }
}

#[test]
fn lanes_meet_as_in_plain_loops() {
    fn sums<T: Real, const L: usize, const C: usize>() {
        let x = numbers(L * C, 5);
        let mut vectors = [[T::default(); L]; C];
        for c in 0..C {
            for l in 0..L {
                vectors[c][l] = T::of(x[c * L + l]);
            }
        }
        let plain = reduce::plain_sums(vectors);
        assert_eq!(reduce::sums_of_lanes::<T, L, false, C>(vectors), plain);
        let form = if L * size_of::<T>() == 64 { "avx512" } else { "avx2" };
        if forms().contains(&form) {
            assert_eq!(reduce::sums_of_lanes::<T, L, true, C>(vectors), plain, "{L} lanes of {C}");
            let four = std::array::from_fn(|p| numbers(C * 16, p as u64 + 7));
            run_form(form, OfFour::<T, C>(four, std::marker::PhantomData));
        }
    }
    sums::<f32, 4, 3>();
    sums::<f32, 8, 1>();
    sums::<f32, 8, 8>();
    sums::<f32, 16, 6>();
    sums::<f64, 2, 5>();
    sums::<f64, 4, 6>();
    sums::<f64, 8, 7>();

    let none = f32::NEG_INFINITY;
    let cases: [([f32; 8], usize); 6] = [
        ([1.0, 2.0, 2.0, 1.0, 0.0, -1.0, none, none], 1),
        ([1.0, 1.0 - 5e-7, 1.0 + 5e-7, 0.0, 0.0, 0.0, 0.0, 0.0], 0),
        ([0.9, 1.0 - 5e-7, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0], 1),
        ([1.0 - 5e-6, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], 7),
        ([-3.0, -2.0, -2.0, -4.0, none, none, none, none], 1),
        ([0.0, 0.0, none, none, none, none, none, none], 0),
    ];
    // Whatever is no number is nobody's largest.
    for odd in [f32::NAN, f32::INFINITY] {
        assert_eq!(reduce::first_largest::<f32, false>([odd; 8], 1e-6).0, 0);
        if forms().len() > 1 {
            assert_eq!(reduce::first_largest::<f32, true>([odd; 8], 1e-6).0, 0);
        }
    }
    for (x, first) in cases {
        assert_eq!(reduce::plain_first_largest(x, 1e-6), (first, x[first]));
        assert_eq!(reduce::plain_first_largest(x.map(f64::from), 1e-6), (first, f64::from(x[first])));
        if forms().len() > 1 {
            assert_eq!(reduce::first_largest::<f32, true>(x, 1e-6), (first, x[first]));
        }
        for form in forms() {
            run_form(form, FirstOfFour(x, first));
        }
    }
}

#[test]
fn dense_kernels_equal_plain_loops_in_float32() {
    dense_kernels_match::<f32>();
}

#[test]
fn dense_kernels_equal_plain_loops_in_float64() {
    dense_kernels_match::<f64>();
}

#[test]
fn sparse_kernels_equal_plain_loops() {
    for (points, features) in [(1, 1), (7, 30), (40, 11)] {
        for width in [1, 2, 3, 8, 9, 17, 40, 70, 130] {
            let x: Vec<f64> =
                numbers(points * features, 5).iter().map(|&v| if v > 0.0 { v } else { 0.0 }).collect();
            let u = Mat { rows: features, cols: width, data: numbers(features * width, 6) };
            let (mut offsets, mut columns, mut values) = (vec![0usize], vec![], vec![]);
            for p in 0..points {
                for f in 0..features {
                    if x[p * features + f] != 0.0 {
                        columns.push(f as i64);
                        values.push(x[p * features + f] as f32);
                    }
                }
                offsets.push(values.len());
            }
            let csr = Csr::new(features, offsets, columns, values).unwrap();
            let transposed = csr.transposed();
            let packed: sparse::Packed = sparse::Packed::new(&u, 0.5);
            let to: Vec<u32> = (0..points * 3)
                .map(|i| if i % 4 == 3 { dense::NOWHERE } else { (i % width) as u32 })
                .collect();
            let factor = numbers(points * 3, 7);
            for form in forms() {
                let mut out = vec![f64::NAN; points * width];
                run_form(form, sparse::Product { x: &csr, from: 0, list: None, u: &packed, out: &mut out });
                // Whole numbers: float32 holds them too.
                let hasty: sparse::Packed<f32> = sparse::Packed::new(&u, 0.5);
                let (mut rough, list) =
                    (vec![f32::NAN; points * width], (0..points as u32).collect::<Vec<_>>());
                let product =
                    sparse::Product { x: &csr, from: 0, list: Some(&list), u: &hasty, out: &mut rough };
                run_form(form, product);
                assert!(rough.iter().zip(&out).all(|(r, o)| f64::from(*r) == *o), "{form} float32, {width}");
                let mut ones = vec![0.0; features * width];
                run_form(
                    form,
                    sparse::ProductOne {
                        transposed: &transposed,
                        from: 0,
                        scale: 0.5,
                        to: &to,
                        factor: &factor,
                        starts: 3,
                        width,
                        out: &mut ones,
                    },
                );
                let mut added = vec![0.0; features * width];
                run_form(
                    form,
                    sparse::AddOne {
                        x: &csr,
                        from: 0,
                        scale: 0.5,
                        to: &to,
                        factor: &factor,
                        starts: 3,
                        width,
                        sums: &mut added,
                    },
                );
                assert_eq!(added, ones, "{form}: over points as over features");
                let (b, mut all) = (numbers(points * width, 8), vec![1.0; features * width]);
                let add = sparse::Add { x: &csr, from: 0, scale: 0.5, b: &b, width, sums: &mut all };
                run_form(form, add);
                for f in 0..features {
                    for i in 0..width {
                        let plain: f64 =
                            (0..points).map(|p| 0.5 * x[p * features + f] * b[p * width + i]).sum();
                        assert_eq!(all[f * width + i], 1.0 + plain, "{form}: all columns");
                    }
                }
                let mut dots = vec![f64::NAN; points];
                let (to_one, u_rows) = (&to[..points], &u.data);
                let one = sparse::DotOne {
                    x: &csr,
                    from: 0,
                    scale: 0.5,
                    to: to_one,
                    u: u_rows,
                    width,
                    out: &mut dots,
                };
                run_form(form, one);
                for p in 0..points {
                    let plain: f64 = match to[p] {
                        dense::NOWHERE => 0.0,
                        i => (0..features).map(|f| 0.5 * x[p * features + f] * u[(f, i as usize)]).sum(),
                    };
                    assert_eq!(dots[p], plain, "{form} dot {p}");
                }
                for p in 0..points {
                    for i in 0..width {
                        let plain: f64 = (0..features).map(|f| 0.5 * x[p * features + f] * u[(f, i)]).sum();
                        assert_eq!(out[p * width + i], plain, "{form} width {width}");
                    }
                }
                for f in 0..features {
                    for i in 0..width {
                        let plain: f64 = (0..points * 3)
                            .filter(|&r| to[r] == i as u32)
                            .map(|r| 0.5 * x[(r / 3) * features + f] * factor[r])
                            .sum();
                        assert_eq!(ones[f * width + i], plain, "{form} one");
                    }
                }
            }
        }
    }
}

/// Rows of a transposed copy may be as unequal as words are: none, a few or all of the points.
fn sums_over_features_match<T: Real>() {
    // Thirds: every addition rounds, so that only the same order gives the same bits.
    let thirds = |count, seed| numbers(count, seed).iter().map(|x| x / 3.0 + 0.1).collect::<Vec<f64>>();
    let points = 60;
    for features in [1, 3, 77, 300] {
        let (mut offsets, mut columns, mut values) = (vec![0usize], vec![], vec![]);
        let x = thirds(points * features, 14);
        for p in 0..points {
            for f in 0..features {
                let there = match f % 5 {
                    0 => p % 31 == f % 31,
                    1 => true,
                    2 => false,
                    _ => (p * 7 + f * 3) % 11 < f % 4,
                };
                if there && p % 13 != 5 {
                    columns.push(f as i32);
                    values.push(T::of(x[p * features + f]));
                }
            }
            offsets.push(values.len());
        }
        let csr = Csr::new(features, offsets, columns, values).unwrap();
        let transposed = csr.transposed();
        for (window, width) in (1..=40).flat_map(|width| [(32, width), (256, width)]) {
            let mut order = vec![];
            for from in (0..features).step_by(window) {
                let mut rows: Vec<usize> = (from..(from + window).min(features)).collect();
                rows.sort_by_key(|&f| std::cmp::Reverse(transposed.point(f).0.len()));
                order.extend(rows.iter().map(|f| (f - from) as u8));
            }
            let b = thirds(points * width, 15);
            let u: sparse::Packed = sparse::Packed::from_rows(&b, width, 0.25);
            for form in forms() {
                let mut added = vec![0.0; features * width];
                let add = sparse::Add { x: &csr, from: 0, scale: 0.25, b: &b, width, sums: &mut added };
                run_form(form, add);
                // In two parts, as two threads would.
                let mut sums = vec![f64::NAN; features * width];
                let border = window.min(features);
                let (first, second) = sums.split_at_mut(border * width);
                for (from, out) in [(0, first), (border, second)] {
                    let order = &order[from..];
                    run_form(
                        form,
                        sparse::SumRows { transposed: &transposed, from, order, window, u: &u, out },
                    );
                }
                let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&sums), bits(&added), "{form}: {features} features, width {width}");
            }
        }
    }
}

#[test]
fn sums_over_features_equal_those_over_points_to_the_bit() {
    sums_over_features_match::<f32>();
    sums_over_features_match::<f64>();
}

/// Nothing is read or written beyond an array that is too short: a kernel refuses it before it begins.
#[test]
fn arrays_that_are_too_short_are_refused() {
    fn refused<K: Kernel>(what: &str, kernel: K) {
        let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(kernel)));
        assert!(told.is_err(), "{what}");
    }
    let (points, features, width) = (6, 70, 3);
    let x = numbers(points * features, 16);
    let packed = |rows: usize, cols: usize| {
        dense::Packed::<f64>::new(&Mat { rows, cols, data: numbers(rows * cols, 17) }, 1.0)
    };
    let (few, wide, fitting) = (packed(40, width), packed(69, 30), packed(features, width));
    let mut out = vec![0.0; points * 30];
    for (what, u, room) in [
        ("shorter columns", &few, points * width),
        ("fewer rows", &wide, points * 30),
        ("no room for a score", &fitting, points * width - 1),
    ] {
        refused(what, dense::Scores { x: &x, features, list: None, u, out: &mut out[..room] });
    }
    let (u, list) = (&fitting, Some(&[points as u32][..]));
    refused("a point that is not there", dense::Scores { x: &x, features, list, u, out: &mut out });
    let (mut to, mut strength) = (vec![0; points], vec![0.0; points]);
    let (to, strength) = (&mut to[..], &mut strength[..]);
    refused("nearest", dense::Nearest { x: &x, features, u: &few, tie: 0.0, to, strength, step: None });
    let (b, sums) = (&x[..points * width - 1], &mut out[..]);
    refused("a factor is missing", dense::Sum { x: &x[..points * 9], features: 9, b, width, sums, pitch: 9 });

    let csr = Csr::<f64, i32>::new(features, vec![0, 1, 2], vec![0, 69], vec![1.0, 2.0]).unwrap();
    let u: sparse::Packed = sparse::Packed::from_rows(&x[..69 * width], width, 1.0);
    refused("a row is missing", sparse::Product { x: &csr, from: 0, list: None, u: &u, out: &mut out[..6] });
    let (turned, order, out) = (csr.transposed(), &[0u8; 70][..], &mut vec![0.0; features * width][..]);
    let u: sparse::Packed = sparse::Packed::from_rows(&x[..width], width, 1.0);
    refused("a point", sparse::SumRows { transposed: &turned, from: 0, order, window: 1, u: &u, out });
    let (b, sums) = (&x[..2 * width], &mut out[..features * width - 1]);
    refused("a sum", sparse::Add { x: &csr, from: 0, scale: 1.0, b, width, sums });
    let gram = &mut [0.0; 9][..];
    refused("a row of b", tall::Gram { a: &x[..60], k: 3, b: &x[..59], l: 3, gram });
    refused("a row of the product", tall::Times { a: &x[..60], k: 3, r: &x[..9], l: 3, out: &mut out[..59] });
}

#[test]
fn dot_and_axpy_equal_plain_loops() {
    for n in [0, 1, 7, 31, 64, 101] {
        let (x, mut y) = (numbers(n, 8), numbers(n, 9));
        let plain: f64 = x.iter().zip(&y).map(|(a, b)| a * b).sum();
        for form in forms() {
            assert_eq!(run_form(form, Dot(&x, &y)), plain, "{form}");
        }
        let expected: Vec<f64> = x.iter().zip(&y).map(|(a, b)| 3.0 * a + b).collect();
        axpy(3.0, &x, &mut y);
        assert_eq!(y, expected);
    }
}

#[test]
fn tall_products_equal_plain_loops() {
    for rows in [0, 1, 2, 5, 17, 40] {
        for k in [1, 2, 3, 4, 7, 8, 9, 13, 20] {
            for l in [1, 2, 5, 8, 9, 16, 17, 33] {
                let (a, b, r) = (numbers(rows * k, 10), numbers(rows * l, 11), numbers(k * l, 12));
                for form in forms() {
                    let mut gram = vec![1.0; k * l];
                    run_form(form, tall::Gram { a: &a, k, b: &b, l, gram: &mut gram });
                    let mut out = vec![f64::NAN; rows * l];
                    run_form(form, tall::Times { a: &a, k, r: &r, l, out: &mut out });
                    for i in 0..k {
                        for j in 0..l {
                            let plain: f64 = (0..rows).map(|f| a[f * k + i] * b[f * l + j]).sum();
                            assert_eq!(gram[i * l + j], 1.0 + plain, "{form} gram {rows} x {k}, {l}");
                        }
                    }
                    for f in 0..rows {
                        for j in 0..l {
                            let plain: f64 = (0..k).map(|i| a[f * k + i] * r[i * l + j]).sum();
                            assert_eq!(out[f * l + j], plain, "{form} times {rows} x {k}, {l}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn the_whole_buffer_is_read_and_operations_are_counted() {
    for n in [0, 5, 64, 1000] {
        let x: Vec<f64> = numbers(n, 13);
        for streams in [1, 4, 8] {
            // Up to the last vectors, which no stream fills.
            let most = n as f64 * 4.0;
            assert!(machine::read(&x, streams).abs() <= most);
        }
        let long = vec![1.0f32; 64 * 64];
        assert_eq!(machine::read(&long, 8), 4096.0);
    }
    let (count, total) = machine::multiply_add(10, 1.0f64);
    assert!(count >= 240 && total > 0.0);
}

/// The extent and the norm of dense points, and that an extent tells of what is not a number or negative.
fn first_look_matches<T: Real>() {
    for (points, features) in [(1, 1), (3, 5), (9, 16), (13, 33), (5, 162)] {
        let x: Vec<f64> = numbers(points * features, 5).iter().map(|x| x.abs()).collect();
        let xt: Vec<T> = x.iter().map(|&x| T::of(x)).collect();
        for form in forms() {
            let most = |x: &[T]| {
                let mut extent = dense::Extent::new(features);
                run_form(form, dense::Extend { x, extent: &mut extent });
                extent.most()
            };
            let plain: Vec<f64> =
                (0..features).map(|f| (0..points).map(|p| x[p * features + f]).fold(0.0, f64::max)).collect();
            assert_eq!(most(&xt), Some(plain), "{form} {points} x {features}");
            for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
                for at in [0, points * features / 2, points * features - 1] {
                    let mut x = xt.clone();
                    x[at] = T::of(wrong);
                    assert_eq!(most(&x), None, "{form} {wrong} at {at} of {points} x {features}");
                }
            }
            let norm2: f64 = x.iter().map(|x| 4.0 * x * x).sum();
            assert_eq!(run_form(form, dense::Norm2 { x: &xt, scale: 2.0 }), norm2, "{form} norm");
        }
    }
}

#[test]
fn a_first_look_at_dense_points_is_the_plain_one() {
    first_look_matches::<f32>();
    first_look_matches::<f64>();
}
