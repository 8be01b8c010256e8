//! Every method of the table × every kind of data: whatever is promised of all of them.

use crate::common::*;
use orthant::algorithms::{METHODS, Polish};
use orthant::bytes::Bytes;
use orthant::matrix::passes::{Assign, Bounds, SumOfLabels};
use orthant::matrix::{Array, Mat, Rule, Slot, rule};
use orthant::pipeline::{Job, Outcome};
use orthant::start::{STARTS, Start};
use std::sync::Arc;

const FEATURES: usize = 12;

/// The solution is feasible and its certificate is what plain loops find.
fn check_feasible(x: &[f64], weights: Option<&[f64]>, kind: &str, job: &Job) {
    let data = open_kind(kind, x, FEATURES, weights.map(<[f64]>::to_vec));
    let outcome = run(&*data, job);
    let what = format!("{} on {kind} from {}", job.method.name, job.start().name());
    let single = kind.contains("f32");
    let (solution, certificate) = (&outcome.solution, &outcome.certificate);
    let tolerance = if single { 2e-6 } else { 1e-10 };

    for (j, point) in x.chunks_exact(FEATURES).enumerate() {
        let zero = point.iter().all(|&v| v == 0.0);
        let label = solution.labels[j];
        assert!((-1..job.k as i32).contains(&label), "{what}: label {label}");
        if !job.method.rule.distance {
            assert_eq!(zero, label == -1, "{what}: point {j}");
        }
        assert!(solution.v[j] >= 0.0, "{what}: v of point {j} is {}", solution.v[j]);
    }
    assert!(solution.u.data.iter().all(|&u| u >= 0.0), "{what}: U has a negative entry");
    // VVᵀ = I: every cluster has points, and their squares sum to one.
    for i in 0..job.k {
        let members: Vec<usize> =
            (0..solution.labels.len()).filter(|&j| solution.labels[j] == i as i32).collect();
        let zero = |j: &usize| x[j * FEATURES..(j + 1) * FEATURES].iter().all(|&v| v == 0.0);
        if job.method.rule.distance && !members.is_empty() && members.iter().all(zero) {
            // Zero points alone are a cluster of k-means, but have no direction.
            continue;
        }
        let weight = |j: usize| weights.map_or(1.0, |w| w[j]);
        let squares: f64 = members.iter().map(|&j| weight(j) * solution.v[j] * solution.v[j]).sum();
        assert!((squares - 1.0).abs() < 1e-12, "{what}: row {i} of V has norm² {squares}");
        assert!(solution.sizes[i] > 0, "{what}: cluster {i} is empty");
    }
    assert!(certificate.orthogonality_residual < 1e-12, "{what}");
    assert!(certificate.smallest_entry >= 0.0, "{what}");
    // Decreasing energy.
    assert!(
        solution.energy.windows(2).all(|e| e[0] >= e[1] * (1.0 - tolerance)),
        "{what}: {:?}",
        solution.energy
    );

    let plain = plain_error(x, FEATURES, weights, &solution.u, &solution.v, &solution.labels);
    let error = certificate.relative_error;
    assert!((plain - error).abs() < tolerance, "{what}: certificate {error}, plain loops {plain}");
    assert!(certificate.lower_bound <= error && certificate.lower_bound >= 0.0, "{what}");
    assert!((0.0..=1.0).contains(&certificate.energy_share), "{what}");
    let partition = plain_partition_error(x, FEATURES, weights, &solution.labels, job.k);
    assert!(
        (partition - error).abs() < 10.0 * tolerance.sqrt().max(1e-6),
        "{what}: {error}, at best {partition}"
    );
    assert!(!outcome.best().stages.is_empty() && outcome.best().iterations() > 0, "{what}");
    assert!(outcome.best().stages[0].history.iter().all(|p| p.objective.is_finite()), "{what}");
}

