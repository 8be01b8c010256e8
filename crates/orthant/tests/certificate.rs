//! Lower bounds against the optimum: no bound may be above it, and none that is meant to be tight far below.

use crate::common::brute_force::least_error2;
use crate::common::how_many;
use crate::common::tiny::{Tiny, tiny};
use crate::common::{Numbers, clustered, open_kind, run, sparse};
use orthant::algorithms::method;
use orthant::certificate::{Bound, CERTIFICATE, Certificate, Rigour, certify};
use orthant::finish::finish;
use orthant::matrix::{Data, Dense, Mat, open, rule};
use orthant::pipeline::{Job, cluster};
use orthant::prepare::Problem;
use orthant::run::{Event, Go, Observer};
use rayon::prelude::*;

const RIGOURS: [Rigour; 3] = [Rigour::Singular, Rigour::Quick, Rigour::Thorough];

/// The certificate of a partition that is no good, so that nothing but the bound itself keeps the bound low.
fn certified(data: &dyn Data, k: usize, level: Rigour) -> Certificate {
    let problem = Problem::new(data, k, method("em-onmf").unwrap().needs()).unwrap();
    let mut slots = data.slots().unwrap();
    let facts = data.facts();
    let usable = |j: usize| !facts.zero_points.contains(&j) && !facts.weightless_points.contains(&j);
    let mut turn = 0;
    let labels: Vec<i32> = (0..data.shape().points)
        .map(|j| {
            turn += usize::from(usable(j));
            if usable(j) { ((turn - 1) % k) as i32 } else { -1 }
        })
        .collect();
    let guess = Mat::zeros(data.shape().features, k);
    let (solution, left) = finish(&problem, &mut *slots, &labels, &guess, rule::Power.into()).unwrap();
    certify(&problem, &mut *slots, &solution, &left, level, &mut ()).unwrap()
}

#[test]
fn no_bound_is_above_the_optimum() {
    let found: Vec<(bool, bool, bool)> = (0..how_many(520, 10_300))
        .into_par_iter()
        .filter_map(|seed| {
            let problem @ Tiny { features, k, .. } = &tiny(seed);
            if problem.usable() == 0 {
                return None;
            }
            let best = least_error2(&problem.x, *features, problem.weights.as_deref(), *k);
            let data = open_kind(problem.kind, &problem.x, *features, problem.weights.clone());
            let bounds = RIGOURS.map(|level| {
                let certificate = certified(&*data, *k, level);
                let bound2 = certificate.lower_bound.powi(2);
                assert!(
                    bound2 <= best + 1e-12,
                    "problem {seed}, {level:?}: squared bound {bound2:e}, optimum {best:e}: {problem:?}"
                );
                (certificate.bound, bound2)
            });
            // Where factors without constraints can do everything, or nothing is left, there is nothing to bound.
            let matters = best > 1e-6;
            Some((matters, bounds[2].0 == Bound::Dual, bounds[2].1 > 0.8 * best))
        })
        .collect();
    let matters: Vec<_> = found.iter().filter(|f| f.0).collect();
    let (dual, near) = (matters.iter().filter(|f| f.1).count(), matters.iter().filter(|f| f.2).count());
    println!(
        "{} problems, {} of them with an error: the dual bound is the best of {dual}, {near} bounds are within 20 % of the \
         squared optimum",
        found.len(),
        matters.len()
    );
    assert!(2 * dual > matters.len() && 10 * near > 7 * matters.len(), "{dual}, {near} of {}", matters.len());
}

/// Points that are all multiples of few: the optimum is that of the few.
fn multiples(points: usize, seed: u64) -> (Box<dyn Data>, usize, f64) {
    let mut numbers = Numbers(seed + 1);
    let (few, features, k) = (4 + seed as usize % 5, 3 + seed as usize % 6, 2 + seed as usize % 2);
    let directions: Vec<f64> = (0..few * features).map(|_| numbers.next().powi(2)).collect();
    let mut x = vec![];
    let mut norms2 = vec![0.0; few];
    for j in 0..points {
        let (i, size) = (j % few, numbers.next());
        norms2[i] += size * size;
        x.extend(directions[i * features..(i + 1) * features].iter().map(|d| d * size));
    }
    let merged: Vec<f64> =
        directions.iter().enumerate().map(|(at, d)| d * f64::sqrt(norms2[at / features])).collect();
    let data = open(Dense::new(points, features, x).unwrap(), None).unwrap();
    (data, k, least_error2(&merged, features, None, k))
}

#[test]
fn no_bound_from_groups_is_above_the_optimum() {
    for seed in 0..how_many(6, 40) {
        let (data, k, best) = multiples(1200, seed);
        let certificate = certified(&*data, k, Rigour::Quick);
        let bound2 = certificate.lower_bound.powi(2);
        assert!(bound2 <= best + 1e-12, "{seed}: {bound2:e} above {best:e}");
        assert_eq!(certificate.bound, Bound::DualOfGroups);
        assert!(bound2 > 0.8 * best, "{seed}: {bound2:e} far below {best:e}");
    }
}

