//! Many starts on sparse data go over iterations in float32. What they reach is what float64 leaves alone; a single run,
//! which never leaves float64, says so.

use std::sync::Arc;

use crate::checkpoints::Stopping;
use crate::common::*;
use orthant::algorithms::Values;
use orthant::checkpoint::Checkpoint;
use orthant::pipeline::{Job, resume};
use orthant::run::{Race, Stop};
use orthant::start::Start;

const FEATURES: usize = 60;

/// Counts of a few of many words, from as many topics as there are clusters.
fn texts(points: usize, k: usize, seed: u64) -> Vec<f64> {
    let mut random = Numbers(seed);
    let mut x = vec![0.0; points * FEATURES];
    for p in 0..points {
        let topic = p * k / points;
        for _ in 0..12 + (random.next() * 20.0) as usize {
            let common = (random.next() * random.next() * FEATURES as f64) as usize;
            let own = (topic * 5 + (random.next() * 9.0) as usize) % FEATURES;
            x[p * FEATURES + if random.next() < 0.6 { own } else { common }] += 1.0;
        }
    }
    x
}

#[test]
fn what_many_starts_reach_float64_leaves_alone() {
    for (points, k, kind) in [(400, 3, "sparse f64"), (700, 12, "sparse f32"), (900, 33, "sparse f64")] {
        let x = texts(points, k, 7);
        let weights: Vec<f64> = (0..points).map(|j| [1.0, 2.5, 0.0, 0.3, 1e-3][j % 5]).collect();
        for weights in [None, Some(weights)] {
            let data = open_kind(kind, &x, FEATURES, weights.clone());
            for name in ["em-onmf", "spherical-k-means", "k-means", "kl-onmf"] {
                let what = format!("{name}, k = {k}, {kind}, weights: {}", weights.is_some());
                let job = Job { runs: 11, start: Some(Start::Random), ..Job::new(name, k).unwrap() };
                let many = run(&*data, &job);
                assert_eq!(many.runs.len(), 11);
                let mut seen = 0;
                for found in many.runs.iter().filter(|run| run.stop() == Stop::Converged) {
                    let start = Some(Start::Labels(Arc::new(found.labels.clone())));
                    let alone = run(&*data, &Job { start, runs: 1, ..job.clone() });
                    let same = same_partition(&alone.runs[0].labels, &found.labels);
                    assert!(same, "{what}: labels differ");
                    let (a, b) = (alone.runs[0].objective, found.objective);
                    assert!((a - b).abs() <= 1e-9 * a.abs(), "{what}: {a} and {b}");
                    seen += 1;
                }
                assert!(seen >= 9, "{what}: only {seen} runs have converged");
            }
        }
    }
}

#[test]
fn clusters_that_lose_their_points_start_anew() {
    // Four kinds of points, many of each: most starts draw two of one kind.
    let x: Vec<f64> =
        (0..80 * 8).map(|i| f64::from(u8::from(i % 8 / 2 == i / 8 % 4)) * (1.0 + (i % 2) as f64)).collect();
    let data = open_kind("sparse f64", &x, 8, None);
    for name in ["em-onmf", "spherical-k-means", "k-means", "kl-onmf"] {
        let job = Job { runs: 12, start: Some(Start::Random), ..Job::new(name, 4).unwrap() };
        let outcome = run(&*data, &job);
        assert!(outcome.certificate.relative_error < 1e-6, "{name}: {}", outcome.certificate.relative_error);
    }
}

#[test]
fn a_race_leaves_runs_behind_and_changes_none_of_the_others() {
    let x = texts(600, 6, 5);
    let data = open_kind("sparse f64", &x, FEATURES, None);
    for name in ["em-onmf", "spherical-k-means", "k-means", "kl-onmf"] {
        let job = Job { runs: 24, start: Some(Start::Random), ..Job::new(name, 6).unwrap() };
        let all = run(&*data, &job);
        assert_eq!((all.runs.len(), all.left_behind), (24, 0), "{name}");
        // Six go on after three iterations, four of them over to float64.
        let race = Some(Race { after: 3, share: 0.25, finals: 4 });
        let raced = run(&*data, &Job { race, ..job.clone() });
        assert_eq!((raced.runs.len(), raced.left_behind), (4, 20), "{name}");
        for one in &raced.runs {
            // Exact directions of several runs are refined together: the last bits may differ.
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs();
            let found = all.runs.iter().any(|other| {
                near(other.objective, one.objective) && same_partition(&other.labels, &one.labels)
            });
            assert!(found, "{name}");
        }
    }
}