#[test]
fn every_method_gives_feasible_factors_on_every_kind_of_data() {
    let x = clustered(90, FEATURES, 4, 1);
    let weights: Vec<f64> = (0..90).map(|j| [1.0, 0.0, 2.5, 0.3][j % 4]).collect();
    for method in METHODS {
        for kind in KINDS {
            let job = Job { seed: 7, ..short(method, 4) };
            check_feasible(&x, None, kind, &job);
            check_feasible(&x, Some(&weights), kind, &job);
        }
    }
}

#[test]
fn every_method_takes_every_start() {
    let x = clustered(60, FEATURES, 3, 2);
    let labels: Vec<i32> = (0..60).map(|j| j % 3).collect();
    let centroids = Mat::from_fn(FEATURES, 3, |f, i| if f % 3 == i { 1.0 } else { 0.1 });
    for method in METHODS {
        let named = STARTS.iter().map(|(name, _)| Start::named(name).unwrap());
        let given = [Start::Labels(Arc::new(labels.clone())), Start::Centroids(Arc::new(centroids.clone()))];
        for start in named.chain(given) {
            for kind in ["dense f64", "sparse f64, no transposed copy"] {
                check_feasible(&x, None, kind, &Job { start: Some(start.clone()), ..short(method, 3) });
            }
        }
    }
}

#[test]
fn extreme_numbers_of_clusters_and_shapes_are_no_special_cases() {
    let x = clustered(20, FEATURES, 3, 3);
    let nonzero = 20 - 1;
    let duplicates: Vec<f64> = (0..10).flat_map(|_| x[..FEATURES].to_vec()).collect();
    let mut unmet = clustered(20, FEATURES, 2, 4);
    // One point lives on a feature of its own: its score with every other direction is 0.
    for row in unmet.chunks_exact_mut(FEATURES) {
        row[FEATURES - 1] = 0.0;
    }
    unmet[..FEATURES].fill(0.0);
    unmet[FEATURES - 1] = 0.01;
    for method in METHODS {
        for kind in ["dense f64", "dense f32", "sparse f64"] {
            check_feasible(&x, None, kind, &short(method, 1));
            check_feasible(&x, None, kind, &short(method, nonzero));
            check_feasible(&duplicates, None, kind, &short(method, 3));
            check_feasible(&duplicates, None, kind, &short(method, 10));
            check_feasible(&unmet, None, kind, &short(method, 2));
            // Fewer directions than clusters: a start that assigns points leaves some without any.
            let residual = Job { start: Some(Start::Residual), ..short(method, 3) };
            check_feasible(&duplicates, None, kind, &residual);
        }
    }
}

#[test]
fn one_feature_is_enough() {
    for method in METHODS {
        let data = open_kind("dense f64", &[1.0, 2.0, 0.0, 5.0, 4.0], 1, None);
        let outcome = run(&*data, &short(method, 2));
        // Rank one: nothing is left to explain, whatever the partition.
        assert!(outcome.certificate.relative_error < 1e-7, "{}: {:?}", method.name, outcome.certificate);
        assert!(outcome.solution.sizes.iter().all(|&s| s > 0));
    }
}

#[test]
fn dense_and_sparse_data_give_the_same_answer() {
    let x = clustered(120, FEATURES, 4, 5);
    let weights: Vec<f64> = (0..120).map(|j| 0.5 + (j % 3) as f64).collect();
    for method in METHODS {
        for weights in [None, Some(weights.clone())] {
            let job = Job { seed: 3, ..short(method, 4) };
            let reference = run(&*open_kind("dense f64", &x, FEATURES, weights.clone()), &job);
            for kind in KINDS.iter().filter(|k| k.contains("sparse f64")) {
                let other = run(&*open_kind(kind, &x, FEATURES, weights.clone()), &job);
                assert_eq!(reference.solution.labels, other.solution.labels, "{} on {kind}", method.name);
                let (a, b) = (reference.certificate.relative_error, other.certificate.relative_error);
                assert!((a - b).abs() < 1e-12, "{} on {kind}: {a} {b}", method.name);
            }
        }
    }
}

