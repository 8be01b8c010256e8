//! `advise` and `choose_k`: what they must show, on data made for it, and what they say of odd data.
//! All seeds with ORTHANT_SLOW=1.

use crate::common::Numbers;
use orthant::advise::{Advice, Advise, Model, advise};
use orthant::auto::choose;
use orthant::choose_k::{ChooseK, choose_k};
use orthant::cluster;
use orthant::evaluate::{Confusion, ari};
use orthant::generate::{Example, Generator, Kind, Models, Norms, Plane, Synthetic};
use orthant::matrix::{Dense, Matrix, open};
use orthant::run::{Event, Go, Observer};

fn seeds(few: u64, all: u64) -> std::ops::Range<u64> {
    if std::env::var("ORTHANT_SLOW").is_ok() {
        0..all
    } else {
        println!("seeds 0..{few} of 0..{all}: ORTHANT_SLOW=1 runs them all");
        0..few
    }
}

fn advice(matrix: &Matrix, k: usize) -> Advice {
    let data = open(matrix, None).unwrap();
    advise(&*data, &Advise { k: Some(k), divisions: 2, runs: 6, ..Advise::default() }, &mut ()).unwrap()
}

/// Shapes that differ in dimension, number of clusters and of points, noise, and norms.
fn variants() -> Vec<Models> {
    let base = Models::default();
    vec![
        base.clone(),
        Models { points: 150, dimension: 3, clusters: 3, noise: 0.03, ..base.clone() },
        Models {
            points: 200,
            dimension: 20,
            clusters: 5,
            noise: 0.1,
            norms: Norms::Lognormal,
            ..base.clone()
        },
        Models { points: 600, dimension: 50, clusters: 8, noise: 0.15, norms: Norms::Exponential, ..base },
    ]
}

#[test]
fn the_model_that_data_were_made_for_is_advised() {
    let kinds = [
        (Kind::Scale, Some(Model::KMeans)),
        (Kind::Proportional, Some(Model::SphericalKMeans)),
        (Kind::Independent, Some(Model::Onmf)),
        (Kind::Coinciding, None),
    ];
    for (kind, expected) in kinds {
        for variant in variants() {
            let range = seeds(5, 20);
            let mut right = 0;
            for seed in range.clone() {
                // Angles of points of norm 1 are noisier than those of points of the cube.
                let noise = if kind == Kind::Coinciding { 0.01 } else { variant.noise };
                let made = Models { kind, seed, noise, ..variant.clone() }.generate().unwrap();
                right += u64::from(advice(&made.matrix, made.k()).verdict.recommended == expected);
            }
            let all = range.end;
            assert!(10 * right >= 9 * all - 9 * all % 10, "{kind:?}: {right} of {all} for {variant:?}");
        }
    }
}

#[test]
fn the_examples_of_the_papers_first_figure_are_told_apart() {
    for seed in seeds(5, 20) {
        let plane = |example| Plane { example, seed, ..Plane::default() }.generate().unwrap();
        let line = advice(&plane(Example::InLine).matrix, 2);
        assert_eq!(line.verdict.recommended, Some(Model::KMeans), "{}", line.summary());
        let apart = advice(&plane(Example::Separated).matrix, 2);
        assert_eq!(apart.verdict.recommended, None, "{}", apart.summary());
    }
}

#[test]
fn the_papers_synthetic_sets_ask_for_onmf() {
    for seed in seeds(5, 20) {
        for noise in [0.01, 0.05, 0.1] {
            let made = Synthetic { noise, seed, ..Synthetic::default() }.generate().unwrap();
            let found = advice(&made.matrix, 6);
            assert_eq!(found.verdict.recommended, Some(Model::Onmf), "noise {noise}: {}", found.summary());
            let slope = found.slope.unwrap();
            assert!(slope.slope.abs() < 0.3 && slope.error < 0.1, "{slope:?}");
        }
    }
}

#[test]
fn without_noise_directions_are_clear_but_not_their_noise() {
    let made = Synthetic::default().generate().unwrap();
    let found = advice(&made.matrix, 6);
    assert_eq!(found.verdict.between, [Model::Onmf, Model::SphericalKMeans], "{}", found.summary());
}