/// So many that the search for a bound goes by float32.
#[test]
fn no_bound_of_thousands_of_single_points_is_above_the_optimum() {
    for seed in 0..how_many(1, 6) {
        let (data, k, best) = multiples(3100, seed);
        let certificate = certified(&*data, k, Rigour::Thorough);
        let bound2 = certificate.lower_bound.powi(2);
        assert!(bound2 <= best + 1e-12, "{seed}: {bound2:e} above {best:e}");
        assert_eq!(certificate.bound, Bound::Dual);
        assert!(bound2 > 0.9 * best, "{seed}: {bound2:e} far below {best:e}");
    }
}

#[test]
fn best_finds_the_optimum_of_tiny_problems() {
    let problems: Vec<u64> = (0..how_many(300, 3000)).filter(|&seed| tiny(seed).usable() > 0).collect();
    let missed: Vec<String> = problems
        .par_iter()
        .filter_map(|&seed| {
            let problem @ Tiny { features, k, .. } = &tiny(seed);
            let best = least_error2(&problem.x, *features, problem.weights.as_deref(), *k);
            let data = open_kind(problem.kind, &problem.x, *features, problem.weights.clone());
            let reached = run(&*data, &Job::new("best", *k).unwrap()).certificate.relative_error.powi(2);
            // float32 arithmetic cannot tell more.
            let tolerance = if problem.kind.contains("f32") { 1e-6 } else { 1e-9 };
            (reached > best + tolerance).then(|| format!("{seed}: {reached:e} for {best:e}, {problem:?}"))
        })
        .collect();
    println!("best found the optimum of {} in {} problems", problems.len() - missed.len(), problems.len());
    assert!(missed.len() * 100 <= problems.len(), "missed {}: {missed:#?}", missed.len());
}

#[test]
fn the_certificate_is_the_same_for_any_number_of_threads_and_kind() {
    let (features, k) = (12, 4);
    for points in [150, 1100] {
        let x = clustered(points, features, k, 5);
        let bound = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let data = open_kind("dense f64", &x, features, None);
            let job = Job { certificate: Rigour::Quick, ..Job::new("em-onmf", k).unwrap() };
            pool.install(|| run(&*data, &job)).certificate
        };
        let one = bound(1);
        assert_eq!(one, bound(3));
        assert!(one.bound != Bound::Singular && one.lower_bound > 0.0, "{one:?}");
        let data = open(sparse::<f64, i32>(&x, features), None).unwrap();
        let job = Job { certificate: Rigour::Quick, ..Job::new("em-onmf", k).unwrap() };
        let other = run(&*data, &job).certificate;
        assert!((one.lower_bound - other.lower_bound).abs() < 1e-4, "{one:?} {other:?}");
    }
}

/// Stops when the certificate has made so many steps.
struct Impatient(usize);

impl Observer for Impatient {
    fn iteration(&mut self, event: &Event) -> Go {
        if event.method == CERTIFICATE && event.iteration >= self.0 { Go::Stop } else { Go::On }
    }
}

#[test]
fn stopping_the_certificate_keeps_the_result_with_what_is_proven() {
    let (features, k) = (12, 4);
    let x = clustered(200, features, k, 8);
    let data = open_kind("dense f64", &x, features, None);
    let job = |certificate| Job { certificate, ..Job::new("em-onmf", k).unwrap() };
    let plain = run(&*data, &job(Rigour::Singular));
    let at_once = cluster(&*data, &job(Rigour::Thorough), &mut Impatient(0)).unwrap();
    assert_eq!(at_once.certificate, plain.certificate);
    let later = cluster(&*data, &job(Rigour::Thorough), &mut Impatient(10)).unwrap();
    assert_eq!(later.solution.labels, plain.solution.labels);
    assert_eq!(later.certificate.bound, Bound::Dual);
    assert!(later.certificate.lower_bound > plain.certificate.lower_bound);
    let whole = run(&*data, &job(Rigour::Thorough)).certificate;
    assert!(whole.lower_bound > later.certificate.lower_bound, "{whole:?} {:?}", later.certificate);
    // Of thousands of points the proof takes long itself: it is not begun.
    let x = clustered(4000, features, k, 8);
    let data = open_kind("dense f64", &x, features, None);
    let plain = run(&*data, &job(Rigour::Singular)).certificate;
    let later = cluster(&*data, &job(Rigour::Thorough), &mut Impatient(2)).unwrap();
    assert_eq!(later.certificate, plain);
}

#[test]
fn data_too_large_in_both_directions_keep_the_bound_of_the_singular_values() {
    // 1200 points of 1200 features, each in one of three parts.
    let (points, features) = (1200usize, 1200usize);
    let mut x = vec![0.0; points * features];
    let mut numbers = Numbers(4);
    for j in 0..points {
        for f in 0..5 {
            x[j * features + (j % 3) * 400 + f] = 0.5 + numbers.next();
        }
    }
    let data = open(sparse::<f64, i32>(&x, features), None).unwrap();
    let outcome = run(&*data, &Job { certificate: Rigour::Quick, ..Job::new("em-onmf", 3).unwrap() });
    assert_eq!(outcome.certificate.bound, Bound::Singular);
    assert!(outcome.certificate.lower_bound > 0.0);
}
