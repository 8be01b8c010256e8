//! A map of the points in the plane. Clusters are corners on a circle, neighbours alike; a point lies among them by its
//! scores, near its own corner where it is sure of it, on the way to another where it is not, and nearer to the centre the
//! more its direction leaves of it.

use std::f64::consts::TAU;

use crate::finish::Solution;
use crate::matrix::passes::Stood;

/// Points on the map, about.
const SHOWN: usize = 2500;
/// A cluster has so many of its points on it at least, where it has them.
const LEAST: usize = 30;
/// With more clusters than this there is no map.
const CORNERS: usize = 40;
/// How far towards the centre points of the largest error are drawn.
const INWARDS: f64 = 0.5;
/// How much the other scores of the point in the middle count beside its first, all of them together.
const OTHERS: f64 = 0.25;
/// Differences between errors that are no more than rounding move nobody.
const ROUNDING: f64 = 1e-9;

/// A point on the map, whose circle has radius 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// The point.
    pub point: usize,
    /// To the right.
    pub x: f64,
    /// Upwards.
    pub y: f64,
}

/// The corners of the clusters, and where the sampled points lie, cluster after cluster.
pub(super) fn places(shown: &[usize], stood: &Stood, solution: &Solution) -> (Vec<(f64, f64)>, Vec<Place>) {
    let k = solution.sizes.len();
    if shown.is_empty() {
        return (vec![], vec![]);
    }
    let corners = corners(solution);
    let power = contrast(&stood.scores, k);
    let misfit = |j: usize| f64::from(stood.points[j].misfit());
    let left = || shown.iter().map(|&j| misfit(j)).filter(|x| x.is_finite());
    let (least, most) = (left().fold(f64::INFINITY, f64::min), left().fold(0.0, f64::max));
    let place = |(&j, own): (&usize, &[f64])| {
        let first = own.iter().copied().fold(0.0, f64::max);
        let (mut x, mut y, mut all) = (0.0, 0.0, 0.0);
        for (score, corner) in own.iter().zip(&corners) {
            let weight = if first > 0.0 { (score / first).max(0.0).powf(power) } else { 1.0 };
            (x, y, all) = (x + weight * corner.0, y + weight * corner.1, all + weight);
        }
        // Between two corners there is only a line: upwards is what the direction leaves of a point.
        if k == 2 {
            return Place { point: j, x: x / all, y: misfit(j) };
        }
        let share = if most - least > ROUNDING { (misfit(j) - least) / (most - least) } else { 0.0 };
        let inwards = 1.0 - INWARDS * share;
        Place { point: j, x: inwards * x / all, y: inwards * y / all }
    };
    let mut places: Vec<Place> = shown.iter().zip(stood.scores.chunks_exact(k)).map(place).collect();
    if k == 2 {
        spread(&mut places);
    }
    places.retain(|place| place.x.is_finite() && place.y.is_finite());
    places.sort_by_key(|place| solution.labels[place.point]);
    (corners, places)
}

/// The corners of the clusters: the next on the circle is the one most like the last.
fn corners(solution: &Solution) -> Vec<(f64, f64)> {
    let (k, likeness) = (solution.sizes.len(), solution.directions.transpose_times(&solution.directions));
    let mut order = vec![0];
    while let Some(&last) = order.last() {
        let left = (0..k).filter(|i| !order.contains(i));
        match left.max_by(|&a, &b| likeness[(last, a)].total_cmp(&likeness[(last, b)]).then(b.cmp(&a))) {
            Some(next) => order.push(next),
            None => break,
        }
    }
    let mut corners = vec![(0.0, 0.0); k];
    for (place, &cluster) in order.iter().enumerate() {
        // Two lie beside each other; of more the first is on top.
        let turn = place as f64 / k as f64 + if k == 2 { 0.25 } else { 0.0 };
        corners[cluster] = ((TAU * turn).sin(), (TAU * turn).cos());
    }
    corners
}

/// The points that are shown, ascending: some of every cluster, evenly from all of it; none where there is no map.
pub(super) fn sample(solution: &Solution) -> Vec<usize> {
    if !(2..=CORNERS).contains(&solution.sizes.len()) {
        return vec![];
    }
    let step = solution.labels.len().div_ceil(SHOWN).max(1);
    let steps: Vec<usize> = solution.sizes.iter().map(|size| step.min(size / LEAST).max(1)).collect();
    let mut seen = vec![0usize; steps.len()];
    let mut shown = vec![];
    for (j, label) in solution.labels.iter().enumerate() {
        let Ok(i) = usize::try_from(*label) else { continue };
        if seen[i].is_multiple_of(steps[i]) {
            shown.push(j);
        }
        seen[i] += 1;
    }
    shown
}

