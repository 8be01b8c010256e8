//! The searching methods: `best` and its like against the lowest objectives known and against many starts, their stages, KL.

use crate::common::*;
use orthant::algorithms::{Effort, Polish, Values};
use orthant::generate::{Generator, Swimmer, Synthetic};
use orthant::matrix::{Matrix, open};
use orthant::pipeline::Job;
use orthant::read::{Options, read};
use orthant::start::Start;

fn best(k: usize, effort: &str, seed: u64) -> Job {
    let number = Effort::NAMES.iter().position(|name| *name == effort).unwrap();
    let values = Values::new().set("effort", number as f64);
    Job { values, seed, ..Job::new("best", k).unwrap() }
}

/// `√(1 − Σσ₁²/‖M‖²)`, the lowest that any method we know of has reached on these sets.
const TEXT: &[(&str, usize, f64)] = &[
    ("tr11", 9, 0.206067),
    ("tr23", 6, 0.283881),
    ("tr41", 10, 0.431121),
    ("tr45", 10, 0.244046),
    ("hitech", 6, 0.918140),
    ("la1", 6, 0.926584),
];
const SCENES: &[(&str, usize, f64)] = &[("samson", 3, 0.070952), ("jasper", 4, 0.093869)];

/// The figures are printed with six digits: half a digit is theirs.
fn check_error(name: &str, matrix: &Matrix, k: usize, known: f64, effort: &str, above: f64) {
    let data = open(matrix, None).unwrap();
    let error = run(&*data, &best(k, effort, 0)).certificate.relative_error;
    assert!(error <= known + above + 5e-7, "{name} at {effort} effort: {error}, known {known}");
}

#[test]
fn best_reaches_the_lowest_errors_known() {
    let Some(folder) = data_folder() else { return };
    for &(name, k, known) in &TEXT[..2] {
        check_error(name, &text_set(&folder, name), k, known, "normal", 1e-4);
    }
    if !slow() {
        return;
    }
    let scene = |name: &str| {
        let file = folder.join(format!("hyperspectral/{name}.npy"));
        read(&file, &Options::default()).unwrap().matrix.transposed()
    };
    for (effort, above) in [("normal", 1e-4), ("thorough", 1e-6)] {
        for &(name, k, known) in TEXT {
            check_error(name, &text_set(&folder, name), k, known, effort, above);
        }
        for &(name, k, known) in SCENES {
            check_error(name, &scene(name), k, known, effort, above);
        }
    }
}

#[test]
fn best_is_never_above_many_seeded_starts_of_em() {
    let (levels, sets): (&[f64], u64) =
        if slow() { (&[0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0], 10) } else { (&[0.05, 0.3, 1.0], 2) };
    for &noise in levels {
        for seed in 0..sets {
            let made = Synthetic { noise, seed, ..Synthetic::default() }.generate().unwrap();
            let data = open(&made.matrix, None).unwrap();
            let ours = run(&*data, &best(6, "thorough", 0)).certificate.relative_error;
            let start = Some(Start::Residual);
            let many = Job { start, runs: 200, ..Job::new("em-onmf", 6).unwrap() };
            let theirs = run(&*data, &many).certificate.relative_error;
            assert!(ours <= theirs + 1e-6, "noise {noise}, set {seed}: {ours} above {theirs}");
        }
    }
}

#[test]
fn best_finds_the_parts_of_the_swimmer_for_every_seed() {
    let made = Swimmer::default().generate().unwrap();
    let data = open(&made.matrix, None).unwrap();
    let inside: Vec<usize> =
        (0..made.truth.len()).filter(|&j| Some(made.truth[j]) != made.background).collect();
    let parts: Vec<i32> = inside.iter().map(|&j| made.truth[j] as i32).collect();
    for seed in 0..if slow() { 100 } else { 5 } {
        let labels = run(&*data, &best(17, "normal", seed)).solution.labels;
        let found: Vec<i32> = inside.iter().map(|&j| labels[j]).collect();
        assert!(same_partition(&found, &parts), "seed {seed}: {found:?}");
    }
}

/// No stage loses what an earlier one has reached, each names what it is, and the last is EM.
#[test]
fn every_stage_of_best_keeps_what_was_reached() {
    let x = clustered(80, 7, 5, 21);
    for effort in ["quick", "normal", "thorough"] {
        let outcome = run(&*open_kind("dense f64", &x, 7, None), &best(5, effort, 3));
        let stages = &outcome.best().stages;
        let errors: Vec<f64> = stages.iter().map(|s| s.relative_error).collect();
        assert!(errors.windows(2).all(|e| e[1] <= e[0] * (1.0 + 1e-9)), "{effort}: {errors:?}");
        assert!((errors[errors.len() - 1] - outcome.certificate.relative_error).abs() < 1e-9);
        assert_eq!(stages.last().unwrap().name, "em");
        assert_eq!(outcome.solution.relabelled, 0, "{effort}");
    }
}

