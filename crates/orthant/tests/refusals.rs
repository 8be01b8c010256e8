//! Bad data and parameters: one clear line that names the culprit, never a panic.

use std::sync::Arc;

use crate::common::*;
use orthant::algorithms::{METHODS, Values, method};
use orthant::finish::predict;
use orthant::matrix::rule::RULES;
use orthant::matrix::{Csr, Dense, Mat, open};
use orthant::pipeline::{Job, cluster};
use orthant::start::Start;

fn refusal(x: &[f64], features: usize, job: &Job) -> String {
    let data = open_kind("dense f64", x, features, None);
    let dense = cluster(&*data, job, &mut ()).map(|_| ()).expect_err("this must be refused").to_string();
    let data = open_kind("sparse f64", x, features, None);
    let sparse = cluster(&*data, job, &mut ()).map(|_| ()).expect_err("this must be refused").to_string();
    assert_eq!(dense, sparse);
    assert!(!dense.contains('\n'));
    dense
}

fn job(name: &str, k: usize) -> Job {
    Job::new(name, k).unwrap()
}

#[test]
fn entries_that_no_method_can_use_are_named_with_their_place() {
    for (bad, word) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")] {
        for m in METHODS {
            let message = refusal(&[1.0, 2.0, 3.0, bad, 5.0, 6.0], 2, &job(m.name, 2));
            assert!(message.contains(word) && message.contains("row 1, column 1"), "{message}");
        }
    }
}

#[test]
fn negative_entries_are_refused_by_the_methods_that_cannot_use_them() {
    let x = [1.0, 2.0, 3.0, 4.0, -5.0, 6.0];
    for m in METHODS {
        if m.signed {
            let outcome = cluster(&*open_kind("dense f64", &x, 2, None), &job(m.name, 2), &mut ()).unwrap();
            assert_eq!(outcome.solution.labels.len(), 3);
        } else {
            let message = refusal(&x, 2, &job(m.name, 2));
            assert!(message.contains("negative (-5)") && message.contains("row 2, column 0"), "{message}");
        }
    }
}

#[test]
fn numbers_of_clusters_that_cannot_be_are_refused() {
    let x = [1.0, 2.0, 0.0, 0.0, 5.0, 6.0];
    for m in METHODS {
        assert!(refusal(&x, 2, &job(m.name, 0)).contains("at least 1"));
        let most = if m.rule.distance { 3 } else { 2 };
        let message = refusal(&x, 2, &job(m.name, most + 1));
        assert!(message.contains(&format!("there are {most}")), "{message}");
    }
    assert!(refusal(&[0.0; 6], 2, &job("em-onmf", 1)).contains("nothing to cluster"));
}

#[test]
fn empty_and_misshapen_data_are_refused() {
    let data = open(Dense::<f64>::new(0, 3, vec![]).unwrap(), None).unwrap();
    assert!(cluster(&*data, &job("em-onmf", 1), &mut ()).unwrap_err().to_string().contains("empty"));
    let data = open(Dense::<f64>::new(3, 0, vec![]).unwrap(), None).unwrap();
    assert!(cluster(&*data, &job("k-means", 1), &mut ()).unwrap_err().to_string().contains("empty"));
    assert!(Dense::new(2, 3, vec![1.0; 5]).is_err());
    assert!(
        Csr::<f64, i32>::new(3, vec![0usize, 2], vec![0, 3], vec![1.0, 1.0]).is_err(),
        "column out of range"
    );
    assert!(Csr::<f64, i32>::new(3, vec![0usize, 2], vec![1, 1], vec![1.0, 1.0]).is_err(), "duplicate");
    assert!(Csr::<f64, i32>::new(3, vec![0usize, 2], vec![2, 1], vec![1.0, 1.0]).is_err(), "unsorted");
    assert!(
        Csr::<f64, i32>::new(3, vec![0usize, 2, 1], vec![0, 1], vec![1.0, 1.0]).is_err(),
        "offsets decrease"
    );
    assert!(Csr::<f64, i64>::new(3, vec![0usize, 1], vec![-1], vec![1.0]).is_err(), "negative column");
}

#[test]
fn weights_are_checked() {
    let refused = |weights: Vec<f64>| {
        open(Dense::new(2, 1, vec![1.0, 2.0]).unwrap(), Some(weights)).map(|_| ()).unwrap_err().to_string()
    };
    assert!(refused(vec![1.0]).contains("1 weights for 2 points"));
    assert!(refused(vec![1.0, -1.0]).contains("point 1"));
    assert!(refused(vec![f64::NAN, 1.0]).contains("point 0"));
    let data = open(Dense::new(2, 1, vec![1.0, 2.0]).unwrap(), Some(vec![0.0, 0.0])).unwrap();
    assert!(cluster(&*data, &job("em-onmf", 1), &mut ()).unwrap_err().to_string().contains("weight zero"));
}

