//! The best partition of a few points, by looking at all of them: σ₁² of every subset once, then the best cover of every
//! set of points by k subsets from those by k − 1.

/// The largest eigenvalue of a small symmetric matrix, by Jacobi's rotations.
fn largest_eigenvalue(mut a: Vec<Vec<f64>>) -> f64 {
    let n = a.len();
    for _ in 0..60 {
        let trace: f64 = (0..n).map(|i| a[i][i].abs()).sum();
        let off: f64 = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j].abs()).sum();
        if off <= 1e-17 * trace {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q] == 0.0 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let t = if theta == 0.0 { 1.0 } else { t };
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for i in 0..n {
                    let (x, y) = (a[i][p], a[i][q]);
                    (a[i][p], a[i][q]) = (c * x - s * y, s * x + c * y);
                }
                for i in 0..n {
                    let (x, y) = (a[p][i], a[q][i]);
                    (a[p][i], a[q][i]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    (0..n).map(|i| a[i][i]).fold(0.0, f64::max)
}

/// The least `‖M − UV‖²/‖M‖²` that k clusters can have; points are rows, weights multiply squares.
pub fn least_error2(x: &[f64], features: usize, weights: Option<&[f64]>, k: usize) -> f64 {
    let n = x.len() / features;
    assert!(n <= 12, "all subsets of {n} points are too many");
    let root = |j: usize| weights.map_or(1.0, |w| w[j].sqrt());
    let points: Vec<Vec<f64>> =
        (0..n).map(|j| x[j * features..(j + 1) * features].iter().map(|v| v * root(j)).collect()).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let gram: Vec<Vec<f64>> = points.iter().map(|a| points.iter().map(|b| dot(a, b)).collect()).collect();
    let total: f64 = (0..n).map(|j| gram[j][j]).sum();
    if total == 0.0 {
        return 0.0;
    }
    let all = 1usize << n;
    let sigma2: Vec<f64> = (0..all)
        .map(|set| {
            let members: Vec<usize> = (0..n).filter(|j| set >> j & 1 == 1).collect();
            if members.len() <= features {
                largest_eigenvalue(
                    members.iter().map(|&i| members.iter().map(|&j| gram[i][j]).collect()).collect(),
                )
            } else {
                let scatter = |f: usize, g: usize| members.iter().map(|&j| points[j][f] * points[j][g]).sum();
                let row = |f: usize| (0..features).map(|g| scatter(f, g)).collect();
                largest_eigenvalue((0..features).map(row).collect())
            }
        })
        .collect();
    // One more cluster at a time; the subset that holds the first point of a set is the one chosen.
    let mut best = sigma2.clone();
    for _ in 1..k {
        let before = best.clone();
        for set in 1..all {
            let first = set & set.wrapping_neg();
            let rest = set ^ first;
            let mut part = rest;
            loop {
                best[set] = best[set].max(sigma2[part | first] + before[rest ^ part]);
                if part == 0 {
                    break;
                }
                part = (part - 1) & rest;
            }
        }
    }
    (1.0 - best[all - 1] / total).max(0.0)
}
