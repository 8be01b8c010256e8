//! Searches and races go over data in which the features that one point has alone are folded into one (`matrix/fold.rs`): what they
//! find is what they find without.

use crate::checkpoints::Stopping;
use crate::common::*;
use orthant::checkpoint::Checkpoint;
use orthant::finish::Solution;
use orthant::matrix::Data;
use orthant::pipeline::{Job, resume};
use orthant::run::Race;
use orthant::start::Start;

const SEARCHES: [&str; 3] = ["best", "best-spherical-k-means", "best-k-means"];

/// Some points, and the same ones with several features of their own where those have one of the same length.
fn twice(kind: &str, weights: Option<&[f64]>) -> [(Box<dyn Data>, Vec<f64>, usize); 2] {
    let (count, core, most) = (120, 10, 4);
    let x = clustered(count, core, 4, 91);
    let mut numbers = Numbers(3);
    let (mut one, mut many) = (vec![], vec![]);
    for j in 0..count {
        let own = &x[j * core..(j + 1) * core];
        let is_zero = own.iter().all(|&v| v == 0.0);
        let alone: Vec<f64> =
            (0..if is_zero { 0 } else { j % (most + 1) }).map(|_| (8.0 * numbers.next()).ceil()).collect();
        let length = alone.iter().map(|v| v * v).sum::<f64>().sqrt();
        let mut place = vec![0.0; count];
        place[j] = length;
        one.extend(own.iter().copied().chain(place));
        let mut places = vec![0.0; most * count];
        places[most * j..][..alone.len()].copy_from_slice(&alone);
        many.extend(own.iter().copied().chain(places));
    }
    let (few, all) = (core + count, core + most * count);
    let open = |x: &[f64], features| open_kind(kind, x, features, weights.map(<[f64]>::to_vec));
    [(open(&one, few), one, few), (open(&many, all), many, all)]
}

#[test]
fn a_search_finds_the_same_whether_points_have_one_feature_of_their_own_or_several() {
    let weights: Vec<f64> = (0..120).map(|j| [1.0, 2.5, 0.3][j % 3]).collect();
    for (kind, close) in
        [("sparse f64", 1e-12), ("sparse f32", 1e-6), ("sparse f64, no transposed copy", 1e-12)]
    {
        for weights in [None, Some(&weights[..])] {
            let [(one, ..), (many, x, features)] = twice(kind, weights);
            for name in SEARCHES {
                let job = Job::new(name, 4).unwrap();
                let what = format!("{name} on {kind}, weights: {}", weights.is_some());
                let (short, long) = (run(&*one, &job), run(&*many, &job));
                assert_eq!(short.solution.labels, long.solution.labels, "{what}");
                let (a, b) = (&short.certificate, &long.certificate);
                assert!((a.relative_error - b.relative_error).abs() < close, "{what}");
                // (What rounding is allowed for grows with the features.)
                assert!(
                    (a.lower_bound - b.lower_bound).abs() < 10.0 * close.max(1e-10),
                    "{what}: {a:?} {b:?}"
                );
                // The answer is about the features that were given.
                let plain = plain_error(
                    &x,
                    features,
                    weights,
                    &long.solution.u,
                    &long.solution.v,
                    &long.solution.labels,
                );
                assert!((plain - b.relative_error).abs() < close, "{what}: {plain}");
            }
        }
    }
}

#[test]
fn a_race_finds_the_same_whether_points_have_one_feature_of_their_own_or_several() {
    let weights: Vec<f64> = (0..120).map(|j| [1.0, 2.5, 0.3][j % 3]).collect();
    for kind in ["sparse f64", "sparse f64, no transposed copy"] {
        for weights in [None, Some(&weights[..])] {
            let [(one, ..), (many, x, features)] = twice(kind, weights);
            for name in ["em-onmf", "k-means", "spherical-k-means"] {
                let (start, race) = (Some(Start::Random), Some(Race::default()));
                let job = Job { runs: 16, start, race, ..Job::new(name, 4).unwrap() };
                let what = format!("{name} on {kind}, weights: {}", weights.is_some());
                let (short, long) = (run(&*one, &job), run(&*many, &job));
                assert!(long.left_behind > 0, "{what}");
                assert_eq!(short.solution.labels, long.solution.labels, "{what}");
                let (a, b) = (short.best().objective, long.best().objective);
                assert!((a - b).abs() <= 1e-12 * a.abs(), "{what}: {a} and {b}");
                // The answer is about the features that were given.
                let Solution { u, v, labels, .. } = &long.solution;
                let plain = plain_error(&x, features, weights, u, v, labels);
                assert!((plain - long.certificate.relative_error).abs() < 1e-12, "{what}: {plain}");
            }
        }
    }
}

#[test]
fn a_search_on_folded_points_goes_on_from_a_checkpoint_to_the_same_bits() {
    let [_, (data, ..)] = twice("sparse f64", None);
    for name in SEARCHES {
        let job = Job { seed: 2, runs: 2, ..Job::new(name, 6).unwrap() };
        let whole = run(&*data, &job);
        let mut resumptions = 0;
        for after in [2, 15, 40, 60] {
            let mut observer = Stopping { after, seen: 0, saved: None };
            orthant::cluster(&*data, &job, &mut observer).unwrap();
            let Some(bytes) = observer.saved else { continue };
            resumptions += 1;
            let resumed = resume(&*data, &job, Checkpoint::from_bytes(&bytes).unwrap(), &mut ()).unwrap();
            assert_eq!(whole.solution, resumed.solution, "{name}, after {after}");
            assert_eq!(whole.certificate, resumed.certificate, "{name}, after {after}");
        }
        assert!(resumptions > 0, "{name} was never resumed");
    }
}