#[test]
fn without_k_a_number_is_found_and_the_model_is_the_same() {
    for (kind, model) in [(Kind::Scale, Model::KMeans), (Kind::Independent, Model::Onmf)] {
        let made = Models { kind, noise: 0.03, ..Models::default() }.generate().unwrap();
        let data = open(&made.matrix, None).unwrap();
        let found = advise(&*data, &Advise { divisions: 2, ..Advise::default() }, &mut ()).unwrap();
        assert_eq!((found.verdict.recommended, found.k_given), (Some(model), false), "{}", found.summary());
        assert_eq!(found.k, 6, "{}", found.summary());
    }
}

#[test]
fn counts_ask_for_kl_and_rounded_measurements_do_not() {
    let (n, m, k) = (200, 40, 3);
    let mut numbers = Numbers(5);
    let topics: Vec<Vec<f64>> = (0..k).map(|_| (0..m).map(|_| numbers.next().powi(6)).collect()).collect();
    let totals: Vec<f64> = topics.iter().map(|t| t.iter().sum()).collect();
    let mut counts = vec![0.0; n * m];
    for j in 0..n {
        for _ in 0..(50.0 + 300.0 * numbers.next()) as usize {
            let mut left = numbers.next() * totals[j % k];
            let word = topics[j % k].iter().position(|x| {
                left -= x;
                left <= 0.0
            });
            counts[j * m + word.unwrap_or(0)] += 1.0;
        }
    }
    let found = advice(&Matrix::DenseF64(Dense::new(n, m, counts).unwrap()), k);
    assert_eq!(found.verdict.recommended, Some(Model::KlOnmf), "{}", found.summary());
    let made = Models { points: 300, ..Models::default() }.generate().unwrap();
    let rounded: Vec<f64> =
        (0..300).flat_map(|j| made.matrix.point(j)).map(|x| (1000.0 * x).round()).collect();
    let found = advice(&Matrix::DenseF64(Dense::new(300, 10, rounded).unwrap()), 6);
    assert_eq!(found.verdict.recommended, Some(Model::Onmf), "{}", found.summary());
}

#[test]
fn the_true_number_of_clusters_is_among_the_candidates() {
    for noise in [0.0, 0.01, 0.02, 0.05] {
        let range = seeds(4, 10);
        let mut right = 0;
        for seed in range.clone() {
            let made = Synthetic { noise, seed, ..Synthetic::default() }.generate().unwrap();
            let data = open(&made.matrix, None).unwrap();
            let choice =
                choose_k(&*data, &ChooseK { divisions: 3, seed, ..ChooseK::default() }, &mut ()).unwrap();
            assert!((1..=3).contains(&choice.candidates.len()));
            assert!(choice.candidates.iter().all(|c| !c.reasons.is_empty()));
            right += u64::from(choice.candidates.iter().any(|c| c.k == 6));
        }
        assert!(10 * right >= 9 * range.end, "noise {noise}: {right} of {}", range.end);
    }
}

#[test]
fn the_number_of_directions_that_points_are_mixtures_of_is_a_candidate() {
    let (n, m, k) = (400, 20, 3);
    let mut numbers = Numbers(11);
    let directions: Vec<f64> = (0..k * m).map(|_| numbers.next()).collect();
    let mut data = vec![];
    for _ in 0..n {
        let shares: Vec<f64> = (0..k).map(|_| numbers.next()).collect();
        for f in 0..m {
            let mixed: f64 = (0..k).map(|i| shares[i] * directions[i * m + f]).sum();
            data.push(mixed + 0.01 * numbers.next());
        }
    }
    let matrix = Matrix::DenseF64(Dense::new(n, m, data).unwrap());
    let data = open(&matrix, None).unwrap();
    let choice = choose_k(&*data, &ChooseK { most: 8, divisions: 2, ..ChooseK::default() }, &mut ()).unwrap();
    assert!(choice.candidates.iter().any(|c| c.k == k), "{}", choice.summary());
    // One cluster leaves what the first singular value leaves.
    assert!(choice.levels[0].gain.unwrap() > choice.levels[1].gain.unwrap());
}

