//! Numbers at the ends of what the formats hold: every method ends with a feasible, finite result, or with one line that says
//! what to do.

use crate::common::*;
use orthant::advise::{Advise, advise};
use orthant::algorithms::{METHODS, Values};
use orthant::choose_k::{ChooseK, choose_k};
use orthant::finish::predict;
use orthant::matrix::{Data, Mat};
use orthant::pipeline::{Job, Outcome, cluster};

const FEATURES: usize = 8;
const POINTS: usize = 24;
const K: usize = 3;

/// Data whose points are multiplied by `of(j)`.
fn points(of: impl Fn(usize) -> f64) -> Vec<f64> {
    let x = clustered(POINTS, FEATURES, K, 5);
    x.iter().enumerate().map(|(at, v)| v * of(at / FEATURES)).collect()
}

/// As `check_feasible` of the conformance suite, by plain loops over data that a power of two has brought near 1.
fn check(x: &[f64], outcome: &Outcome, zero_is_a_point: bool, tolerance: f64, what: &str) {
    let largest = x.iter().copied().fold(0.0, f64::max);
    // In two steps: the inverse of a power of two near the end of the range is none.
    let (half, rest) = (2f64.powi((largest.log2() / 2.0) as i32), (largest.log2() / 2.0) as i32);
    let near = |v: f64| v / half / 2f64.powi(rest);
    let x: Vec<f64> = x.iter().map(|&v| near(v)).collect();
    let (solution, certificate) = (&outcome.solution, &outcome.certificate);
    let u = Mat::from_fn(FEATURES, K, |f, i| near(solution.u[(f, i)]));
    let numbers = u.data.iter().chain(&solution.v).chain(&solution.energy).chain(&solution.centroids.data);
    assert!(numbers.clone().all(|v| v.is_finite()), "{what}: not finite");
    assert!(u.data.iter().chain(&solution.v).all(|v| *v >= 0.0), "{what}: negative");
    let is_zero = |j: usize| x[j * FEATURES..(j + 1) * FEATURES].iter().all(|v| *v == 0.0);
    for (j, &label) in solution.labels.iter().enumerate() {
        assert!((-1..K as i32).contains(&label), "{what}: label {label}");
        assert!(zero_is_a_point || is_zero(j) == (label == -1), "{what}: point {j} has label {label}");
    }
    for i in 0..K {
        let members: Vec<usize> = (0..POINTS).filter(|&j| solution.labels[j] == i as i32).collect();
        assert!(!members.is_empty(), "{what}: cluster {i} is empty");
        if members.iter().all(|&j| is_zero(j)) {
            continue;
        }
        let squares: f64 = members.iter().map(|&j| solution.v[j] * solution.v[j]).sum();
        assert!((squares - 1.0).abs() < 1e-12, "{what}: row {i} of V has norm² {squares}");
    }
    assert!(certificate.orthogonality_residual < 1e-12, "{what}");
    let plain = plain_error(&x, FEATURES, None, &u, &solution.v, &solution.labels);
    let error = certificate.relative_error;
    assert!((plain - error).abs() < tolerance, "{what}: certificate {error}, plain loops {plain}");
    assert!((0.0..=error).contains(&certificate.lower_bound), "{what}");
    assert!((0.0..=1.0).contains(&certificate.energy_share), "{what}");
    assert!(certificate.singular_values.iter().all(|s| s.is_finite()), "{what}");
}

/// Whether every method has a result, or refuses, as expected; `None`: either.
fn every_method(x: &[f64], kinds: &[&str], expected: Option<bool>, what: &str) {
    for method in METHODS {
        for kind in kinds {
            let what = format!("{} on {kind}: {what}", method.name);
            let data: Box<dyn Data> = open_kind(kind, x, FEATURES, None);
            let mut job = Job { seed: 3, ..short(method, K) };
            if method.name == "onp-mf" {
                // The published schedule is of one scale: anywhere else it takes all the iterations that it is given.
                job.values = Values::new().set("scale", 24.0).set("max-iterations", 300.0);
            }
            let found = cluster(&*data, &job, &mut ());
            assert!(expected.is_none_or(|expected| found.is_ok() == expected), "{what}: {:?}", found.err());
            match found {
                Ok(outcome) => {
                    let others = predict(&*data, &outcome.solution.centroids, method.rule).unwrap();
                    assert!(others.iter().all(|label| (-1..K as i32).contains(label)), "{what}");
                    let tolerance = if kind.contains("f32") { 5e-6 } else { 1e-10 };
                    check(x, &outcome, method.rule.distance, tolerance, &what);
                }
                Err(error) => {
                    let line = error.to_string();
                    let advises = ["multiply the data", "remove"].iter().any(|advice| line.contains(advice));
                    assert!(advises && !line.contains('\n'), "{what}: {line}");
                }
            }
        }
    }
}