#[test]
fn the_number_of_threads_never_changes_a_bit() {
    // Large enough that every pass is cut into several chunks.
    let (points, features) = (3000, 40);
    let x = clustered(points, features, 5, 6);
    let mut turn = InTurn::default();
    for method in METHODS {
        let values = method.parameters.iter().any(|p| p.name == "max-iterations");
        assert!(values, "every method has a limit");
        let job = Job {
            values: orthant::algorithms::Values::new().set("max-iterations", 40.0),
            runs: if method.batched { 5 } else { 3 },
            polish: match method.name {
                "onp-mf" => vec![Polish::Em, Polish::Moves, Polish::Swaps],
                "k-means" | "kl-onmf" => vec![Polish::Swaps],
                _ => vec![],
            },
            ..Job::new(method.name, 5).unwrap()
        };
        for kind in ["dense f64", "dense f32", "sparse f64", "sparse f64, no transposed copy"] {
            let outcomes: Vec<_> = std::iter::once(&1)
                .chain(turn.next(&[2, 3, 7], 1))
                .map(|&threads| {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    pool.install(|| run(&*open_kind(kind, &x, features, None), &job))
                })
                .collect();
            for other in &outcomes[1..] {
                let first = &outcomes[0];
                assert_eq!(first.solution.labels, other.solution.labels, "{} on {kind}", method.name);
                assert_eq!(first.solution.u, other.solution.u, "{} on {kind}", method.name);
                assert_eq!(first.solution.v, other.solution.v, "{} on {kind}", method.name);
                assert_eq!(first.certificate, other.certificate, "{} on {kind}", method.name);
                for (a, b) in first.runs.iter().zip(&other.runs) {
                    assert_eq!(a.objective.to_bits(), b.objective.to_bits(), "{} on {kind}", method.name);
                }
            }
        }
    }
}

#[test]
fn runs_do_not_depend_on_how_many_there_are() {
    let x = clustered(100, FEATURES, 4, 8);
    for method in METHODS.iter().filter(|m| m.starts.contains(&"random")) {
        let data = open_kind("dense f64", &x, FEATURES, None);
        let few = run(&*data, &Job { runs: 2, ..short(method, 4) });
        let many = run(&*data, &Job { runs: 9, ..short(method, 4) });
        for (a, b) in few.runs.iter().zip(&many.runs) {
            assert!(same_partition(&a.labels, &b.labels), "{}", method.name);
            assert_eq!(a.iterations(), b.iterations(), "{}", method.name);
            assert!((a.objective - b.objective).abs() <= 1e-12 * a.objective.abs(), "{}", method.name);
        }
        assert_eq!(many.runs.len(), 9);
        let best = many.best().objective;
        assert!(many.runs.iter().all(|r| !method.better(r.objective, best)), "{}", method.name);
    }
}

/// Sums of float32 data over a hundred thousand points lose nothing that float32 itself has not lost.
#[test]
fn float32_sums_over_a_hundred_thousand_points_keep_their_digits() {
    let (points, features, k) = (100_000, 6, 3);
    let x = clustered(points, features, k, 40);
    let labels: Vec<i32> = (0..points as i32).map(|j| j % 3).collect();
    let singles: Vec<f64> = x.iter().map(|&v| f64::from(v as f32)).collect();
    for kind in ["dense f32", "sparse f32", "sparse f32, no transposed copy"] {
        let data = open_kind(kind, &x, features, None);
        let mut slots = data.slots().unwrap();
        slots.set_labels(0, &labels).unwrap();
        let (_, sums) = slots.sweep(&SumOfLabels { k, rule: rule::Euclid.into(), run: 0 }).unwrap();
        for i in 0..k {
            for f in 0..features {
                let members = (0..points).filter(|&j| labels[j] == i as i32);
                let exact: f64 = members.map(|j| singles[j * features + f]).sum::<f64>() * data.facts().scale;
                let error = (sums[(f, i)] - exact).abs() / exact.max(1.0);
                assert!(error < 2e-7, "{kind}: {} instead of {exact}", sums[(f, i)]);
            }
        }
    }
}

