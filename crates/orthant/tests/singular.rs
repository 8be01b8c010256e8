//! The SVD start and the dominant vectors of clusters, against nalgebra's full decomposition.

use crate::common::*;
use nalgebra::DMatrix;
use orthant::matrix::Mat;
use orthant::singular::{right_vectors, top};

/// Checks σ, u, v of the k largest: orthonormal, ‖Mv − σu‖ and ‖Mᵀu − σv‖ small, σ as the full SVD has them.
fn check(kind: &str, x: &[f64], features: usize, k: usize, weights: Option<Vec<f64>>) {
    let points = x.len() / features;
    let data = open_kind(kind, x, features, weights.clone());
    let scale = data.facts().scale;
    let found = top(&*data, k).unwrap();
    let mut slots = data.slots().unwrap();
    let refined = right_vectors(&mut *slots, &found, k, &|| false).unwrap();
    let v = DMatrix::from_row_slice(points, k, &slots.numbers(orthant::matrix::Slot::V).unwrap());
    let u = DMatrix::from_row_slice(features, k, &refined.left.data);
    let root = |j: usize| weights.as_ref().map_or(1.0, |w| w[j].sqrt());
    let m = DMatrix::from_fn(features, points, |f, j| x[j * features + f] * scale * root(j));
    let mut expected: Vec<f64> = m.clone().svd(false, false).singular_values.iter().copied().collect();
    expected.sort_by(|a, b| b.total_cmp(a));
    expected.resize(k.max(expected.len()), 0.0);

    let what = format!("{kind} {points} x {features}, k = {k}");
    let vtv = v.transpose() * &v;
    assert!((vtv - DMatrix::identity(k, k)).amax() < 1e-12, "{what}: VVᵀ");
    for i in 0..k {
        let sigma = refined.values[i];
        assert!(
            (sigma - expected[i]).abs() < 1e-10 * expected[0],
            "{what}: σ{i} = {sigma}, not {}",
            expected[i]
        );
        assert!((found.values[i] - expected[i]).abs() < 1e-7 * expected[0], "{what}: first σ{i}");
        let right = (&m * v.column(i) - u.column(i) * sigma).norm();
        assert!(right <= 1e-10 * expected[0], "{what}: ‖Mv − σu‖ = {right} for {i}");
        if sigma > 1e-6 * expected[0] {
            let left = (m.transpose() * u.column(i) - v.column(i) * sigma).norm();
            assert!(left <= 1e-9 * expected[0], "{what}: ‖Mᵀu − σv‖ = {left} for {i}");
        }
    }
}

#[test]
fn the_largest_singular_vectors_are_those_of_a_full_decomposition() {
    for (points, features, k) in [(50, 8, 3), (30, 90, 5), (300, 150, 6), (200, 200, 10), (40, 300, 1)] {
        let x = clustered(points, features, 4, points as u64);
        for kind in ["dense f64", "sparse f64", "sparse f64, no transposed copy"] {
            check(kind, &x, features, k, None);
        }
        let weights = (0..points).map(|j| (j % 3) as f64 + 0.25).collect();
        check("dense f64", &x, features, k, Some(weights));
    }
}

#[test]
fn beyond_the_rank_v_is_completed() {
    // Rank 2 exactly, k = 5.
    let (points, features) = (40, 100);
    let mut numbers = Numbers(3);
    let base: Vec<f64> = (0..2 * features).map(|_| numbers.next()).collect();
    let x: Vec<f64> = (0..points)
        .flat_map(|j| {
            base[(j % 2) * features..(j % 2 + 1) * features]
                .iter()
                .map(move |b| b * (1.0 + j as f64))
                .collect::<Vec<_>>()
        })
        .collect();
    check("dense f64", &x, features, 5, None);
    check("sparse f64", &x, features, 5, None);
}

#[test]
fn equal_singular_values_are_all_found() {
    // Twelve disjoint blocks with the same singular value, and a larger one.
    let (points, features) = (130, 130);
    let mut x = vec![0.0; points * features];
    for j in 0..points {
        x[j * features + j] = if j < 10 { 0.1 } else { 1.0 };
        if j >= 10 && (j - 10) % 10 != 9 {
            x[j * features + j + 1] = 0.5;
        }
    }
    check("dense f64", &x, features, 12, None);
}

#[test]
fn the_swimmer_with_its_twelve_equal_singular_values_converges() {
    use orthant::generate::{Generator, Swimmer};
    let made = Swimmer::default().generate().unwrap();
    let x: Vec<f64> = (0..made.matrix.points()).flat_map(|j| made.matrix.point(j)).collect();
    check("dense f64", &x, made.matrix.features(), 17, None);
}

#[test]
fn dominant_vectors_of_clusters_are_those_of_their_submatrices() {
    let (points, features, k) = (80, 9, 4);
    let x = clustered(points, features, k, 12);
    let labels: Vec<i32> = (0..points).map(|j| if j % 29 == 17 { -1 } else { (j % k) as i32 }).collect();
    for kind in KINDS {
        let data = open_kind(kind, &x, features, None);
        let mut slots = data.slots().unwrap();
        slots.set_labels(0, &labels).unwrap();
        slots
            .set_labels(
                1,
                &labels.iter().map(|l| if *l < 0 { -1 } else { (l + 1) % k as i32 }).collect::<Vec<_>>(),
            )
            .unwrap();
        let found =
            orthant::singular::dominant(&*data, &mut *slots, &[0, 1], &Mat::zeros(features, 2 * k)).unwrap();
        let scale2 = data.facts().scale.powi(2);
        for i in 0..2 * k {
            let label = if i < k { i as i32 } else { ((i - k + k - 1) % k) as i32 };
            let members: Vec<usize> = (0..points).filter(|&j| labels[j] == label).collect();
            let expected = plain_sigma2(&x, features, &members) * scale2;
            let tolerance = if kind.contains("f32") { 1e-6 } else { 1e-12 };
            assert!(
                (found.sigma2[i] - expected).abs() < tolerance * expected,
                "{kind}: {} {expected}",
                found.sigma2[i]
            );
        }
    }
}
