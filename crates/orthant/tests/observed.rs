//! Missing entries have no say: what is known of the others decides.

use crate::common::*;
use orthant::matrix::{Csr, Dense, Matrix};
use orthant::observed::{Gaps, Observed, cluster_observed};
use orthant::pipeline::Job;

const FEATURES: usize = 12;
const K: usize = 3;

/// Points on three rays, the numbers of the clusters, and which entries nobody saw.
fn rays(count: usize, share: f64, seed: u64) -> (Vec<f64>, Vec<usize>, Vec<bool>) {
    let mut numbers = Numbers(seed);
    let rays: Vec<f64> = (0..K * FEATURES).map(|_| 0.2 + numbers.next()).collect();
    let (mut x, mut truth, mut seen) = (vec![], vec![], vec![]);
    for j in 0..count {
        let (cluster, strength) = (j % K, 0.5 + numbers.next());
        truth.push(cluster);
        for f in 0..FEATURES {
            x.push(strength * rays[cluster * FEATURES + f]);
            // Something of every point is seen.
            seen.push(f < 3 || numbers.next() >= share);
        }
    }
    (x, truth, seen)
}

fn with_gaps(x: &[f64], seen: &[bool]) -> Vec<f64> {
    x.iter().zip(seen).map(|(&x, &seen)| if seen { x } else { f64::NAN }).collect()
}

fn matrix(kind: &str, x: &[f64]) -> Matrix {
    let count = x.len() / FEATURES;
    match kind {
        "dense f64" => Matrix::DenseF64(Dense::new(count, FEATURES, x.to_vec()).unwrap()),
        "dense f32" => {
            let single: Vec<f32> = x.iter().map(|&x| x as f32).collect();
            Matrix::DenseF32(Dense::new(count, FEATURES, single).unwrap())
        }
        _ => {
            let offsets = (0..=count).map(|j| j * FEATURES).collect::<Vec<_>>();
            let columns = (0..x.len()).map(|e| (e % FEATURES) as i32).collect::<Vec<_>>();
            Matrix::SparseF64(Csr::new(FEATURES, offsets, columns, x.to_vec()).unwrap())
        }
    }
}

fn cluster(points: &mut Matrix, weights: Option<&[f64]>, name: &str) -> Observed {
    let gaps = Gaps::of(points).unwrap().expect("there are gaps");
    // One random start may end anywhere.
    let job = Job { runs: 10, ..Job::new(name, K).unwrap() };
    cluster_observed(points, &gaps, weights, &job, None, &mut ()).unwrap()
}

#[test]
fn what_was_observed_of_rays_tells_the_rest() {
    let (x, truth, seen) = rays(90, 0.4, 3);
    let weights: Vec<f64> = (0..90).map(|j| 0.5 + (j % 4) as f64).collect();
    for kind in ["dense f64", "dense f32", "sparse f64"] {
        for name in ["best", "em-onmf", "onp-mf", "spherical-k-means"] {
            for weights in [None, Some(&weights[..])] {
                let mut points = matrix(kind, &with_gaps(&x, &seen));
                let found = cluster(&mut points, weights, name);
                let what = format!("{name} on {kind}, weights: {}", weights.is_some());
                let scores = orthant::evaluate::scores(&found.outcome.solution.labels, &truth).unwrap();
                assert!(scores.accuracy == 1.0, "{what}: {}", scores.accuracy);
                assert!(found.relative_error < 1e-4, "{what}: {}", found.relative_error);
                // What nobody saw is found too.
                for j in 0..90 {
                    for (f, filled) in points.point(j).into_iter().enumerate() {
                        let real = x[j * FEATURES + f];
                        assert!((filled - real).abs() < 2e-3 * real, "{what}: {filled} for {real}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_error_is_that_of_the_observed_entries_and_below_that_of_zeros() {
    let (x, _, seen) = rays(120, 0.3, 8);
    let mut numbers = Numbers(4);
    let noisy: Vec<f64> = x.iter().map(|x| x * (0.7 + 0.6 * numbers.next())).collect();
    let weights: Vec<f64> = (0..120).map(|j| 0.5 + (j % 3) as f64).collect();
    for name in ["best", "em-onmf", "k-means", "kl-onmf", "best-kl-onmf", "chnmf"] {
        let mut points = matrix("dense f64", &with_gaps(&noisy, &seen));
        let found = cluster(&mut points, Some(&weights), name);
        let error = |labels: &[i32], u: &dyn Fn(usize, usize) -> f64, v: &[f64]| {
            let (mut left, mut all) = (0.0, 0.0);
            for (e, &m) in noisy.iter().enumerate().filter(|(e, _)| seen[*e]) {
                let (j, f) = (e / FEATURES, e % FEATURES);
                left += weights[j] * (m - u(f, labels[j] as usize) * v[j]).powi(2);
                all += weights[j] * m * m;
            }
            f64::sqrt(left / all)
        };
        let solution = &found.outcome.solution;
        let plain = error(&solution.labels, &|f, i| solution.u[(f, i)], &solution.v);
        assert!((plain - found.relative_error).abs() < 1e-9, "{name}: {plain} and {}", found.relative_error);
        // Zeros in the places of what was not seen draw the model towards them.
        let zeros: Vec<f64> = noisy.iter().zip(&seen).map(|(&x, &seen)| if seen { x } else { 0.0 }).collect();
        let data = open_kind("dense f64", &zeros, FEATURES, Some(weights.clone()));
        let solution = run(&*data, &Job::new(name, K).unwrap()).solution;
        let of_zeros = error(&solution.labels, &|f, i| solution.u[(f, i)], &solution.v);
        assert!(plain < of_zeros, "{name}: {plain}, with zeros {of_zeros}");
    }
}

#[test]
fn k_means_and_kl_find_groups_by_what_was_observed() {
    let (x, truth, seen) = rays(90, 0.3, 5);
    // Points of one length, so that their centres are apart too.
    let unit: Vec<f64> = x
        .chunks_exact(FEATURES)
        .flat_map(|p| {
            let total: f64 = p.iter().sum();
            p.iter().map(move |x| 100.0 * x / total).collect::<Vec<_>>()
        })
        .collect();
    for name in ["k-means", "best-k-means", "kl-onmf", "best-kl-onmf"] {
        let found = cluster(&mut matrix("dense f64", &with_gaps(&unit, &seen)), None, name);
        let scores = orthant::evaluate::scores(&found.outcome.solution.labels, &truth).unwrap();
        assert!(scores.accuracy == 1.0, "{name}: {}", scores.accuracy);
    }
}

#[test]
fn a_point_of_which_nothing_is_known_is_refused_with_its_row() {
    let mut x = vec![1.0; 4 * FEATURES];
    x[2 * FEATURES..3 * FEATURES].fill(f64::NAN);
    let refusal = Gaps::of(&matrix("dense f64", &x)).unwrap_err().to_string();
    assert!(refusal.contains("row 2") && refusal.contains("leave such rows out"), "{refusal}");
    assert!(Gaps::of(&matrix("sparse f64", &[1.0; 2 * FEATURES])).unwrap().is_none());
}
