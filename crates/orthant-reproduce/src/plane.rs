//! Figure 1: k-means, spherical k-means and ONMF on two clusters in the plane.

use anyhow::Result;
use orthant::generate::{Example, Generated, Generator, Plane};
use orthant::matrix::open;
use orthant::report::chart::{Axis, Line, Lines, Marker, Series, file, lines};
use orthant::{Job, cluster};

use crate::estimate::{Estimate, all, everywhere};
use crate::lab::Lab;
use crate::plan::Plan;
use crate::protocol::RUNS;
use crate::shown::{Claim, Shown, csv};

type Point = (f64, f64);

/// Nothing that would have to be kept: it takes milliseconds.
pub fn plan(_lab: &Lab, _plan: &mut Plan) -> Result<()> {
    Ok(())
}

/// What the three models make of an example.
struct Solved {
    points: Vec<Point>,
    /// Clusters by ONMF.
    labels: Vec<i32>,
    /// Accuracy of k-means, spherical k-means, ONMF.
    accuracy: [f64; 3],
    centroids: Vec<Point>,
    /// Angles of the directions of spherical k-means and of ONMF.
    spherical: Vec<f64>,
    onmf: Vec<f64>,
}

impl Solved {
    fn opening(angles: &[f64]) -> f64 {
        (angles[0] - angles[1]).abs().to_degrees()
    }
}

/// How often the points are drawn for what is said of them; the picture shows the first draw.
const DRAWS: u64 = 20;
/// Accuracies that differ by less are similar.
const SIMILAR: f64 = 0.02;

fn draws(lab: &Lab, example: Example) -> Result<Vec<Solved>> {
    (0..DRAWS).map(|draw| solve(example, lab.protocol.seed.wrapping_add(draw))).collect()
}

fn solve(example: Example, seed: u64) -> Result<Solved> {
    let made = Plane { example, seed, ..Plane::default() }.generate()?;
    let points: Vec<Point> =
        (0..made.matrix.points()).map(|j| made.matrix.point(j)).map(|p| (p[0], p[1])).collect();
    let (k_means, a) = best(seed, "k-means", &made)?;
    let (spherical, b) = best(seed, "spherical-k-means", &made)?;
    let (onmf, c) = best(seed, "em-onmf", &made)?;
    // Means of the points; means of the normalised points; dominant axes.
    let mean = |labels: &[i32], scale: fn(Point) -> f64| {
        sums(&points, labels, |p| vec![scale(p) * p.0, scale(p) * p.1, 1.0])
    };
    let centroids = mean(&k_means, |_| 1.0).iter().map(|s| (s[0] / s[2], s[1] / s[2])).collect();
    let directions = mean(&spherical, |p| 1.0 / p.0.hypot(p.1).max(f64::MIN_POSITIVE));
    let axes = sums(&points, &onmf, |p| vec![p.0 * p.0, p.0 * p.1, p.1 * p.1]);
    Ok(Solved {
        labels: onmf,
        accuracy: [a, b, c],
        centroids,
        spherical: directions.iter().map(|s| s[1].atan2(s[0])).collect(),
        // The major axis of [[a, b], [b, c]] stands at the angle ½ atan2(2b, a − c).
        onmf: axes.iter().map(|s| 0.5 * f64::atan2(2.0 * s[1], s[0] - s[2])).collect(),
        points,
    })
}

/// Labels of the best of the random starts, and their accuracy.
fn best(seed: u64, method: &str, made: &Generated) -> Result<(Vec<i32>, f64)> {
    let data = open(&made.matrix, None)?;
    let job = Job { runs: RUNS, seed, ..Job::new(method, 2)? };
    let labels = cluster(&*data, &job, &mut ())?.solution.labels;
    let accuracy = orthant::evaluate::scores(&labels, &made.truth)?.accuracy;
    Ok((labels, accuracy))
}

/// Sums over the points of each of the two clusters.
fn sums(points: &[Point], labels: &[i32], of: impl Fn(Point) -> Vec<f64>) -> Vec<Vec<f64>> {
    let mut sums = vec![vec![0.0; 3]; 2];
    for (p, label) in points.iter().zip(labels) {
        if let Some(sum) = usize::try_from(*label).ok().and_then(|l| sums.get_mut(l)) {
            sum.iter_mut().zip(of(*p)).for_each(|(s, x)| *s += x);
        }
    }
    sums
}