const DOUBLE: &[&str] = &["dense f64", "sparse f64"];
const SINGLE: &[&str] = &["dense f32", "sparse f32"];

#[test]
fn data_of_any_size_are_clustered_or_refused() {
    for size in [1e-305, 1e150, 1e306] {
        every_method(&points(|_| size), DOUBLE, Some(true), &format!("size {size:e}"));
    }
    for size in [1e-310, 1e-322] {
        every_method(&points(|_| size), DOUBLE, Some(false), &format!("size {size:e}"));
    }
    // U has the norms of whole clusters, beyond what a single entry may be.
    let mut largest = points(|_| 1e307);
    largest.iter_mut().filter(|v| **v > 5e306).for_each(|v| *v = f64::MAX);
    every_method(&largest, DOUBLE, None, "the largest number");
    for size in [1e-37, 1e37] {
        every_method(&points(|_| size), SINGLE, Some(true), &format!("size {size:e}"));
    }
}

#[test]
fn points_of_very_different_sizes_are_clustered_or_refused() {
    for (ratio, expected) in
        [(1e-60, Some(true)), (1e-100, Some(false)), (1e-155, Some(false)), (1e-300, Some(false))]
    {
        // Some points, or all but one.
        let top = 1e150;
        let few = points(|j| if j % 5 == 2 { top * ratio } else { top });
        let most = points(|j| if j == 3 { top } else { top * ratio });
        every_method(&few, DOUBLE, expected, &format!("some {ratio:e} of {top:e}"));
        every_method(&most, DOUBLE, expected, &format!("most {ratio:e} of {top:e}"));
    }
    for (small, large, expected) in
        [(1e-20, 1.0, Some(true)), (1e-30, 1e38, Some(false)), (1e-37, 1.0, Some(false))]
    {
        let x = points(|j| if j % 5 == 2 { small } else { large });
        every_method(&x, SINGLE, expected, &format!("from {large:e} to {small:e}"));
    }
}

/// Entries from anywhere in the range of the format: around one exponent, or spread over some of it, or over all.
fn any_floats(numbers: &mut Numbers) -> Vec<f64> {
    let middle = -330.0 + 638.0 * numbers.next();
    let spread = [0.0, 8.0, 60.0, 320.0][(4.0 * numbers.next()) as usize];
    let by_point = numbers.next() < 0.5;
    let mut exponent = 0.0;
    let mut entry = |at: usize| {
        let (first, draw) = (at.is_multiple_of(FEATURES), numbers.next() - 0.5);
        if first || !by_point {
            exponent = middle + 2.0 * spread * draw;
        }
        // A point keeps one entry, so that there are as many as clusters are asked for.
        let zero = numbers.next() < 0.3 && at % FEATURES != at / FEATURES % FEATURES;
        if zero { 0.0 } else { ((1.0 + numbers.next()) * 10f64.powf(exponent)).min(f64::MAX) }
    };
    (0..POINTS * FEATURES).map(&mut entry).collect()
}

#[test]
fn floats_of_the_whole_range_are_clustered_or_refused() {
    let rounds = if slow() { 2000 } else { 30 };
    let mut clustered = 0;
    for round in 0..rounds {
        let x = any_floats(&mut Numbers(round));
        let kind = ["dense f64", "sparse f64", "dense f32", "sparse f32"][round as usize % 4];
        // A cluster of points that are all zero as float32 is none; what is not zero there is looked at as it is.
        let single = kind.contains("f32");
        let x: Vec<f64> = if single { x.iter().map(|&v| f64::from(v as f32)).collect() } else { x };
        let points = x.chunks_exact(FEATURES).filter(|point| point.iter().any(|v| *v > 0.0)).count();
        if points < K {
            continue;
        }
        every_method(&x, &[kind], None, &format!("round {round}"));
        let data = open_kind(kind, &x, FEATURES, None);
        let ask = ChooseK { most: K, runs: 2, divisions: 1, ..ChooseK::default() };
        match choose_k(&*data, &ask, &mut ()) {
            Ok(choice) => {
                clustered += 1;
                for level in &choice.levels {
                    let (error, bound) = (level.relative_error, level.lower_bound);
                    assert!((0.0..=1.0).contains(&error) && (0.0..=error).contains(&bound), "round {round}");
                }
            }
            Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
        }
        let ask = Advise { k: Some(K), runs: 2, divisions: 1, ..Advise::default() };
        if let Ok(advice) = advise(&*data, &ask, &mut ()) {
            assert!(advice.models.iter().all(|model| model.labels.len() == advice.points.len()), "{round}");
        }
    }
    assert!(clustered * 5 > rounds as usize, "only {clustered} of {rounds} were clustered");
}