#[test]
fn parameters_and_starts_are_checked() {
    let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let with = |name: &str, value: f64| Job { values: Values::new().set(name, value), ..job("onp-mf", 2) };
    assert!(refusal(&x, 2, &with("growth", 0.5)).contains("growth"));
    assert!(refusal(&x, 2, &with("tolerance", f64::NAN)).contains("tolerance"));
    assert!(refusal(&x, 2, &with("max-iterations", 1.5)).contains("whole number"));
    assert!(refusal(&x, 2, &with("max-iterations", 0.0)).contains("max-iterations"));
    assert!(refusal(&x, 2, &with("colour", 1.0)).contains("no such parameter"));
    assert!(refusal(&x, 2, &Job { runs: 0, ..job("em-onmf", 2) }).contains("runs"));
    let start = |start: Start| Job { start: Some(start), ..job("em-onmf", 2) };
    assert!(refusal(&x, 2, &start(Start::Labels(Arc::new(vec![0, 1])))).contains("2 labels for 3 points"));
    assert!(
        refusal(&x, 2, &start(Start::Labels(Arc::new(vec![0, 1, 2])))).contains("labels run from 0 to 1")
    );
    assert!(refusal(&x, 2, &start(Start::Centroids(Arc::new(Mat::zeros(3, 2))))).contains("needed"));
    assert!(Start::named("guess").unwrap_err().to_string().contains("random, residual, svd"));
    assert!(method("kmeans").unwrap_err().to_string().contains("k-means"));
}

#[test]
fn points_and_centroids_that_do_not_fit_are_refused() {
    let x = clustered(20, 4, 2, 3);
    for kind in ["dense f64", "sparse f64", "dense f32"] {
        let data = open_kind(kind, &x, 4, None);
        let told = |result: orthant::Result<()>| result.unwrap_err().to_string();
        assert!(told(data.select(&[0, 20]).map(drop)).contains("there is no point 20"), "{kind}");
        assert!(told(data.entries(usize::MAX, &mut |_, _| ())).contains("there is no point"), "{kind}");
        assert!(told(data.gather(&[20]).map(drop)).contains("there is no point 20"), "{kind}");
        for &rule in RULES {
            let other = |centroids: Mat| told(predict(&*data, &centroids, rule).map(drop));
            assert!(other(Mat::from_fn(5, 2, |_, _| 1.0)).contains("2 of 5 features, the points have 4"));
            assert!(other(Mat::from_fn(4, 0, |_, _| 1.0)).contains("0 of 4 features"));
            for odd in [f64::NAN, f64::INFINITY] {
                let centroids = Mat::from_fn(4, 2, |f, i| if f + i == 0 { odd } else { 1.0 });
                assert!(other(centroids).contains("is no entry of a centroid"));
            }
            let labels = predict(&*data, &Mat::from_fn(4, 2, |f, i| (f + i) as f64), rule).unwrap();
            assert!(labels.len() == 20 && labels.iter().all(|label| (-1..2).contains(label)));
            let broken = open_kind(kind, &[vec![f64::NAN], x[1..].to_vec()].concat(), 4, None);
            let message = told(predict(&*broken, &Mat::from_fn(4, 2, |_, _| 1.0), rule).map(drop));
            assert!(message.contains("NaN at row 0, column 0"), "{message}");
        }
    }
}

#[test]
fn work_that_cannot_fit_into_memory_is_refused_before_it_begins() {
    let x = clustered(40, 8, 3, 5);
    let data = open_kind("dense f64", &x, 8, None);
    for method in METHODS {
        let enough = Job { memory: Some(1 << 20), ..short(method, 3) };
        assert!(cluster(&*data, &enough, &mut ()).is_ok(), "{}", method.name);
        let message = cluster(&*data, &Job { memory: Some(200), ..short(method, 3) }, &mut ()).unwrap_err();
        assert!(!message.is_bad_input());
        assert!(message.to_string().contains("of memory, 0.2 kB may be used: fewer clusters"), "{message}");
    }
}

#[test]
fn numbers_that_have_lost_their_digits_are_refused_in_both_formats() {
    for (kind, size) in
        [("dense f64", 1e-310), ("sparse f64", 1e-310), ("dense f32", 1e-40), ("sparse f32", 1e-40)]
    {
        let x: Vec<f64> = clustered(30, 8, 3, 1).iter().map(|x| x * size).collect();
        let data = open_kind(kind, &x, 8, None);
        for m in METHODS {
            let told =
                cluster(&*data, &job(m.name, 3), &mut ()).map(|_| ()).expect_err("this must be refused");
            assert!(
                told.to_string().contains("has lost its digits: multiply the data"),
                "{kind} {}: {told}",
                m.name
            );
        }
    }
}