/// On exactly collinear points two centroids in the same direction are a tie: the lower index wins for all,
/// whatever the last bits of the products are.
#[test]
fn ties_go_to_the_lowest_index() {
    let direction = [0.3, 0.7, 0.1, 0.9, 0.2];
    let mut numbers = Numbers(8);
    let x: Vec<f64> = (0..400)
        .flat_map(|_| {
            let a = numbers.next() * 10.0;
            direction.map(|d| d * a)
        })
        .collect();
    let u = Mat::from_fn(5, 3, |f, i| direction[f] * [1.0 - 1e-15, 1.0, 1.0 + 2e-16][i]);
    for kind in KINDS {
        for rule in [rule::Power.into(), rule::Cosine.into(), Rule::from(rule::Euclid)] {
            let data = open_kind(kind, &x, 5, None);
            let mut slots = data.slots().unwrap();
            slots.tell(&Assign::new(rule, vec![u.clone()], vec![0])).unwrap();
            let labels = slots.labels(0).unwrap();
            assert!(
                labels.iter().all(|&l| l == 0),
                "{kind} {rule:?}: {:?}",
                labels.iter().position(|&l| l != 0)
            );
        }
    }
}

/// A pass that leaves points alone whose cluster cannot have changed ends as one that scores all of them.
#[test]
fn what_is_remembered_changes_no_label() {
    let x = clustered(400, FEATURES, 5, 60);
    let weights: Vec<f64> = (0..400).map(|j| 0.5 + (j % 4) as f64).collect();
    for kind in KINDS {
        for (rule, weights) in [
            (Rule::from(rule::Cosine), None),
            (rule::Cosine.into(), Some(weights.clone())),
            (rule::Euclid.into(), None),
            (rule::Euclid.into(), Some(weights.clone())),
        ] {
            let data = open_kind(kind, &x, FEATURES, weights);
            let (mut with, mut without) = (data.slots().unwrap(), data.slots().unwrap());
            let mut known: Option<(Mat, Mat)> = None;
            let mut u = data.gather(&[1, 81, 82, 203, 399]).unwrap();
            let mut left_alone = 0;
            for round in 0..30 {
                if rule == rule::Cosine.into() {
                    u = u.with_unit_columns();
                }
                let mut pass = Assign::new(rule, vec![u.clone()], vec![0]);
                let (b, b_sums) = without.sweep(&pass).unwrap();
                // Only points whose lead may be lost are scored, and only those that change their label are added.
                let before = known.take();
                let leads = with.read(Slot::Leads(0)).unwrap();
                pass.bounds =
                    Some(before.as_ref().map_or_else(Bounds::nothing, |(u, _)| Bounds::moved(u, &pass.u[0])));
                pass.follows = vec![before.is_some()];
                let (a, mut a_sums) = with.sweep(&pass).unwrap();
                if let Some((_, sums)) = &before {
                    a_sums = a_sums.plus(1.0, sums);
                }
                known = Some((u.clone(), a_sums.clone()));
                assert_eq!(
                    with.labels(0).unwrap(),
                    without.labels(0).unwrap(),
                    "{kind} {rule:?} pass {round}"
                );
                assert_eq!((&a.weight, &a.changed), (&b.weight, &b.changed), "{kind} {rule:?} pass {round}");
                let close = |a: &[f64], b: &[f64], size: f64| {
                    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-6 * size)
                };
                let size = b_sums.data.iter().copied().fold(0.0, f64::max);
                assert!(close(&a_sums.data, &b_sums.data, size), "{kind} {rule:?} pass {round}");
                assert!(
                    close(&a.value, &b.value, data.facts().norm2.max(1.0)),
                    "{kind} {rule:?} pass {round}"
                );
                if let Some(Array::Numbers(1, leads)) = leads {
                    left_alone += leads.iter().filter(|l| **l > 0.0).count();
                }
                let weight = b.weight;
                u = Mat::from_fn(u.rows, u.cols, |f, i| b_sums[(f, i)] / weight[i].max(1e-9));
            }
            assert!(left_alone > 400, "{kind} {rule:?}: nothing was left alone");
        }
    }
}