/// After moves no exchange of a single point that the short list could see gains anything: brute force over all of them.
#[test]
fn after_moves_hardly_a_point_is_better_elsewhere() {
    let features = 4;
    let (mut left, mut total) = (0, 0);
    for seed in 0..30 {
        let x = clustered(14, features, 3, seed);
        let data = open_kind("dense f64", &x, features, None);
        let start = Some(Start::Random);
        let polish = vec![Polish::Moves];
        let labels =
            run(&*data, &Job { start, polish, seed, ..Job::new("em-onmf", 3).unwrap() }).solution.labels;
        let explained =
            |labels: &[i32]| -> f64 { (0..3).map(|i| plain_sigma2(&x, features, &members(labels, i))).sum() };
        let reached = explained(&labels);
        for point in (0..labels.len()).filter(|&j| labels[j] >= 0) {
            for to in 0..3 {
                let mut other = labels.clone();
                other[point] = to;
                total += 1;
                left += usize::from(explained(&other) > reached * (1.0 + 1e-9));
            }
        }
    }
    assert!(left * 100 <= total, "{left} of {total} moves would still gain");
}

fn members(labels: &[i32], i: i32) -> Vec<usize> {
    (0..labels.len()).filter(|&j| labels[j] == i).collect()
}

/// The objective of KL-ONMF is the divergence between M and UV, with U and V from the partition by plain loops.
#[test]
fn the_objective_of_kl_onmf_is_the_divergence_of_its_partition() {
    let features = 6;
    let x: Vec<f64> = clustered(40, features, 3, 5).iter().map(|v| (v * 4.0).round()).collect();
    for kind in ["dense f64", "dense f32", "sparse f64"] {
        let outcome = run(&*open_kind(kind, &x, features, None), &Job::new("kl-onmf", 3).unwrap());
        let mut divergence = 0.0;
        for i in 0..3 {
            let members = members(&outcome.solution.labels, i);
            let sums: Vec<f64> =
                (0..features).map(|f| members.iter().map(|&j| x[j * features + f]).sum()).collect();
            let whole: f64 = sums.iter().sum();
            for &j in &members {
                let point = &x[j * features..(j + 1) * features];
                let v: f64 = point.iter().sum();
                for (m, sum) in point.iter().zip(&sums) {
                    let uv = v * sum / whole;
                    divergence += if *m > 0.0 { m * (m / uv).ln() } else { 0.0 } - m + uv;
                }
            }
        }
        let objective = outcome.best().objective;
        assert!(
            (objective - divergence).abs() < 1e-6 * divergence,
            "{kind}: {objective} against {divergence}"
        );
    }
}

/// Counts of words in texts on `k` subjects: a word is one of all of them or, as often, one of the subject's own, of which
/// neighbouring subjects share half.
fn texts(points: usize, words: usize, k: usize, seed: u64) -> Vec<f64> {
    let mut numbers = Numbers(seed + 1);
    let (own, mut x) = (words / (k + 1), vec![0.0; points * words]);
    for (j, row) in x.chunks_exact_mut(words).enumerate() {
        for _ in 0..30 + (90.0 * numbers.next()) as usize {
            let any = numbers.next() < 0.5;
            let (first, count) = if any { (0, words) } else { (j % k * own, 2 * own) };
            // Few words are frequent.
            row[first + (numbers.next().powi(2) * count as f64) as usize] += 1.0;
        }
    }
    x
}

/// A single run of KL-ONMF is a lottery; the search finds the same for every seed, and nothing above the best of many runs.
#[test]
fn the_search_under_the_divergence_gives_every_seed_the_same() {
    let (words, k) = (240, 6);
    let x = texts(300, words, k, 3);
    let data = open_kind("sparse f64", &x, words, None);
    let many = Job { runs: 50, start: Some(Start::Residual), ..Job::new("kl-onmf", k).unwrap() };
    let many = run(&*data, &many);
    let found = |objective: f64| objective <= many.best().objective * (1.0 + 1e-12);
    assert!(
        many.runs.iter().any(|run| !found(run.objective)),
        "every single run finds the best: nothing is tried"
    );
    let mut first: Option<Vec<i32>> = None;
    for seed in 0..if slow() { 20 } else { 5 } {
        let outcome = run(&*data, &Job { seed, ..Job::new("best-kl-onmf", k).unwrap() });
        assert!(found(outcome.best().objective), "seed {seed}: {}", outcome.best().objective);
        let labels = outcome.solution.labels;
        assert!(same_partition(&labels, first.get_or_insert_with(|| labels.clone())), "seed {seed}");
    }
}

/// Nothing that a search finds is worse than what as many single runs of its descent do.
#[test]
fn searches_under_other_objectives_are_never_worse_than_single_runs() {
    let features = 8;
    for seed in 0..4 {
        let x = clustered(150, features, 6, 30 + seed);
        for kind in ["dense f64", "sparse f64"] {
            let data = open_kind(kind, &x, features, None);
            for name in ["kl-onmf", "spherical-k-means", "k-means"] {
                let single = Job { runs: 6, start: Some(Start::Residual), ..Job::new(name, 7).unwrap() };
                let (search, single) =
                    (Job::new(format!("best-{name}").as_str(), 7).unwrap(), run(&*data, &single));
                let (ours, theirs) = (run(&*data, &search).best().objective, single.best().objective);
                let better = search.method.better(theirs, ours) && (ours - theirs).abs() > 1e-9 * ours.abs();
                assert!(!better, "{name} on {kind}, set {seed}: {ours} against {theirs}");
            }
        }
    }
}
