//! Data and plain recomputations for the tests.

pub mod brute_force;
pub mod tiny;

use std::io::Write;
use std::path::{Path, PathBuf};

use orthant::algorithms::{Method, Values};
use orthant::matrix::{AnyPoints, Csr, Data, Dense, Mat, Matrix, open_with};
use orthant::pipeline::{Job, Outcome, cluster};

/// A generator of its own for the tests: nothing in the library decides what they see.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let x = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xff51afd7ed558ccd);
        ((x ^ (x >> 33)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Points in rows, every one a noisy multiple of one of k directions; some entries and whole points are zero.
pub fn clustered(points: usize, features: usize, k: usize, seed: u64) -> Vec<f64> {
    let mut numbers = Numbers(seed.wrapping_mul(77).wrapping_add(5));
    let directions: Vec<f64> =
        (0..k * features).map(|_| if numbers.next() < 0.3 { 0.0 } else { numbers.next() }).collect();
    let mut x = vec![0.0; points * features];
    for j in 0..points {
        let i = (numbers.next() * k as f64) as usize;
        let size = 0.1 + numbers.next();
        let zero = j % 29 == 17;
        for f in 0..features {
            let noise = if numbers.next() < 0.5 { 0.0 } else { 0.1 * numbers.next() };
            x[j * features + f] = if zero { 0.0 } else { size * directions[i * features + f] + noise };
        }
    }
    x
}

/// The kinds of data that every method must treat alike.
pub const KINDS: &[&str] = &[
    "dense f64",
    "dense f32",
    "sparse f64",
    "sparse f32",
    "sparse f64, 64-bit indices",
    "sparse f64, no transposed copy",
    "sparse f32, no transposed copy",
];

pub fn sparse<T: Copy + PartialEq + Default, I: orthant::matrix::Index>(
    x: &[T],
    features: usize,
) -> Csr<'static, T, I> {
    let (mut offsets, mut columns, mut values) = (vec![0usize], vec![], vec![]);
    for point in x.chunks_exact(features) {
        for (f, &value) in point.iter().enumerate() {
            if value != T::default() {
                columns.push(I::from_position(f));
                values.push(value);
            }
        }
        offsets.push(values.len());
    }
    Csr::new(features, offsets, columns, values).unwrap()
}

pub fn open_kind(kind: &str, x: &[f64], features: usize, weights: Option<Vec<f64>>) -> Box<dyn Data> {
    let points = x.len() / features;
    let single = || x.iter().map(|&v| v as f32).collect::<Vec<f32>>();
    let points: AnyPoints = match kind {
        "dense f64" => Dense::new(points, features, x.to_vec()).unwrap().into(),
        "dense f32" => Dense::new(points, features, single()).unwrap().into(),
        "sparse f64" | "sparse f64, no transposed copy" => sparse::<f64, i32>(x, features).into(),
        "sparse f32" | "sparse f32, no transposed copy" => sparse::<f32, i32>(&single(), features).into(),
        "sparse f64, 64-bit indices" => sparse::<f64, i64>(x, features).into(),
        _ => panic!("no kind {kind}"),
    };
    let transposed = if kind.contains("no transposed") { Some(false) } else { None };
    open_with(points, weights, transposed).unwrap()
}

/// A job that ends soon for every method.
pub fn short(method: &'static Method, k: usize) -> Job {
    let values = if method.name.contains("pnmf") || method.name == "chnmf" {
        Values::new().set("max-iterations", 300.0)
    } else {
        Values::new()
    };
    Job { values, ..Job::new(method.name, k).unwrap() }
}

pub fn run(data: &dyn Data, job: &Job) -> Outcome {
    cluster(data, job, &mut ()).unwrap_or_else(|e| panic!("{}: {e}", job.method.name))
}

/// `‖M − UV‖/‖M‖` by plain loops, from nothing but the data, U, v and the labels.
pub fn plain_error(
    x: &[f64],
    features: usize,
    weights: Option<&[f64]>,
    u: &Mat,
    v: &[f64],
    labels: &[i32],
) -> f64 {
    let (mut left, mut all) = (0.0, 0.0);
    for (j, point) in x.chunks_exact(features).enumerate() {
        let w = weights.map_or(1.0, |w| w[j]);
        for (f, &value) in point.iter().enumerate() {
            let fit = if labels[j] >= 0 { u[(f, labels[j] as usize)] * v[j] } else { 0.0 };
            left += w * (value - fit) * (value - fit);
            all += w * value * value;
        }
    }
    (left / all).sqrt()
}

/// Largest squared singular value of some points, by plain power iteration in float64.
pub fn plain_sigma2(x: &[f64], features: usize, members: &[usize]) -> f64 {
    let mut u = vec![1.0; features];
    let mut value = 0.0;
    for _ in 0..3000 {
        let mut next = vec![0.0; features];
        for &j in members {
            let point = &x[j * features..(j + 1) * features];
            let score: f64 = point.iter().zip(&u).map(|(a, b)| a * b).sum();
            next.iter_mut().zip(point).for_each(|(n, p)| *n += score * p);
        }
        let norm = next.iter().map(|n| n * n).sum::<f64>().sqrt();
        if norm == 0.0 {
            return 0.0;
        }
        let before = value;
        value = norm / u.iter().map(|n| n * n).sum::<f64>().sqrt();
        u = next.iter().map(|n| n / norm).collect();
        if (value - before).abs() <= 1e-15 * value {
            break;
        }
    }
    value
}

/// The least relative error that factors of this partition can have: √(1 − Σσ₁²/‖M‖²), by plain loops.
pub fn plain_partition_error(
    x: &[f64],
    features: usize,
    weights: Option<&[f64]>,
    labels: &[i32],
    k: usize,
) -> f64 {
    let root = |j: usize| weights.map_or(1.0, |w| w[j].sqrt());
    let scaled: Vec<f64> = x.iter().enumerate().map(|(at, v)| v * root(at / features)).collect();
    let members = |i: usize| (0..labels.len()).filter(|&j| labels[j] == i as i32).collect::<Vec<_>>();
    let explained: f64 = (0..k).map(|i| plain_sigma2(&scaled, features, &members(i))).sum();
    (1.0 - explained / scaled.iter().map(|v| v * v).sum::<f64>()).max(0.0).sqrt()
}

/// Whether two labelings are the same up to the names of the clusters.
pub fn same_partition(a: &[i32], b: &[i32]) -> bool {
    use std::collections::HashMap;
    let (mut forth, mut back) = (HashMap::new(), HashMap::new());
    a.len() == b.len()
        && a.iter().zip(b).all(|(&x, &y)| {
            (x < 0) == (y < 0) && *forth.entry(x).or_insert(y) == y && *back.entry(y).or_insert(x) == x
        })
}

/// The folder of the published data sets, where there is one.
pub fn data_folder() -> Option<PathBuf> {
    let folder = std::env::var_os("ORTHANT_DATA").map(PathBuf::from);
    if folder.is_none() {
        say("skipped: the data sets are not here (set ORTHANT_DATA to the folder that holds text/)");
    }
    folder
}

/// Whether to do what takes minutes.
pub fn slow() -> bool {
    let slow = is_slow();
    if !slow {
        say("skipped the slow part: set ORTHANT_SLOW=1 to run it");
    }
    slow
}

fn is_slow() -> bool {
    std::env::var_os("ORTHANT_SLOW").is_some_and(|v| !v.is_empty() && v != "0")
}

/// How many to try: more where `ORTHANT_SLOW` asks for it.
pub fn how_many(usually: u64, slow: u64) -> u64 {
    if is_slow() { slow } else { usually }
}

/// A few of the cases each time it is asked, the others the next time; all of them where `ORTHANT_SLOW` asks for it.
#[derive(Default)]
pub struct InTurn(usize);

impl InTurn {
    pub fn next<'a, T>(&mut self, cases: &'a [T], few: usize) -> Vec<&'a T> {
        let count = if is_slow() { cases.len() } else { few };
        self.0 += count;
        (self.0 - count..self.0).map(|i| &cases[i % cases.len()]).collect()
    }
}

/// Says something also where a test passes, whose print is kept back.
fn say(text: &str) {
    let name = std::thread::current().name().unwrap_or("a test").to_string();
    let _ = writeln!(std::io::stderr(), "{name}: {text}");
}

/// A text set of the published data.
pub fn text_set(folder: &Path, set: &str) -> Matrix {
    let file = folder.join("text").join(format!("{set}.mtx.gz"));
    orthant::read::read(&file, &Default::default()).unwrap().matrix
}