/// What a result says of the points it was made from: the labels of a method whose labels are stable under its rule.
#[test]
fn prediction_gives_the_points_of_the_fit_their_labels() {
    let x = clustered(150, FEATURES, 4, 50);
    for name in ["best", "em-onmf", "kl-onmf", "k-means", "spherical-k-means"] {
        for kind in KINDS {
            let data = open_kind(kind, &x, FEATURES, None);
            let job = Job { seed: 4, ..Job::new(name, 4).unwrap() };
            let outcome = run(&*data, &job);
            assert_eq!(outcome.best().stop(), orthant::run::Stop::Converged, "{name}");
            let predicted =
                orthant::finish::predict(&*data, &outcome.solution.centroids, job.method.rule).unwrap();
            assert_eq!(predicted, outcome.solution.labels, "{name} on {kind}");
        }
    }
}

/// The smoothing that a user sets holds to the end: in the loop, in swaps, and for new points.
#[test]
fn the_smoothing_of_kl_holds_in_swaps_and_prediction() {
    let (points, features, k) = (300, 60, 5);
    let mut numbers = Numbers(71);
    let counts = (0..points * features).map(|at| {
        let own = at % features % k == at / features % k;
        if numbers.next() < if own { 0.12 } else { 0.04 } {
            1.0 + (3.0 * numbers.next()).floor()
        } else {
            0.0
        }
    });
    let x: Vec<f64> = counts.collect();
    let data = open_kind("sparse f64", &x, features, None);
    for polish in [vec![], vec![Polish::Swaps]] {
        let mut job = Job { seed: 4, polish, ..Job::new("kl-onmf", k).unwrap() };
        job.values = job.values.set("smoothing", 5.0);
        let outcome = run(&*data, &job);
        let solution = &outcome.solution;
        let predicted = orthant::finish::predict(&*data, &solution.centroids, job.method.rule).unwrap();
        assert_eq!(predicted, solution.labels, "after {:?}", job.polish);
        assert_eq!(solution.relabelled, 0);
        // It matters: with the usual smoothing other labels would be stable.
        let mut slots = data.slots().unwrap();
        slots.set_labels(0, &solution.labels).unwrap();
        let rule = Rule::from(rule::Kl::default());
        let sums = slots.sweep(&SumOfLabels { k, rule, run: 0 }).unwrap().1;
        let usual = orthant::finish::predict(&*data, &rule.centroids(sums, &[]), rule).unwrap();
        assert_ne!(usual, solution.labels, "after {:?}", job.polish);
    }
}

/// An outcome can be kept, as bytes or as JSON, and asked about other points.
#[test]
fn an_outcome_is_a_value_that_knows_new_points() {
    let x = clustered(150, FEATURES, 4, 50);
    let data = open_kind("dense f64", &x, FEATURES, None);
    for method in METHODS {
        let job = Job { seed: 4, ..short(method, 4) };
        let outcome = run(&*data, &job);
        let bytes = outcome.to_bytes();
        let text = serde_json::to_string(&outcome).unwrap();
        let read: Outcome = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (&read.solution, read.figures()),
            (&outcome.solution, outcome.figures()),
            "{}",
            method.name
        );
        let kept = Outcome::from_bytes(&bytes).unwrap();
        assert_eq!(kept.to_bytes(), bytes, "{}", method.name);
        let again = Job::from_bytes(&job.to_bytes()).unwrap();
        assert_eq!(again.fingerprint(&*data), job.fingerprint(&*data));

        let (labels, strengths) = kept.transform(&*data).unwrap();
        assert_eq!(labels, kept.predict(&*data).unwrap());
        let solution = &outcome.solution;
        let differ = labels.iter().zip(&solution.labels).filter(|(a, b)| a != b).count();
        assert_eq!(differ, solution.relabelled, "{}", method.name);
        for (j, (a, b)) in strengths.iter().zip(&solution.v).enumerate() {
            assert!(labels[j] != solution.labels[j] || (a - b).abs() < 1e-12, "{}: {a} {b}", method.name);
        }
        let other = open_kind("dense f64", &x, FEATURES / 2, None);
        assert!(kept.predict(&*other).is_err());
    }
}
