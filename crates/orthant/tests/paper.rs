//! Published figures, met: text sets, synthetic sets, the swimmer.
//!
//! The text sets are read from the folder that ORTHANT_DATA names; ORTHANT_SLOW=1 adds what takes minutes.

use crate::common::*;
use orthant::algorithms::{Polish, Values, method};
use orthant::evaluate;
use orthant::generate::{Generator, Swimmer, Synthetic};
use orthant::matrix::open;
use orthant::pipeline::Job;
use orthant::start::Start;

/// Accuracy of a method with the paper's parameters, in percent with one digit. [P, Table 3]
fn check_accuracy(name: &str, start: &str, set: &str, k: usize, printed: &str) {
    let Some(folder) = data_folder() else { return };
    let text = folder.join("text");
    let loaded = text_set(&folder, set);
    let (truth, classes) =
        evaluate::classes(&orthant::read::lines(&text.join(format!("{set}.labels"))).unwrap());
    assert_eq!(classes.len(), k);
    let data = open(&loaded, None).unwrap();
    let job = Job { start: Some(Start::named(start).unwrap()), ..Job::new(name, k).unwrap() };
    let outcome = run(&*data, &job);
    let accuracy = evaluate::scores(&outcome.solution.labels, &truth).unwrap().accuracy;
    assert_eq!(format!("{:.1}", 100.0 * accuracy), printed, "{name} on {set}: {accuracy}");
}

#[test]
fn onp_mf_meets_the_paper_on_tr11_and_tr23() {
    check_accuracy("onp-mf", "svd", "tr11", 9, "46.1");
    check_accuracy("onp-mf", "svd", "tr23", 6, "40.7");
}

#[test]
fn onp_mf_meets_the_paper_on_the_other_text_sets() {
    if slow() {
        for (set, k, printed) in [
            ("classic", 4, "53.8"),
            ("ohscal", 10, "34.0"),
            ("hitech", 6, "47.0"),
            ("reviews", 5, "51.0"),
            ("la1", 6, "65.8"),
            ("la2", 6, "52.8"),
            ("k1b", 6, "79.0"),
            ("tr41", 10, "43.1"),
            ("tr45", 10, "35.9"),
        ] {
            check_accuracy("onp-mf", "svd", set, k, printed);
        }
    }
}

#[test]
fn chnmf_meets_the_paper_on_three_small_text_sets() {
    check_accuracy("chnmf", "nndsvd", "tr11", 9, "50.2");
    check_accuracy("chnmf", "nndsvd", "tr23", 6, "32.8");
    // Met by a stop at 5e-9 or less, missed at 1e-8.
    check_accuracy("chnmf", "nndsvd", "tr45", 10, "39.3");
}

#[test]
fn chnmf_meets_the_paper_on_the_other_text_sets() {
    if slow() {
        for (set, k, printed) in [
            ("classic", 4, "55.9"),
            ("ohscal", 10, "34.0"),
            ("hitech", 6, "41.5"),
            ("reviews", 5, "49.3"),
            ("la1", 6, "44.3"),
            ("la2", 6, "42.1"),
            ("k1b", 6, "76.7"),
            ("tr41", 10, "42.6"),
        ] {
            check_accuracy("chnmf", "nndsvd", set, k, printed);
        }
    }
}

const NOISE: [f64; 8] = [0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0];

/// Mean accuracy over `sets` sets and 10 runs where random, for each noise level.
fn synthetic_accuracies(name: &str, start: &str, sets: u64) -> [f64; 8] {
    NOISE.map(|noise| {
        let (mut sum, mut count) = (0.0, 0.0);
        for seed in 0..sets {
            let made = Synthetic { noise, seed, ..Synthetic::default() }.generate().unwrap();
            let data = open(&made.matrix, None).unwrap();
            let job =
                Job { start: Some(Start::named(start).unwrap()), runs: 10, ..Job::new(name, 6).unwrap() };
            for one in run(&*data, &job).runs {
                sum += evaluate::scores(&one.labels, &made.truth).unwrap().accuracy;
                count += 1.0;
            }
        }
        sum / count
    })
}

fn check_synthetic(name: &str, start: &str, sets: u64, expected: [f64; 8]) {
    let reached = synthetic_accuracies(name, start, sets);
    for (level, (reached, expected)) in reached.iter().zip(expected).enumerate() {
        assert!(
            (reached - expected).abs() <= 0.06,
            "{name} from {start} at noise {}: {reached:.3}, expected {expected:.3}",
            NOISE[level]
        );
    }
}