#[test]
fn every_level_respects_its_bound_and_errors_fall() {
    let made = Synthetic { noise: 0.1, ..Synthetic::default() }.generate().unwrap();
    let data = open(&made.matrix, None).unwrap();
    let choice = choose_k(&*data, &ChooseK { most: 12, ..ChooseK::default() }, &mut ()).unwrap();
    assert_eq!(choice.levels.iter().map(|l| l.k).collect::<Vec<_>>(), (2..=12).collect::<Vec<_>>());
    for pair in choice.levels.windows(2) {
        assert!(pair[1].relative_error <= pair[0].relative_error + 1e-12);
        let gain = pair[0].relative_error.powi(2) - pair[1].relative_error.powi(2);
        assert!((pair[1].gain.unwrap() - gain).abs() < 1e-12);
    }
    assert!(choice.levels.iter().all(|l| l.lower_bound <= l.relative_error));
}

#[test]
fn odd_data_get_words_or_one_line_and_never_a_panic() {
    let dense = |n: usize, m: usize, x: Vec<f64>| Matrix::DenseF64(Dense::new(n, m, x).unwrap());
    let constant = dense(30, 4, vec![1.0; 120]);
    assert_eq!(advice(&constant, 2).verdict.recommended, None);
    assert_eq!(advice(&dense(1, 3, vec![1.0, 2.0, 3.0]), 1).verdict.recommended, None);
    // Half of the points are zero, and some are duplicates.
    let some: Vec<f64> = (0..40)
        .flat_map(|j| if j % 2 == 0 { vec![0.0; 3] } else { vec![1.0, (j % 4) as f64, 2.0] })
        .collect();
    let found = advice(&dense(40, 3, some), 2);
    assert_eq!(found.points.len(), 20);
    assert!(found.points.iter().all(|j| j % 2 == 1));
    let line: Vec<f64> = (0..60).map(|j| if j < 30 { 1.0 + 0.001 * j as f64 } else { 5.0 }).collect();
    assert_eq!(advice(&dense(60, 1, line), 2).verdict.recommended, Some(Model::KMeans));
    let zero = dense(3, 2, vec![0.0; 6]);
    let data = open(&zero, None).unwrap();
    assert!(
        advise(&*data, &Advise::default(), &mut ()).unwrap_err().to_string().contains("nothing to cluster")
    );
    assert!(choose_k(&*data, &ChooseK::default(), &mut ()).is_err());
    let data = open(&constant, None).unwrap();
    assert!(advise(&*data, &Advise { k: Some(31), ..Advise::default() }, &mut ()).is_err());
    let backwards = ChooseK { least: 5, most: 4, ..ChooseK::default() };
    assert!(choose_k(&*data, &backwards, &mut ()).unwrap_err().to_string().contains("5..4"));
    let cut = choose_k(&*data, &ChooseK { most: 50, ..ChooseK::default() }, &mut ()).unwrap();
    assert_eq!(cut.levels.last().unwrap().k, 30);
    assert!(cut.notes[0].contains("30 nonzero points"));
    assert_eq!(cut.candidates[0].k, 2, "the first k that explains everything");
}

#[test]
fn threads_do_not_change_a_bit_and_weights_are_welcome() {
    let made = Models { kind: Kind::Proportional, ..Models::default() }.generate().unwrap();
    let weights: Vec<f64> = (0..450).map(|j| [1.0, 0.0, 2.0][j % 3]).collect();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let data = open(&made.matrix, Some(weights.clone())).unwrap();
            let ask = Advise { k: Some(6), divisions: 2, ..Advise::default() };
            let found = advise(&*data, &ask, &mut ()).unwrap();
            assert_eq!(found.points.len(), 300);
            assert_eq!(found.verdict.recommended, Some(Model::SphericalKMeans));
            let choice = choose_k(&*data, &ChooseK { most: 8, ..ChooseK::default() }, &mut ()).unwrap();
            let levels =
                choice.levels.iter().map(|l| (l.relative_error.to_bits(), l.consensus.map(f64::to_bits)));
            (found.models.iter().map(|m| m.density.to_bits()).collect::<Vec<_>>(), levels.collect::<Vec<_>>())
        })
    };
    assert_eq!(on(1), on(2));
}

