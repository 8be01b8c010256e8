//! `advise` on data that the project's own generators did not make: other directions, laws of the norms, shapes of the
//! noise, and ways to stay nonnegative. 20 seeds with ORTHANT_SLOW=1.

use crate::common::{Numbers, how_many};
use orthant::advise::{Advice, Advise, Model, advise};
use orthant::evaluate::{Confusion, ari};
use orthant::matrix::{Dense, Matrix, open};

/// How a point is made of its cluster's direction u and length l.
#[derive(Debug, Clone, Copy)]
enum Law {
    /// `lu + σε`: round clouds, some of them in line.
    Cloud,
    /// `s(u + σε)`, s at random.
    Cone,
    /// `su + σε`, s at random.
    Tube,
    /// `u + σε` with a tiny σ.
    Spot,
}

#[derive(Debug, Clone, Copy)]
struct Shape {
    points: usize,
    features: usize,
    clusters: usize,
    noise: f64,
    /// Strengths: uniform, lognormal or exponential.
    strengths: usize,
    /// Uniform noise instead of normal, reflected at 0 instead of clipped.
    other: bool,
}

fn normal(numbers: &mut Numbers) -> f64 {
    (-2.0 * (1.0 - numbers.next()).ln()).sqrt() * (std::f64::consts::TAU * numbers.next()).cos()
}

fn unit(x: Vec<f64>) -> Vec<f64> {
    let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    x.into_iter().map(|x| x / norm).collect()
}

/// Directions of half-normal entries, the next one far enough from all others.
fn directions(count: usize, features: usize, numbers: &mut Numbers) -> Vec<Vec<f64>> {
    let mut found: Vec<Vec<f64>> = vec![];
    let mut apart = 0.9;
    while found.len() < count {
        let u = unit((0..features).map(|_| normal(numbers).abs()).collect());
        let near = |v: &Vec<f64>| u.iter().zip(v).map(|(a, b)| a * b).sum::<f64>() > apart;
        if !found.iter().any(near) {
            found.push(u);
        }
        // The plane has room for few.
        apart += (1.0 - apart) * 0.01;
    }
    found
}

/// The points and the cluster of each.
fn make(law: Law, shape: Shape, seed: u64) -> (Matrix, Vec<usize>) {
    let numbers = &mut Numbers(1000 + seed);
    let Shape { points, features, clusters, .. } = shape;
    // The last cloud is behind the first.
    let mut centres = directions(clusters, features, numbers);
    if matches!(law, Law::Cloud) {
        for centre in &mut centres {
            let length = 0.7 + 0.6 * numbers.next();
            centre.iter_mut().for_each(|x| *x *= length);
        }
        centres[clusters - 1] = centres[0].iter().map(|x| 2.5 * x).collect();
    }
    let mut data = vec![];
    for j in 0..points {
        let strength = match shape.strengths {
            0 => 0.2 + 1.8 * numbers.next(),
            1 => (0.7 * normal(numbers)).exp(),
            _ => 0.15 - (1.0 - numbers.next()).ln(),
        };
        let (along, noise) = match law {
            Law::Cloud => (1.0, shape.noise),
            Law::Cone => (strength, strength * shape.noise),
            Law::Tube => (strength, shape.noise),
            Law::Spot => (1.0, 0.01),
        };
        for u in &centres[j % clusters] {
            let draw = if shape.other { 12f64.sqrt() * (numbers.next() - 0.5) } else { normal(numbers) };
            let x = along * u + noise * draw;
            data.push(if shape.other { x.abs() } else { x.max(0.0) });
        }
    }
    let truth = (0..points).map(|j| j % clusters).collect();
    (Matrix::DenseF64(Dense::new(points, features, data).unwrap()), truth)
}

fn shape([points, features, clusters]: [usize; 3], noise: f64, strengths: usize, other: bool) -> Shape {
    Shape { points, features, clusters, noise, strengths, other }
}

/// The law of a maker with the model it makes data for.
const LAWS: [(Law, Option<Model>); 4] = [
    (Law::Cloud, Some(Model::KMeans)),
    (Law::Cone, Some(Model::SphericalKMeans)),
    (Law::Tube, Some(Model::Onmf)),
    (Law::Spot, None),
];

fn ask(matrix: &Matrix, k: usize) -> Advice {
    let data = open(matrix, None).unwrap();
    advise(&*data, &Advise { k: Some(k), divisions: 2, runs: 6, ..Advise::default() }, &mut ()).unwrap()
}

#[test]
fn data_of_other_makers_get_the_model_they_were_made_for() {
    let shapes = [
        shape([150, 3, 3], 0.08, 0, false),
        shape([300, 10, 4], 0.1, 1, true),
        shape([400, 6, 5], 0.05, 2, false),
        shape([250, 30, 3], 0.12, 0, false),
    ];
    let seeds = how_many(5, 20);
    println!("{seeds} seeds each: ORTHANT_SLOW=1 runs 20");
    for (law, expected) in LAWS {
        for shape in shapes {
            let of = |seed| ask(&make(law, shape, seed).0, shape.clusters).verdict.recommended;
            let right = (0..seeds).filter(|&seed| of(seed) == expected).count() as u64;
            println!("{law:?} {shape:?}: {right} of {seeds}");
            // 18 of 20, 4 of 5.
            assert!(10 * right >= 9 * seeds - 9 * seeds % 10, "{law:?}, {shape:?}: {right} of {seeds}");
        }
    }
}

/// How often it is right, by how well the clusters can be found at all: the agreement of the right model's
/// clusters with the truth.
#[test]
fn advice_is_right_wherever_the_clusters_can_be_found() {
    if std::env::var("ORTHANT_SLOW").is_err() {
        println!("skipped: 4320 data sets take a minute or two, ORTHANT_SLOW=1 runs them");
        return;
    }
    let sizes = [[100, 2, 2], [100, 2, 3], [300, 3, 3], [300, 3, 5], [300, 10, 4], [1000, 20, 6]];
    let classes = [0.0, 0.5, 0.65, 0.8];
    for (law, expected) in LAWS {
        let mut table = [(0, 0, 0); 4];
        for size in sizes {
            for (at, noise) in [0.02, 0.05, 0.1, 0.15, 0.2].into_iter().enumerate() {
                for strengths in 0..3 {
                    for seed in 0..12 {
                        let (matrix, truth) = make(law, shape(size, noise, strengths, at % 2 == 1), seed);
                        let found = ask(&matrix, size[2]);
                        let labels = &found.model(expected.unwrap_or(Model::KMeans)).labels;
                        let labels: Vec<i32> = labels.iter().map(|&l| l as i32).collect();
                        // Noise may have wiped points out.
                        let truth: Vec<usize> = found.points.iter().map(|&j| truth[j]).collect();
                        let clear = ari(&Confusion::new(&labels, &truth).unwrap());
                        let class = classes.iter().rposition(|c| clear >= *c).unwrap_or(0);
                        let answer = found.verdict.recommended;
                        table[class].0 += 1;
                        table[class].1 += usize::from(answer == expected);
                        table[class].2 += usize::from(answer.is_none());
                    }
                }
            }
        }
        println!("{law:?}: clusters found to at least, right of all, undecided");
        for (least, (all, right, undecided)) in classes.iter().zip(table) {
            println!("  {least}: {right} of {all}, {undecided}");
            assert!(*least < 0.65 || 20 * right >= 19 * all, "{law:?}: {right} of {all}");
        }
    }
}