/// Diamonds, lines, dashed lines, circles and squares, as the paper's caption has them.
fn chart(title: &str, solved: &Solved) -> Lines {
    let far = solved.points.iter().map(|p| p.0.hypot(p.1)).fold(0.0, f64::max);
    let cluster = |label: i32| -> Vec<Point> {
        solved.points.iter().zip(&solved.labels).filter(|(_, l)| **l == label).map(|(p, _)| *p).collect()
    };
    let mut series = vec![];
    for (label, marker, name) in
        [(0, Marker::Circle, "cluster 1 by ONMF"), (1, Marker::Square, "cluster 2 by ONMF")]
    {
        let (colour, line) = (Some(label as usize * 4), Line::None);
        series.push(Series {
            name: name.into(),
            points: cluster(label),
            colour,
            line,
            marker,
            ..Series::default()
        });
    }
    for (angles, line, name) in [
        (&solved.spherical, Line::Solid, "direction of spherical k-means"),
        (&solved.onmf, Line::Dashed, "direction of ONMF"),
    ] {
        for (i, angle) in angles.iter().enumerate() {
            series.push(Series {
                name: if i == 0 { name.into() } else { String::new() },
                points: vec![(0.0, 0.0), (far * angle.cos(), far * angle.sin())],
                line,
                ..Series::default()
            });
        }
    }
    series.push(Series {
        name: "centroid of k-means".into(),
        points: solved.centroids.clone(),
        colour: Some(3),
        line: Line::None,
        marker: Marker::Diamond,
        ..Series::default()
    });
    Lines {
        title: title.into(),
        x: Axis::new("first feature"),
        y: Axis::new("second feature"),
        series,
        equal: true,
        ..Lines::default()
    }
}

/// The figure.
pub fn show(lab: &Lab) -> Result<Shown> {
    let (separated, in_line) = (draws(lab, Example::Separated)?, draws(lab, Example::InLine)?);
    let (mut html, mut files, mut rows) = (String::from("<div class=\"pair\">"), vec![], vec![]);
    for (letter, name, solved) in
        [("a", "Well-separated clusters", &separated[0]), ("b", "In-line clusters", &in_line[0])]
    {
        let chart = chart(&format!("({letter}) {name}"), solved);
        html += &format!(
            "<figure class=\"panel\">{}<figcaption>({letter}) {name}. Directions of spherical k-means are {:.1}° apart, \
             of ONMF {:.1}°.</figcaption></figure>",
            lines(&chart),
            Solved::opening(&solved.spherical),
            Solved::opening(&solved.onmf)
        );
        files.push((format!("figure1{letter}.svg"), file(&chart).into_bytes()));
        for (p, label) in solved.points.iter().zip(&solved.labels) {
            rows.push(vec![letter.to_string(), p.0.to_string(), p.1.to_string(), label.to_string()]);
        }
    }
    files.push(("figure1.csv".into(), csv("example,x,y,cluster_by_onmf", rows)));
    html += "</div><p class=\"note\">The paper gives the pictures, not the points: these were drawn to show what it \
             describes. Lines: directions of spherical k-means; dashed: of ONMF; diamonds: centroids of k-means.</p>";
    let over = |draws: &[Solved], value: &dyn Fn(&Solved) -> f64| {
        Estimate::of(&draws.iter().map(value).collect::<Vec<_>>())
    };
    let means = |draws: &[Solved]| {
        [0, 1, 2].map(|i| format!("{:.1}", 100.0 * over(draws, &|s| s.accuracy[i]).value)).join(", ")
    };
    let apart = |i: usize, j: usize| over(&separated, &|s| s.accuracy[i] - s.accuracy[j]);
    let lead = over(&in_line, &|s| s.accuracy[0] - s.accuracy[1].max(s.accuracy[2]));
    let opening = over(&in_line, &|s| Solved::opening(&s.spherical) - Solved::opening(&s.onmf));
    Ok(Shown {
        heading: "Figure 1: two clusters in the plane".into(),
        html,
        files,
        claims: vec![
            Claim {
                place: "Figure 1 (a)",
                claim: "Where clusters are well separated the three models perform similarly (within 2 percent points).",
                verdict: all([apart(0, 1), apart(0, 2), apart(1, 2)].map(|d| d.within(SIMILAR))),
                evidence: format!(
                    "Mean accuracy of k-means, spherical k-means, ONMF over {DRAWS} draws in percent: {}.",
                    means(&separated)
                ),
            },
            Claim {
                place: "Figure 1 (b)",
                claim: "In line, k-means alone separates them; directions of spherical k-means are further apart than \
                        those of ONMF.",
                verdict: everywhere(&[lead.side(), opening.side()]),
                evidence: format!(
                    "By {:.1}° ± {:.1}°; mean accuracy over {DRAWS} draws {} percent.",
                    opening.value,
                    opening.error,
                    means(&in_line)
                ),
            },
        ],
        ..Shown::default()
    })
}