/// Stops after some iterations.
struct After(usize);

impl Observer for After {
    fn iteration(&mut self, _event: &Event) -> Go {
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 { Go::Stop } else { Go::On }
    }
}

#[test]
fn both_can_be_stopped_and_say_so() {
    let made = Synthetic { noise: 0.05, ..Synthetic::default() }.generate().unwrap();
    let data = open(&made.matrix, None).unwrap();
    for iterations in [1, 100, 400] {
        match choose_k(&*data, &ChooseK::default(), &mut After(iterations)) {
            Ok(choice) => assert!(iterations > 1 && choice.cancelled && !choice.candidates.is_empty()),
            Err(error) => {
                assert!(iterations == 1 && error.to_string().starts_with("stopped before"), "{error}")
            }
        }
        match advise(&*data, &Advise { k: Some(6), ..Advise::default() }, &mut After(iterations)) {
            Ok(found) => assert!(iterations == 400 && found.cancelled && found.summary().contains("Stopped")),
            Err(error) => {
                assert!(iterations < 400 && error.to_string().starts_with("stopped before"), "{error}")
            }
        }
    }
}

#[test]
fn auto_chooses_the_model_that_data_were_made_for_and_runs_it() {
    for (kind, expected) in [(Kind::Scale, Model::KMeans), (Kind::Proportional, Model::SphericalKMeans)] {
        let made = Models { kind, ..Models::default() }.generate().unwrap();
        let weights: Vec<f64> = (0..450).map(|j| 1.0 + (j % 2) as f64).collect();
        let data = open(&made.matrix, Some(weights)).unwrap();
        let chosen = choose(&*data, 6, 0, &mut ()).unwrap();
        assert_eq!(chosen.model, expected, "{}", chosen.reason);
        let outcome = cluster(&*data, &chosen.job(6).unwrap(), &mut ()).unwrap();
        let agreement = ari(&Confusion::new(&outcome.solution.labels, &made.truth).unwrap());
        assert!(agreement > 0.95, "{expected:?}: {agreement}");
        assert_eq!(outcome.predict(&*data).unwrap(), outcome.solution.labels);
    }
}

#[test]
fn weighted_texts_are_told_from_counts_by_auto() {
    let (n, m) = (120, 150);
    let mut numbers = Numbers(3);
    let mut texts = vec![];
    for j in 0..n {
        for word in 0..m {
            let own = word % 3 == j % 3;
            let has = numbers.next() < if own { 0.12 } else { 0.02 };
            texts.push(if has { (1.0 + 3.0 * numbers.next()).floor() } else { 0.0 });
        }
    }
    let dense = |x: Vec<f64>| Matrix::DenseF64(Dense::new(n, m, x).unwrap());
    let model = |x: Vec<f64>| choose(&*open(&dense(x), None).unwrap(), 3, 0, &mut ()).unwrap().model;
    assert_eq!(model(texts.iter().map(|x| x.sqrt()).collect()), Model::SphericalKMeans);
    assert_eq!(model(texts), Model::KlOnmf);
}

#[test]
fn where_there_are_no_clusters_choose_k_says_so() {
    let mut numbers = Numbers(8);
    let cube: Vec<f64> = (0..400 * 4).map(|_| numbers.next()).collect();
    let matrix = Matrix::DenseF64(Dense::new(400, 4, cube).unwrap());
    let data = open(&matrix, None).unwrap();
    let choice = choose_k(&*data, &ChooseK { most: 10, ..ChooseK::default() }, &mut ()).unwrap();
    assert!(choice.notes.iter().any(|n| n.contains("do not single out")), "{}", choice.summary());
}
