//! What a solution says of clusters and points that the factors do not hold ready: a cluster's features and typical
//! points, how sure each point is of its cluster, and where it would go otherwise. Reports, summaries and lists of
//! labels are made of it, and look at no data.

mod places;
mod scene;

use std::collections::HashMap;

pub use places::Place;
pub use scene::Scene;

use crate::error::{Error, Result};
use crate::finish::Solution;
use crate::image::ImageShape;
pub use crate::matrix::passes::Standing;
use crate::matrix::passes::{Standings, SumOfLabels};
use crate::matrix::{Data, Facts, Mat, Shape, rule};

/// Features listed of each cluster.
const TOP: usize = 12;
/// Features listed that set a cluster apart.
const MARKERS: usize = 12;
/// Typical points of each cluster.
const TYPICAL: usize = 5;
/// Of how many of its strongest points the typical ones are chosen.
const STRONGEST: usize = 200;
/// What is kept of values before some are dropped, beyond those that are wanted.
const ROOM: usize = 1000;
/// Least certain points.
const UNCERTAIN: usize = 12;
/// Clusters that are shown one by one.
const SHOWN_CLUSTERS: usize = 60;

/// A cluster's features and points.
#[derive(Debug, Clone, Default)]
pub struct Cluster {
    /// The largest entries of its direction.
    pub top: Vec<(usize, f64)>,
    /// What it has and the others have not, the most telling first.
    pub markers: Vec<Marker>,
    /// Points and their cosine with the direction.
    pub typical: Vec<(usize, f64)>,
}

/// A feature that sets a cluster apart. Every point counts the same, whatever its norm: the profile of a set of points
/// is the sum of `m/‖m‖` over them, divided by its own sum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Marker {
    /// Which feature.
    pub feature: usize,
    /// Its share p of the cluster's profile.
    pub share: f64,
    /// Its share q of the profile of all other points.
    pub elsewhere: f64,
    /// `p·ln(p/q)`, what it adds to the divergence of the two profiles; q is no smaller than a thousandth of p, so
    /// that features of hardly any point do not come first.
    pub score: f64,
}

/// A point between two clusters.
#[derive(Debug, Clone, Copy)]
pub struct Uncertain {
    /// The point.
    pub point: usize,
    /// Its cluster.
    pub own: usize,
    /// The best of the others.
    pub other: usize,
    /// By how much it prefers its own.
    pub margin: f64,
}

/// All of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Findings {
    /// The shape of the data.
    pub shape: Shape,
    /// What one look at the data told.
    pub facts: Facts,
    /// The first clusters.
    pub clusters: Vec<Cluster>,
    /// Of every point: by how much its cluster leads, which one comes next, what is left of it.
    pub standings: Vec<Standing>,
    /// The least certain points, the least certain first.
    pub uncertain: Vec<Uncertain>,
    /// The corners of the clusters on a map, a circle of radius 1 around 0; none where there are too few or too many.
    pub corners: Vec<(f64, f64)>,
    /// Where some of the points lie on it.
    pub places: Vec<Place>,
    /// Share of every feature in the profile of each cluster (see [`Marker`]), features × k.
    pub profiles: Mat,
    /// Cosines of the clusters' directions, k × k.
    pub cosines: Mat,
    /// What a scene looks like, where the points are its pixels.
    pub scene: Option<Scene>,
    /// Entries of the typical points, where they are wanted.
    points: HashMap<usize, Vec<f64>>,
}

impl Findings {
    /// Of a solution for these data: two passes over them.
    pub fn new(data: &dyn Data, solution: &Solution) -> Result<Findings> {
        let (labels, points) = (solution.labels.len(), data.shape().points);
        if labels != points {
            return Err(Error::Data(format!(
                "the solution has {labels} labels, the data have {points} points"
            )));
        }
        let shown = solution.sizes.len().min(SHOWN_CLUSTERS);
        let sums = profiles(data, &solution.labels, solution.sizes.len())?;
        let totals = totals(&sums);
        let on_map = places::sample(solution);
        let mut slots = data.slots()?;
        slots.set_labels(0, &solution.labels)?;
        let stood = slots.tell(&Standings::new(&solution.directions, 0, on_map.clone()))?;
        let (corners, places) = places::places(&on_map, &stood, solution);
        let cluster = |i: usize| Cluster {
            top: top(&solution.directions, i),
            markers: markers(&sums, &totals, i),
            typical: typical(&stood.points, solution, i),
        };
        let clusters = (0..shown).map(cluster).collect();
        Ok(Findings {
            shape: data.shape(),
            facts: data.facts().clone(),
            clusters,
            uncertain: uncertain(&stood.points, solution),
            corners,
            places,
            standings: stood.points,
            profiles: shares(sums, &totals),
            cosines: solution.directions.gram(),
            scene: None,
            points: HashMap::new(),
        })
    }