/// The power of scores by which the other scores of the middle point count [`OTHERS`] of its first: spectra are alike, texts
/// are not, and both should fill the map.
fn contrast(scores: &[f64], k: usize) -> f64 {
    let others = |power: f64| {
        let of = |own: &[f64]| {
            let first = own.iter().copied().fold(0.0, f64::max);
            let all = own.iter().map(|score| (score / first).max(0.0).powf(power)).sum::<f64>();
            if first > 0.0 { all - 1.0 } else { k as f64 }
        };
        let mut all: Vec<f64> = scores.chunks_exact(k).map(of).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or(OTHERS)
    };
    // They count the less the higher the power.
    let (mut low, mut high) = (0.5, 2000.0);
    for _ in 0..20 {
        let middle = f64::sqrt(low * high);
        if others(middle) > OTHERS { low = middle } else { high = middle }
    }
    low
}

/// Heights from −1 to 1.
fn spread(places: &mut [Place]) {
    let known = || places.iter().map(|place| place.y).filter(|y| y.is_finite());
    let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(0.0, f64::max));
    for place in places {
        place.y = if high > low { 2.0 * (place.y - low) / (high - low) - 1.0 } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Findings;
    use crate::generate::{Generator, Synthetic};
    use crate::matrix::{Dense, Matrix, open};
    use crate::{Job, cluster};

    #[test]
    fn points_lie_nearest_to_the_corner_of_their_own_cluster() {
        for k in [2, 3, 5] {
            // Every point has mostly one feature, and a little of the others.
            let entry = |j: usize, f: usize| if j % k == f { 1.0 } else { 0.2 + 0.01 * (j * f % 7) as f64 };
            let entries: Vec<f64> = (0..60).flat_map(|j| (0..k).map(move |f| entry(j, f))).collect();
            let matrix = Matrix::DenseF64(Dense::new(60, k, entries).unwrap());
            let data = open(&matrix, None).unwrap();
            let outcome = cluster(&*data, &Job::new("best", k).unwrap(), &mut ()).unwrap();
            let findings = Findings::new(&*data, &outcome.solution).unwrap();
            let corners = &findings.corners;
            assert_eq!((corners.len(), findings.places.len()), (k, 60));
            for place in &findings.places {
                let far = |i: &usize| (corners[*i].0 - place.x).hypot(corners[*i].1 - place.y);
                let nearest = (0..k).min_by(|a, b| far(a).total_cmp(&far(b))).unwrap() as i32;
                assert_eq!(nearest, outcome.solution.labels[place.point], "{place:?}");
                assert!(place.x.abs() <= 1.0 + 1e-9 && place.y.abs() <= 1.0 + 1e-9);
            }
        }
    }

    #[test]
    fn points_that_share_little_with_their_clusters_fill_the_map_too() {
        // As texts do: a few words of their cluster's, and others of their own.
        let (k, words) = (6, 30);
        let entry = |j: usize, f: usize| match f / words {
            group if group == j % k => ((j + f) % 3) as f64,
            group if group == k => f64::from((j * 31 + f * 17).is_multiple_of(5)) * (1.0 + (j % 4) as f64),
            _ => f64::from((j * 7 + f * 13).is_multiple_of(23)),
        };
        let features = (k + 1) * words;
        let entries: Vec<f64> = (0..240).flat_map(|j| (0..features).map(move |f| entry(j, f))).collect();
        let matrix = Matrix::DenseF64(Dense::new(240, features, entries).unwrap());
        let data = open(&matrix, None).unwrap();
        let outcome = cluster(&*data, &Job::new("best", k).unwrap(), &mut ()).unwrap();
        let findings = Findings::new(&*data, &outcome.solution).unwrap();
        let mut far: Vec<f64> = findings.places.iter().map(|place| place.x.hypot(place.y)).collect();
        far.sort_by(f64::total_cmp);
        assert!(far[far.len() - 1] > 0.6 && far[far.len() / 2] > 0.4, "{:?}", far[far.len() / 2]);
    }

    #[test]
    fn small_clusters_keep_their_points_where_large_ones_are_thinned() {
        let mut labels = vec![0; 20_000];
        labels.extend([1; 20]);
        labels.push(-1);
        let made = Synthetic::default().generate().unwrap();
        let data = open(&made.matrix, None).unwrap();
        let outcome = cluster(&*data, &Job::new("em-onmf", 2).unwrap(), &mut ()).unwrap();
        let solution = Solution { labels, sizes: vec![20_000, 20], ..outcome.solution };
        let shown = sample(&solution);
        assert_eq!(shown.iter().filter(|&&j| j >= 20_000).count(), 20);
        assert!((2000..=2600).contains(&shown.len()), "{}", shown.len());
    }
}