// Expected values: means over 10 other sets, measured with independent implementations of each method.
#[test]
fn the_fast_methods_reach_what_others_measured_on_the_synthetic_sets() {
    check_synthetic("k-means", "random", 60, [0.531, 0.535, 0.523, 0.509, 0.483, 0.393, 0.300, 0.237]);
    check_synthetic(
        "spherical-k-means",
        "random",
        60,
        [0.995, 0.830, 0.867, 0.805, 0.641, 0.405, 0.301, 0.239],
    );
    check_synthetic("em-onmf", "random", 60, [1.0, 0.800, 0.844, 0.805, 0.673, 0.458, 0.310, 0.238]);
}

/// The paper and others found ONP-MF perfect at noise 0.01 on ten sets. Over 300 sets drawn in the same way
/// 86 % are perfect and the mean is 0.988: ten sets in a row reach 0.999 about every second time. (A plain
/// two-product version with a full SVD in each trial ends at the same labels on the sets that fail.) A polish
/// by EM mends most of them.
#[test]
fn onp_mf_is_nearly_perfect_at_noise_001_and_reaches_what_others_measured() {
    check_synthetic("onp-mf", "svd", 12, [1.0, 0.9998, 0.968, 0.835, 0.667, 0.444, 0.306, 0.232]);
    let sets = if slow() { 300 } else { 40 };
    let (mut sum, mut polished, mut perfect) = (0.0, 0.0, 0);
    for seed in 0..sets {
        let made = Synthetic { noise: 0.01, seed, ..Synthetic::default() }.generate().unwrap();
        let data = open(&made.matrix, None).unwrap();
        let accuracy = |polish: &[Polish]| {
            let outcome = run(&*data, &Job { polish: polish.to_vec(), ..Job::new("onp-mf", 6).unwrap() });
            evaluate::scores(&outcome.solution.labels, &made.truth).unwrap().accuracy
        };
        sum += accuracy(&[]);
        polished += accuracy(&[Polish::Em]);
        perfect += usize::from(accuracy(&[]) == 1.0);
    }
    assert!(sum / sets as f64 >= 0.98, "mean accuracy {}", sum / sets as f64);
    assert!(polished / sets as f64 >= 0.99, "mean accuracy after a polish {}", polished / sets as f64);
    println!(
        "{perfect} of {sets} sets perfect, mean {}, polished {}",
        sum / sets as f64,
        polished / sets as f64
    );
    assert!(4 * perfect >= 3 * sets as usize, "{perfect} of {sets} sets are perfect");
}

#[test]
fn the_multiplicative_methods_reach_what_others_measured_on_the_synthetic_sets() {
    if slow() {
        check_synthetic("chnmf", "random", 20, [0.963, 0.943, 0.917, 0.836, 0.669, 0.454, 0.298, 0.239]);
        check_synthetic("chnmf", "nndsvd", 40, [1.0, 0.983, 0.935, 0.835, 0.681, 0.446, 0.294, 0.237]);
        check_synthetic("o-pnmf", "random", 20, [0.954, 0.959, 0.943, 0.813, 0.685, 0.470, 0.308, 0.239]);
        check_synthetic("o-pnmf", "nndsvd", 40, [0.989, 0.9998, 0.966, 0.855, 0.690, 0.472, 0.319, 0.239]);
    }
}

#[test]
fn onp_mf_followed_by_em_finds_all_parts_of_the_swimmer() {
    for layout in ["20x11", "32x32"] {
        let mut swimmer = Swimmer::default();
        swimmer.set("layout", layout).unwrap();
        let made = swimmer.generate().unwrap();
        let data = open(&made.matrix, None).unwrap();
        let outcome = run(&*data, &Job { polish: vec![Polish::Em], ..Job::new("onp-mf", 17).unwrap() });
        let inside: Vec<usize> =
            (0..made.truth.len()).filter(|&j| Some(made.truth[j]) != made.background).collect();
        let found: Vec<i32> = inside.iter().map(|&j| outcome.solution.labels[j]).collect();
        let parts: Vec<i32> = inside.iter().map(|&j| made.truth[j] as i32).collect();
        assert!(same_partition(&found, &parts), "{layout}: {found:?}");
        assert!(outcome.certificate.relative_error < 1e-6, "{layout}: {:?}", outcome.certificate);
    }
}

/// Anchors measured elsewhere: a polish from ONP-MF's labels on tr23.
#[test]
fn a_polish_by_em_reaches_the_error_that_others_measured() {
    let Some(folder) = data_folder() else { return };
    let loaded = orthant::read::read(&folder.join("text/tr23.mtx.gz"), &Default::default()).unwrap();
    let data = open(&loaded.matrix, None).unwrap();
    let outcome = run(
        &*data,
        &Job { polish: vec![Polish::Em], values: Values::new(), ..Job::new("onp-mf", 6).unwrap() },
    );
    assert!((outcome.certificate.relative_error - 0.286584).abs() < 1e-6, "{:?}", outcome.certificate);
    assert_eq!(method("onp-mf").unwrap().starts, ["svd"]);
}