/// Whether clusters got empty in the last iteration that they may make, or all is said before the first decision.
#[test]
fn a_race_ends_however_few_iterations_there_are() {
    let few: Vec<f64> =
        (0..80 * 8).map(|i| f64::from(u8::from(i % 8 / 2 == i / 8 % 4)) * (1.0 + (i % 2) as f64)).collect();
    let some = texts(300, 20, 3);
    for (x, features, k) in [(&few, 8, 4), (&some, FEATURES, 20)] {
        let data = open_kind("sparse f64", x, features, None);
        for name in ["em-onmf", "spherical-k-means", "k-means", "kl-onmf"] {
            for most in [1, 2, 3, 4, 5, 7, 10, 40] {
                let race = Some(Race { after: 4, ..Race::default() });
                let job = Job { runs: 16, race, start: Some(Start::Random), ..Job::new(name, k).unwrap() };
                let job = Job { values: Values::new().set("max-iterations", f64::from(most)), ..job };
                let outcome = run(&*data, &job);
                assert_eq!((outcome.runs.len(), outcome.left_behind), (3, 13), "{name}, at most {most}");
                assert!(outcome.runs.iter().all(|run| run.iterations() <= most as usize), "{name}");
            }
        }
    }
}

#[test]
fn a_race_ends_at_the_same_bits_by_lanes_and_by_passes_and_from_wherever_it_was_stopped() {
    let x = texts(600, 6, 9);
    let weights: Vec<f64> = (0..600).map(|j| [1.0, 0.5, 3.0][j % 3]).collect();
    for (name, format) in [("em-onmf", "f64"), ("kl-onmf", "f32"), ("k-means", "f32"), ("em-onmf", "f32")] {
        // Eight, and more than lanes hold; the last decision falls while float32 has more to say, or long after.
        for (runs, race) in [(8, Race::default()), (21, Race { after: 2, share: 0.3, finals: 2 })] {
            let job =
                Job { runs, race: Some(race), start: Some(Start::Random), ..Job::new(name, 6).unwrap() };
            let data = open_kind(&format!("sparse {format}"), &x, FEATURES, Some(weights.clone()));
            let whole = run(&*data, &job);
            assert!(whole.left_behind > 0, "{name}: nobody was left behind");
            let same = |other: &orthant::Outcome, how: &str| {
                assert_eq!(other.solution.labels, whole.solution.labels, "{name}, {runs} runs, {how}");
                assert_eq!(other.solution.u, whole.solution.u, "{name}, {runs} runs, {how}");
                assert_eq!(other.left_behind, whole.left_behind, "{name}, {runs} runs, {how}");
                let objectives =
                    |of: &orthant::Outcome| of.runs.iter().map(|r| r.objective).collect::<Vec<_>>();
                assert_eq!(objectives(other), objectives(&whole), "{name}, {runs} runs, {how}");
            };
            let passes = format!("sparse {format}, no transposed copy");
            same(&run(&*open_kind(&passes, &x, FEATURES, Some(weights.clone())), &job), "by passes");
            let mut resumptions = 0;
            for after in [1, 2, 3, 5, 6, 9, 14, 15, 16, 20] {
                let mut observer = Stopping { after, seen: 0, saved: None };
                orthant::cluster(&*data, &job, &mut observer).unwrap();
                let Some(bytes) = observer.saved else { continue };
                resumptions += 1;
                let saved = Checkpoint::from_bytes(&bytes).unwrap();
                same(&resume(&*data, &job, saved, &mut ()).unwrap(), &format!("from iteration {after}"));
            }
            assert!(resumptions >= 2, "{name}: only {resumptions} checkpoints");
        }
    }
}
