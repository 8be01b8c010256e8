//! Properties over random data: the paper's theorem, invariances, what must never happen.

use std::sync::Arc;

use crate::common::*;
use orthant::algorithms::{METHODS, Polish, Values, method};
use orthant::matrix::Mat;
use orthant::pipeline::Job;
use orthant::start::Start;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const FEATURES: usize = 7;

/// The same cases every time, so that a failure is one of the change at hand; ORTHANT_SLOW=1 draws new ones, and more.
fn cases(count: u32) -> ProptestConfig {
    let (cases, rng_seed) =
        if how_many(0, 1) == 1 { (20 * count, RngSeed::Random) } else { (count, RngSeed::Fixed(17)) };
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

fn matrix(points: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    points
        .prop_flat_map(|n| proptest::collection::vec(prop_oneof![Just(0.0), 0.01f64..5.0], n * FEATURES))
        .prop_filter("at least 4 nonzero points", |x| {
            x.chunks_exact(FEATURES).filter(|p| p.iter().any(|&v| v > 0.0)).count() >= 4
        })
}

fn from_labels(name: &str, k: usize, labels: &[i32]) -> Job {
    Job { start: Some(Start::Labels(Arc::new(labels.to_vec()))), ..short(method(name).unwrap(), k) }
}

/// Labels 0..k for the nonzero points, every cluster used.
fn some_labels(x: &[f64], k: usize, seed: u64) -> Vec<i32> {
    let mut numbers = Numbers(seed);
    let mut count = 0;
    x.chunks_exact(FEATURES)
        .map(|p| {
            if p.iter().all(|&v| v == 0.0) {
                return -1;
            }
            count += 1;
            if count <= k { count as i32 - 1 } else { (numbers.next() * k as f64) as i32 }
        })
        .collect()
}

proptest! {
    #![proptest_config(cases(64))]

    /// Theorem 1: the error of a partition is ‖M‖² − Σσ₁²(Mᵢ); no iteration is needed to see it.
    #[test]
    fn the_error_of_a_partition_is_what_its_singular_values_leave(x in matrix(6..20), seed in 0u64..1000) {
        let k = 3;
        let labels = some_labels(&x, k, seed);
        let data = open_kind("dense f64", &x, FEATURES, None);
        let problem = orthant::prepare::Problem::new(&*data, k, method("em-onmf").unwrap().needs()).unwrap();
        let mut slots = data.slots().unwrap();
        let guess = Mat::zeros(FEATURES, k);
        let rule = orthant::matrix::rule::Power.into();
        let (solution, _) = orthant::finish::finish(&problem, &mut *slots, &labels, &guess, rule).unwrap();
        prop_assert!(same_partition(&labels, &solution.labels));
        let norm2: f64 = x.iter().map(|v| v * v).sum();
        let explained: f64 = (0..k as i32)
            .map(|i| {
                let members: Vec<usize> = (0..labels.len()).filter(|&j| labels[j] == i).collect();
                plain_sigma2(&x, FEATURES, &members)
            })
            .sum();
        let error = plain_error(&x, FEATURES, None, &solution.u, &solution.v, &solution.labels);
        prop_assert!((error * error - (1.0 - explained / norm2)).abs() < 1e-8,
            "squared error {}, by singular values {}", error * error, 1.0 - explained / norm2);
    }

    /// Scaling does not affect the assignment: x and αx share a cluster, unlike in k-means.  [P, Sec. 2.3]
    #[test]
    fn a_multiple_of_a_point_shares_its_cluster(x in matrix(8..20), which in 0usize..8, alpha in 0.001f64..1000.0) {
        let point: Vec<f64> = x[which * FEATURES..(which + 1) * FEATURES].iter().map(|v| alpha * v).collect();
        let all = [x, point].concat();
        for name in ["em-onmf", "spherical-k-means", "kl-onmf"] {
            let data = open_kind("dense f64", &all, FEATURES, None);
            let job = Job { runs: 3, ..Job::new(name, 2).unwrap() };
            let outcome = orthant::cluster(&*data, &job, &mut ()).unwrap();
            for run in &outcome.runs {
                prop_assert_eq!(run.labels[which], run.labels[all.len() / FEATURES - 1], "{}", name);
            }
        }
    }

    /// With V by condition (c1), v = 1/√|πᵢ|, ‖M − UV‖² is the inertia of k-means.  [P, Sec. 2.1]
    #[test]
    fn with_equal_strengths_the_error_is_the_inertia(x in matrix(6..20), seed in 0u64..1000) {
        let data = open_kind("dense f64", &x, FEATURES, None);
        let outcome = run(&*data, &Job { seed, ..Job::new("k-means", 3).unwrap() });
        let labels = &outcome.best().labels;
        let mut left = 0.0;
        for i in 0..3 {
            let members: Vec<usize> = (0..labels.len()).filter(|&j| labels[j] == i).collect();
            let v = 1.0 / (members.len() as f64).sqrt();
            for f in 0..FEATURES {
                // u = Σ mⱼ/√|πᵢ|
                let u: f64 = members.iter().map(|&j| x[j * FEATURES + f] * v).sum();
                left += members.iter().map(|&j| (x[j * FEATURES + f] - u * v).powi(2)).sum::<f64>();
            }
        }
        let inertia = outcome.best().objective;
        prop_assert!((left - inertia).abs() <= 1e-9 * (1.0 + left), "‖M − UV‖² = {left}, inertia {inertia}");
    }

    #[test]
    fn em_never_increases_the_error(x in matrix(8..30), seed in 0u64..1000) {
        let data = open_kind("sparse f64", &x, FEATURES, None);
        let outcome = run(&*data, &Job { seed, ..Job::new("em-onmf", 3).unwrap() });
        let norm2 = data.facts().norm2;
        for pair in outcome.best().stages[0].history.windows(2) {
            // An emptied cluster that starts anew gives nothing away either: its points had left.
            prop_assert!(pair[1].objective <= pair[0].objective + 1e-12 * norm2,
                "from {} to {}", pair[0].objective, pair[1].objective);
        }
    }

    /// A polish by EM never loses against what it started from.
    #[test]
    fn a_polish_never_makes_it_worse(x in matrix(8..30), seed in 0u64..1000) {
        let data = open_kind("dense f64", &x, FEATURES, None);
        for name in ["k-means", "spherical-k-means"] {
            let plain = run(&*data, &Job { seed, ..Job::new(name, 3).unwrap() });
            let polished = run(&*data, &Job { seed, polish: vec![Polish::Em], ..Job::new(name, 3).unwrap() });
            prop_assert!(polished.certificate.relative_error <= plain.certificate.relative_error + 1e-12);
        }
    }

    /// Permuted points, permuted labels: from given labels, and for ONP-MF with its own start.
    #[test]
    fn the_order_of_the_points_does_not_matter(seed in 0u64..100_000) {
        // Points around three axes, and one of each to begin with: no cluster ever loses all its points, which
        // would start it anew from a random one.
        let (n, k) = (40, 3);
        let mut numbers = Numbers(seed);
        let x: Vec<f64> = (0..n * FEATURES)
            .map(|at| {
                let own = at % FEATURES % k == at / FEATURES % k;
                numbers.next() * if own { 1.0 } else { 0.3 } + if own { 0.7 } else { 0.0 }
            })
            .collect();
        let centroids = Mat::from_fn(FEATURES, k, |f, i| x[i * FEATURES + f]);
        let job = |name: &str| Job {
            start: Some(Start::Centroids(Arc::new(centroids.clone()))),
            ..Job::new(name, k).unwrap()
        };
        let mut order: Vec<usize> = (0..n).collect();
        let mut numbers = Numbers(seed + 1);
        for i in (1..n).rev() {
            order.swap(i, (numbers.next() * (i + 1) as f64) as usize);
        }
        let shuffled: Vec<f64> = order.iter().flat_map(|&j| x[j * FEATURES..(j + 1) * FEATURES].to_vec()).collect();
        let data = open_kind("dense f64", &x, FEATURES, None);
        let other = open_kind("dense f64", &shuffled, FEATURES, None);
        for name in ["em-onmf", "k-means", "spherical-k-means"] {
            let (a, b) = (run(&*data, &job(name)), run(&*other, &job(name)));
            let expected: Vec<i32> = order.iter().map(|&j| a.solution.labels[j]).collect();
            // Rounding may break an exact tie differently; then the errors still agree.
            prop_assert!(same_partition(&expected, &b.solution.labels)
                || (a.certificate.relative_error - b.certificate.relative_error).abs() < 1e-9, "{name}");
        }
    }

    /// c·M for a power of two: the same bits, from 2⁻⁴⁰⁰ to 2⁴⁰⁰.
    #[test]
    fn powers_of_two_change_no_bit(x in matrix(8..20), p in -400i32..400) {
        let scaled: Vec<f64> = x.iter().map(|v| v * 2f64.powi(p)).collect();
        for m in METHODS {
            let mut job = Job { seed: 5, ..short(m, 3) };
            if m.name == "onp-mf" {
                // The published schedule depends on the scale; referred to a fixed norm it does not.
                job.values = job.values.set("scale", 24.0).set("max-iterations", 400.0);
            }
            for kind in ["dense f64", "sparse f64"] {
                let a = run(&*open_kind(kind, &x, FEATURES, None), &job);
                let b = run(&*open_kind(kind, &scaled, FEATURES, None), &job);
                prop_assert_eq!(&a.solution.labels, &b.solution.labels, "{} on {}", m.name, kind);
                prop_assert_eq!(&a.solution.v, &b.solution.v, "{} on {}", m.name, kind);
                prop_assert_eq!(a.certificate.relative_error.to_bits(), b.certificate.relative_error.to_bits());
                prop_assert_eq!(a.best().iterations(), b.best().iterations());
            }
        }
    }

    /// A point of weight 3 is three points; weight 0 is none.
    #[test]
    fn whole_weights_are_repetitions(x in matrix(6..14), seed in 0u64..1000) {
        let n = x.len() / FEATURES;
        let k = 2;
        let mut numbers = Numbers(seed);
        let labels = some_labels(&x, k, seed);
        let mut weights: Vec<f64> = (0..n).map(|_| (numbers.next() * 4.0).floor()).collect();
        // The first point of each cluster stays, so that the start is one.
        for i in 0..k as i32 {
            let first = labels.iter().position(|&l| l == i).unwrap();
            weights[first] = weights[first].max(1.0);
        }
        let repeated: Vec<usize> = (0..n).flat_map(|j| vec![j; weights[j] as usize]).collect();
        let copies: Vec<f64> = repeated.iter().flat_map(|&j| x[j * FEATURES..(j + 1) * FEATURES].to_vec()).collect();
        let copied_labels: Vec<i32> = repeated.iter().map(|&j| labels[j]).collect();
        for kind in ["dense f64", "sparse f64", "sparse f64, no transposed copy"] {
            let weighted = open_kind(kind, &x, FEATURES, Some(weights.clone()));
            let plain = open_kind(kind, &copies, FEATURES, None);
            for m in METHODS {
                // Few iterations of the multiplicative methods: over many they magnify rounding.
                let few = |mut job: Job| {
                    if job.values.get("max-iterations").is_some() {
                        job.values = job.values.set("max-iterations", 15.0);
                    }
                    job
                };
                let a = run(&*weighted, &few(from_labels(m.name, k, &labels)));
                let b = run(&*plain, &few(from_labels(m.name, k, &copied_labels)));
                if !a.solution.refilled.is_empty() || !b.solution.refilled.is_empty() {
                    // An empty cluster is given one point: all of a weighted one, but one of several copies.
                    continue;
                }
                let (ea, eb) = (a.certificate.relative_error, b.certificate.relative_error);
                prop_assert!((ea - eb).abs() < 1e-7, "{} on {}: {} against {}", m.name, kind, ea, eb);
                let expected: Vec<i32> = repeated.iter().map(|&j| a.solution.labels[j]).collect();
                prop_assert!(same_partition(&expected, &b.solution.labels) || (ea - eb).abs() < 1e-9);
            }
        }
    }
}

/// A point of weight 3 is drawn as often as three copies of it, and no point twice.
#[test]
fn random_starts_draw_points_by_their_weights() {
    let x = [1.0, 0.0, 0.0, 0.0, 2.0, 1.0, 0.0, 1.0, 3.0, 3.0];
    let data = open_kind("dense f64", &x, 2, Some(vec![1.0, 5.0, 3.0, 0.0, 4.0]));
    let problem = orthant::prepare::Problem::new(&*data, 1, method("em-onmf").unwrap().needs()).unwrap();
    let mut counts = [0; 5];
    for at in 0..800 {
        let drawn = problem.draw_by_weight(&[at as f64 / 800.0, 0.5, 0.99], false).unwrap();
        counts[drawn[0]] += 1;
        assert!(drawn[0] != drawn[1] && drawn[1] != drawn[2] && drawn[0] != drawn[2], "{drawn:?}");
    }
    assert_eq!(counts, [100, 0, 300, 0, 400], "point 1 is zero, point 3 has no weight");
    assert_eq!(problem.draw_by_weight(&[0.5], true).unwrap(), [2], "zero points count where they are points");
    assert!(problem.draw_by_weight(&[0.1; 4], false).is_err());
}

#[test]
fn onp_mf_finds_the_same_clusters_in_any_order_of_the_points() {
    for seed in 0..5 {
        let x = clustered(60, FEATURES, 3, seed);
        let reversed: Vec<f64> = x.chunks_exact(FEATURES).rev().flatten().copied().collect();
        let job = Job::new("onp-mf", 3).unwrap();
        let a = run(&*open_kind("dense f64", &x, FEATURES, None), &job);
        let b = run(&*open_kind("dense f64", &reversed, FEATURES, None), &job);
        let back: Vec<i32> = b.solution.labels.iter().rev().copied().collect();
        assert!(same_partition(&a.solution.labels, &back), "seed {seed}");
    }
}

#[test]
fn scale_as_large_and_small_as_float64_holds_is_no_special_case() {
    let x = clustered(40, FEATURES, 3, 9);
    let reference = run(&*open_kind("dense f64", &x, FEATURES, None), &Job::new("em-onmf", 3).unwrap());
    for c in [1e-200, 1e200, 1e-300, 1e300] {
        let scaled: Vec<f64> = x.iter().map(|v| v * c).collect();
        for kind in ["dense f64", "sparse f64"] {
            for m in METHODS {
                let mut job = Job { seed: 1, ..short(m, 3) };
                if m.name == "onp-mf" {
                    job.values = Values::new().set("scale", 24.0);
                }
                let outcome = run(&*open_kind(kind, &scaled, FEATURES, None), &job);
                assert!(outcome.certificate.relative_error.is_finite(), "{} at {c}", m.name);
            }
            let em = run(&*open_kind(kind, &scaled, FEATURES, None), &Job::new("em-onmf", 3).unwrap());
            assert_eq!(em.solution.labels, reference.solution.labels, "at {c}");
        }
    }
}

#[test]
fn a_zero_feature_changes_nothing() {
    let x = clustered(50, FEATURES, 3, 11);
    let wider: Vec<f64> = x.chunks_exact(FEATURES).flat_map(|p| [p, &[0.0]].concat()).collect();
    for m in METHODS.iter().filter(|m| m.name != "chnmf") {
        let a = run(&*open_kind("dense f64", &x, FEATURES, None), &short(m, 3));
        let b = run(&*open_kind("dense f64", &wider, FEATURES + 1, None), &short(m, 3));
        assert_eq!(a.solution.labels, b.solution.labels, "{}", m.name);
        assert!((a.certificate.relative_error - b.certificate.relative_error).abs() < 1e-12, "{}", m.name);
    }
}

/// On few points O-PNMF works on the Gram matrix, on many it makes two products: the same iterates.
#[test]
fn o_pnmf_is_the_same_with_and_without_a_gram_matrix() {
    // 20 points of 60 features: 400 < 1200. The same points thinned out are stored with fewer entries than 400.
    let (points, features) = (20, 60);
    let mut x = clustered(points, features, 3, 21);
    x.iter_mut().enumerate().for_each(|(at, v)| *v = if at % 5 == 0 { *v } else { 0.0 });
    for iterations in [1.0, 7.0, 60.0] {
        let job =
            Job { values: Values::new().set("max-iterations", iterations), ..Job::new("o-pnmf", 3).unwrap() };
        let gram = run(&*open_kind("dense f64", &x, features, None), &job);
        let data = open_kind("sparse f64", &x, features, None);
        assert!(data.shape().nonzeros < points * points);
        let products = run(&*data, &job);
        assert_eq!(gram.solution.labels, products.solution.labels);
        let (a, b) = (
            gram.best().stages[0].history.last().unwrap(),
            products.best().stages[0].history.last().unwrap(),
        );
        assert!((a.residual - b.residual).abs() < 1e-9, "{} {}", a.residual, b.residual);
    }
}

/// `‖M − UV‖²` after every iteration of CHNMF by plain loops, from V with unit rows on the clusters and U = MVᵀ.
fn plain_chnmf(x: &[f64], labels: &[usize], k: usize, divides: bool, iterations: usize) -> Vec<f64> {
    let m: Vec<&[f64]> = x.chunks_exact(FEATURES).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut v = Mat::from_fn(k, m.len(), |i, j| {
        let own = |l: usize| if labels[l] == i { dot(m[l], m[l]) } else { 0.0 };
        let all: f64 = (0..m.len()).map(own).sum();
        if own(j) > 0.0 { (own(j) / all).sqrt() } else { 1e-10 }
    });
    let data = Mat::from_fn(FEATURES, m.len(), |f, j| m[j][f]);
    let mut u = data.times(&v.transpose());
    let one = |_| {
        let (utm, q) = (u.transpose().times(&data), v.times(&data.transpose()).times(&u));
        let below = q.times(&v);
        v = Mat::from_fn(k, m.len(), |i, j| (v[(i, j)] * utm[(i, j)] / below[(i, j)]).max(1e-16));
        if divides {
            v = Mat::from_fn(k, m.len(), |i, j| v[(i, j)] / v.row(i).iter().sum::<f64>());
        }
        let (mvt, below) = (data.times(&v.transpose()), u.times(&v).times(&v.transpose()));
        u = Mat::from_fn(FEATURES, k, |f, i| (u[(f, i)] * mvt[(f, i)] / below[(f, i)]).max(1e-16));
        data.plus(-1.0, &u.times(&v)).norm2()
    };
    (0..iterations).map(one).collect()
}

/// With weights, which stand for points that are there several times.
#[test]
fn chnmf_is_what_plain_loops_give() {
    let (points, k, iterations) = (40, 3, 250);
    let x = clustered(points, FEATURES, k, 31);
    // Clusters that are not those of the data, so that there is some way to go.
    let labels: Vec<usize> = (0..points).map(|j| (j + j / 5) % k).collect();
    let given: Vec<i32> = labels.iter().map(|&l| l as i32).collect();
    let weights: Vec<f64> = (0..points).map(|j| (1 + j % 3) as f64).collect();
    let times = |j: usize| std::iter::repeat_n(j, 1 + j % 3);
    let several: Vec<usize> = (0..points).flat_map(times).collect();
    let repeated: Vec<f64> =
        several.iter().flat_map(|&j| x[j * FEATURES..(j + 1) * FEATURES].to_vec()).collect();
    let again: Vec<usize> = several.iter().map(|&j| labels[j]).collect();
    let norm2: f64 = repeated.iter().map(|x| x * x).sum();
    let mut ends = vec![];
    for (number, divides) in [(0.0, true), (1.0, false)] {
        let values = Values::new().set("max-iterations", iterations as f64).set("tolerance", 0.0);
        let job = Job { values: values.set("rows", number), ..from_labels("chnmf", k, &given) };
        let outcome = run(&*open_kind("dense f64", &x, FEATURES, Some(weights.clone())), &job);
        let history = &outcome.best().stages[0].history;
        let expected = plain_chnmf(&repeated, &again, k, divides, iterations);
        assert_eq!(history.len(), expected.len());
        let scale = history[0].objective / expected[0];
        for (at, (reached, expected)) in history.iter().zip(&expected).enumerate() {
            let off = (reached.objective / scale - expected).abs() / norm2;
            assert!(off < 1e-9, "iteration {at}, divided: {divides}: {off:e}");
        }
        ends.push(expected[iterations - 1] / norm2);
    }
    // Else the comparison above could not tell one form from the other.
    assert!((ends[0] - ends[1]).abs() > 1e-8, "{ends:?}");
}

/// The published schedule of ONP-MF loses its meaning far from its scale, but it ends, and the polish mends what it gives.
#[test]
fn the_default_method_ends_at_any_scale() {
    let x = clustered(40, FEATURES, 3, 9);
    for c in [1e-300, 1e-100, 1e-20, 1e9, 1e20, 1e100, 1e200, 1e300] {
        let scaled: Vec<f64> = x.iter().map(|v| v * c).collect();
        for start in ["svd", "nndsvd", "random"] {
            let job = Job {
                polish: vec![Polish::Em],
                values: Values::new().set("max-iterations", 60.0),
                start: Some(Start::named(start).unwrap()),
                ..Job::new("onp-mf", 3).unwrap()
            };
            let outcome = run(&*open_kind("dense f64", &scaled, FEATURES, None), &job);
            assert!(outcome.certificate.relative_error < 0.5, "{start} at {c}: {:?}", outcome.certificate);
        }
    }
}

#[test]
fn the_best_run_is_the_best_at_any_scale() {
    let x = clustered(60, FEATURES, 4, 13);
    for name in ["em-onmf", "k-means", "spherical-k-means"] {
        let job = Job { runs: 20, ..Job::new(name, 4).unwrap() };
        let expected = run(&*open_kind("dense f64", &x, FEATURES, None), &job).best;
        for p in [-660, 660] {
            let scaled: Vec<f64> = x.iter().map(|v| v * 2f64.powi(p)).collect();
            assert_eq!(
                run(&*open_kind("dense f64", &scaled, FEATURES, None), &job).best,
                expected,
                "{name} at 2^{p}"
            );
        }
    }
}

#[test]
fn a_cluster_of_zero_points_alone_stays_one_for_k_means() {
    let x: Vec<f64> = (0..30)
        .map(|_| [0.0, 0.0])
        .chain((0..10).map(|_| [5.0, 1.0]))
        .chain((0..10).map(|_| [1.0, 5.0]))
        .flatten()
        .collect();
    let job = Job { runs: 20, start: Some(Start::Residual), ..Job::new("k-means", 3).unwrap() };
    let outcome = run(&*open_kind("dense f64", &x, 2, None), &job);
    let mut sizes = outcome.solution.sizes.clone();
    sizes.sort_unstable();
    assert_eq!(sizes, [10, 10, 30]);
    assert!(outcome.certificate.orthogonality_residual < 1e-12);
    let zero = run(&*open_kind("dense f64", &[0.0; 6], 2, None), &Job::new("k-means", 1).unwrap());
    assert_eq!(zero.certificate.relative_error, 0.0);
}

#[test]
fn signed_points_on_a_line_are_explained_by_it() {
    let x = [1.0, -1.0, 2.0, -2.0, -1.0, 1.0, -3.0, 3.0];
    for name in ["k-means", "spherical-k-means"] {
        let job = Job { runs: 10, ..Job::new(name, 2).unwrap() };
        let outcome = run(&*open_kind("dense f64", &x, 2, None), &job);
        assert!(outcome.certificate.relative_error < 1e-6, "{name}: {:?}", outcome.certificate);
    }
}

/// Points that share no feature with the rest of their cluster may be the larger part of it.
#[test]
fn the_direction_of_a_cluster_in_two_pieces_is_that_of_the_larger() {
    let x = [1.0, 0.0, 0.0, 2.0, 0.0, 2.0];
    for seed in 0..6 {
        let outcome =
            run(&*open_kind("dense f64", &x, 2, None), &Job { seed, ..Job::new("em-onmf", 1).unwrap() });
        assert!((outcome.best().objective - 1.0).abs() < 1e-9, "seed {seed}: {}", outcome.best().objective);
        assert!((outcome.certificate.relative_error - 1.0 / 3.0).abs() < 1e-9);
    }
}

#[test]
fn onp_mf_takes_nndsvd_beyond_the_rank() {
    use orthant::generate::{Generator, Swimmer};
    let made = Swimmer::default().generate().unwrap();
    let job = Job {
        start: Some(Start::Nndsvd),
        values: Values::new().set("max-iterations", 30.0),
        ..Job::new("onp-mf", 17).unwrap()
    };
    let outcome = run(&*orthant::matrix::open(&made.matrix, None).unwrap(), &job);
    assert!(
        outcome.certificate.relative_error.is_finite() && outcome.certificate.orthogonality_residual < 1e-12
    );
}