    /// With what the scene looks like whose pixels the points are, and whose bands the features: a pass, and a look at
    /// some of the pixels.
    pub fn with_scene(
        mut self,
        data: &dyn Data,
        image: ImageShape,
        wavelengths: Option<&[f64]>,
    ) -> Result<Findings> {
        image.check(self.shape.points)?;
        self.scene = Some(Scene::of(data, image, wavelengths)?);
        Ok(self)
    }

    /// With the entries of typical points, for data whose points are pictures that can be shown.
    pub fn with_points(mut self, data: &dyn Data) -> Result<Findings> {
        for &(point, _) in self.clusters.iter().flat_map(|cluster| &cluster.typical) {
            self.points.insert(point, data.gather(&[point])?.data);
        }
        Ok(self)
    }

    /// The entries of a point, where they are known.
    pub fn point(&self, point: usize) -> Option<&[f64]> {
        self.points.get(&point).map(Vec::as_slice)
    }
}

/// The `most` largest of some (index, value), largest first. There may be as many as points: what cannot be among them is
/// dropped on the way.
fn largest(values: impl Iterator<Item = (usize, f64)>, most: usize) -> Vec<(usize, f64)> {
    let by_value = |a: &(usize, f64), b: &(usize, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    let drop_the_rest = |kept: &mut Vec<(usize, f64)>| {
        if kept.len() > most {
            kept.select_nth_unstable_by(most, by_value);
            kept.truncate(most);
        }
    };
    let mut kept = vec![];
    for value in values.filter(|x| x.1 > 0.0) {
        kept.push(value);
        if kept.len() >= 2 * most + ROOM {
            drop_the_rest(&mut kept);
        }
    }
    drop_the_rest(&mut kept);
    kept.sort_by(by_value);
    kept
}

fn top(directions: &Mat, i: usize) -> Vec<(usize, f64)> {
    largest((0..directions.rows).map(|f| (f, directions[(f, i)])), TOP)
}

/// What sets the clusters of any labels apart: a pass over the data.
pub fn distinctive(data: &dyn Data, labels: &[i32], k: usize) -> Result<Vec<Vec<Marker>>> {
    let sums = profiles(data, labels, k)?;
    let totals = totals(&sums);
    Ok((0..k).map(|i| markers(&sums, &totals, i)).collect())
}

/// What the points of each cluster sum up to, every point of norm 1: features × k. Negative sums are none.
fn profiles(data: &dyn Data, labels: &[i32], k: usize) -> Result<Mat> {
    let mut slots = data.slots()?;
    slots.set_labels(0, labels)?;
    let pass = SumOfLabels { k, rule: rule::Cosine.into(), run: 0 };
    Ok(slots.sweep(&pass)?.1.map(|x| x.max(0.0)))
}

/// What the features of each cluster sum up to.
fn totals(profiles: &Mat) -> Vec<f64> {
    let mut totals = vec![0.0; profiles.cols];
    for feature in 0..profiles.rows {
        totals.iter_mut().zip(profiles.row(feature)).for_each(|(total, x)| *total += x);
    }
    totals
}

/// What sets cluster i apart from all the others taken together.
fn markers(profiles: &Mat, totals: &[f64], i: usize) -> Vec<Marker> {
    let (own, others) = (totals[i], totals.iter().sum::<f64>() - totals[i]);
    let of = |feature: usize| {
        let sum: f64 = profiles.row(feature).iter().enumerate().filter(|(c, _)| *c != i).map(|x| x.1).sum();
        let share = profiles[(feature, i)] / own;
        let elsewhere = if others > 0.0 { sum / others } else { 0.0 };
        let score = share * (share / elsewhere.max(share / 1000.0)).ln();
        Marker { feature, share, elsewhere, score }
    };
    // Most clusters lack most words, and what they lack sets them apart by nothing.
    let had = (0..profiles.rows).filter(|&feature| own > 0.0 && profiles[(feature, i)] > 0.0);
    largest(had.map(|feature| (feature, of(feature).score)), MARKERS)
        .into_iter()
        .map(|(feature, _)| of(feature))
        .collect()
}

/// Of a cluster's strongest points those that are nearest to its direction.
fn typical(standings: &[Standing], solution: &Solution, i: usize) -> Vec<(usize, f64)> {
    let members = solution.labels.iter().zip(&solution.v).enumerate();
    let members = members.filter(|(_, (label, _))| **label == i as i32).map(|(j, (_, v))| (j, *v));
    let strongest = largest(members, STRONGEST);
    largest(strongest.into_iter().map(|(j, _)| (j, standings[j].cosine())), TYPICAL)
}

/// Every column divided by its sum.
fn shares(mut sums: Mat, totals: &[f64]) -> Mat {
    let factors: Vec<f64> = totals.iter().map(|&total| if total > 0.0 { 1.0 / total } else { 0.0 }).collect();
    sums.scale_columns(&factors);
    sums
}

fn uncertain(standings: &[Standing], solution: &Solution) -> Vec<Uncertain> {
    let mut close: Vec<Uncertain> = vec![];
    for (point, (&label, of)) in solution.labels.iter().zip(standings).enumerate() {
        let (Ok(own), Some(other)) = (usize::try_from(label), of.second()) else { continue };
        let margin = f64::from(of.margin());
        let closer = close.last().is_none_or(|last| margin < last.margin);
        if !margin.is_nan() && (close.len() < UNCERTAIN || closer) {
            let at = close.partition_point(|u| u.margin <= margin);
            close.insert(at, Uncertain { point, own, other, margin });
            close.truncate(UNCERTAIN);
        }
    }
    close
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Dense, Matrix, open};
    use crate::{Job, cluster};

    #[test]
    fn the_largest_come_first_and_zeros_never() {
        let values = [0.0, 3.0, 1.0, 3.0, 2.0, -1.0, f64::NAN];
        assert_eq!(largest(values.into_iter().enumerate(), 3), [(1, 3.0), (3, 3.0), (4, 2.0)]);
        assert_eq!(largest(values.into_iter().enumerate(), 9).len(), 4);
        let many: Vec<(usize, f64)> = (0..10_000).map(|i| (i, ((i * 7919) % 10_007) as f64)).collect();
        let mut sorted = many.clone();
        sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
        assert_eq!(largest(many.into_iter(), 50), sorted[..50]);
    }

    /// Feature 0 is large everywhere, 1 and 2 each in one half only.
    fn halves() -> Matrix {
        let point = |j: usize| if j < 3 { [9.0, 4.0, 0.0] } else { [9.0, 0.0, 4.0] };
        let points = (0..6).flat_map(|j| point(j).map(|x| x * (j + 1) as f64)).collect::<Vec<f64>>();
        Matrix::DenseF64(Dense::new(6, 3, points).unwrap())
    }

    #[test]
    fn markers_are_what_a_cluster_has_and_the_others_have_not() {
        let matrix = halves();
        let data = open(&matrix, None).unwrap();
        let outcome = cluster(&*data, &Job::new("em-onmf", 2).unwrap(), &mut ()).unwrap();
        let findings = Findings::new(&*data, &outcome.solution).unwrap();
        for (i, cluster) in findings.clusters.iter().enumerate() {
            let first = outcome.solution.labels.iter().position(|&label| label == i as i32).unwrap();
            let own = if first < 3 { 1 } else { 2 };
            assert_eq!(cluster.top[0].0, 0, "the largest entry is what all have");
            assert_eq!(cluster.markers[0].feature, own);
            let Marker { share, elsewhere, score, .. } = cluster.markers[0];
            // Points of whatever norm count alike: 4 of 13.
            assert!((share - 4.0 / 13.0).abs() < 1e-12 && elsewhere == 0.0, "{share} {elsewhere}");
            assert!((score - share * 1000f64.ln()).abs() < 1e-12);
            assert!(cluster.markers.iter().all(|marker| marker.feature == own), "{:?}", cluster.markers);
        }
    }

    #[test]
    fn margins_are_those_of_the_scores() {
        let matrix = halves();
        let data = open(&matrix, None).unwrap();
        let outcome = cluster(&*data, &Job::new("em-onmf", 2).unwrap(), &mut ()).unwrap();
        let solution = &outcome.solution;
        for (j, of) in Findings::new(&*data, solution).unwrap().standings.iter().enumerate() {
            let score =
                |i: usize| (0..3).map(|f| matrix.point(j)[f] * solution.directions[(f, i)]).sum::<f64>();
            let own = solution.labels[j] as usize;
            assert_eq!(of.second(), Some(1 - own));
            let expected = (score(own) - score(1 - own)) / score(own);
            assert!((f64::from(of.margin()) - expected).abs() < 1e-6, "{} {expected}", of.margin());
        }
        let one = cluster(&*data, &Job::new("em-onmf", 1).unwrap(), &mut ()).unwrap();
        let alone = Findings::new(&*data, &one.solution).unwrap().standings;
        assert!(alone.iter().all(|of| of.second().is_none() && of.margin().is_nan()));
    }
}
