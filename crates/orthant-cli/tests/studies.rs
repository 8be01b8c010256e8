//! `orthant advise` and `orthant choose-k` from the outside.

use crate::support::{contents, folder, object, run, succeed, texts};

#[test]
fn advice_is_given_in_words_in_json_and_as_a_page() {
    let folder = folder();
    let (out, _) = succeed(folder.path(), "advise set.npy -k 6 --halves 2 -q --out advice");
    assert!(out.starts_with("Use ONMF (k = 6)."), "{out}");
    assert!(out.contains("Next:\n  orthant cluster"), "{out}");
    let files = contents(&folder.path().join("advice"));
    let page = String::from_utf8(files["report.html"].clone()).unwrap();
    assert!(page.contains("Does the noise depend on the norm?") && page.contains("<svg"));
    // What to type next stands on the page, with this file.
    assert!(page.contains("<code>orthant cluster set.npy -k 6 --algorithm best --out result</code>"));
    let found = object(folder.path(), "advise set.npy -k 6 --halves 2 -q --json --threads 1");
    assert_eq!(found["advice"], "onmf");
    assert_eq!(found["algorithm"], "best");
    assert!(found["noise_slope"].as_f64().unwrap().abs() < 0.3);
    let again = object(folder.path(), "advise set.npy -k 6 --halves 2 -q --json --threads 2");
    assert_eq!(found["models"], again["models"]);
}

#[test]
fn advice_on_a_scene_maps_where_the_models_differ() {
    let folder = folder();
    succeed(folder.path(), "generate telescope --out scene.npy");
    let (out, _) = succeed(folder.path(), "advise scene.npy -k 8 --halves 1 --runs 2 -q --out advice");
    // Pixels go by their place.
    assert!(out.contains("  row ") && out.contains(", column ") && !out.contains("  point "), "{out}");
    let files = contents(&folder.path().join("advice"));
    let page = String::from_utf8(files["report.html"].clone()).unwrap();
    // One map of the differences and one for each model, the same size whatever the sample.
    assert!(page.contains("where they differ: pixels that two models disagree on"));
    for model in ["k-means", "spherical k-means", "ONMF", "KL-ONMF"] {
        assert!(page.contains(&format!("{model}: the clusters")), "{model}");
    }
}

#[test]
fn a_truth_is_shown_but_changes_nothing() {
    let folder = folder();
    let with = object(folder.path(), "advise bare.npy -k 6 --halves 2 -q --json --truth set.labels");
    let without = object(folder.path(), "advise bare.npy -k 6 --halves 2 -q --json");
    assert!(with["models"][2]["accuracy"].as_f64().unwrap() > 0.8);
    for key in ["advice", "reasons", "noise_slope", "agreements", "disagreements"] {
        assert_eq!(with[key], without[key], "{key}");
    }
}

#[test]
fn candidates_for_k_have_reasons_and_a_picture() {
    let folder = folder();
    let found = object(folder.path(), "choose-k set.npy 2..9 --halves 3 -q --json --out ks");
    assert_eq!(found["candidates"][0]["k"], 6);
    assert!(!found["candidates"][0]["reasons"].as_array().unwrap().is_empty());
    assert_eq!(found["levels"].as_array().unwrap().len(), 8);
    let files = contents(&folder.path().join("ks"));
    let page = String::from_utf8(files["report.html"].clone()).unwrap();
    assert!(page.contains("Error and bound") && page.contains("<b>Take k = 6"));
    assert_eq!(String::from_utf8(files["ks.csv"].clone()).unwrap().lines().count(), 9);
    let (out, _) = succeed(folder.path(), "choose-k set.npy 2..9 --halves 3 -q");
    assert!(out.contains("candidate") && out.contains("k = 6: "), "{out}");
    let row = out.lines().find(|line| line.starts_with("6 ")).unwrap();
    assert_eq!(row.split_whitespace().nth(1), Some("1"), "{out}");
    assert!(page.contains("Points held out") && page.contains("held out</th>"));
}

#[test]
fn bad_ranges_and_too_many_clusters_are_refused_in_one_line() {
    let folder = folder();
    for (arguments, word) in [
        ("choose-k set.npy 9..2", "2..20"),
        ("choose-k set.npy 0..3", "2..20"),
        ("choose-k set.npy many", "2..20"),
        ("choose-k set.npy 500..600", "there are 450"),
        ("advise set.npy -k 451", "-k: 451 clusters need"),
        ("advise nowhere.npy", "nowhere.npy"),
    ] {
        let output = run(folder.path(), arguments);
        let (out, err) = texts(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {err}");
        assert_eq!((out.as_str(), err.lines().count()), ("", 1), "{arguments}: {err}");
        assert!(err.contains(word), "{arguments}: {err}");
    }
}

#[test]
fn the_data_choose_the_model_and_the_result_says_why() {
    let folder = folder();
    succeed(folder.path(), "generate models --kind scale --out clouds.npy");
    let found = object(folder.path(), "cluster clouds.npy -k 6 --json -q --out clouds");
    assert_eq!(found["chosen"]["model"], "k-means");
    assert_eq!(found["accuracy"], 1.0);
    let summary: serde_json::Value =
        serde_json::from_slice(&contents(&folder.path().join("clouds"))["summary.json"]).unwrap();
    assert_eq!(summary["chosen"], found["chosen"]);
    let page = String::from_utf8(contents(&folder.path().join("clouds"))["report.html"].clone()).unwrap();
    assert!(page.contains("was chosen by the data"));
    // Results of any model know what to do with others.
    let (labels, _) = succeed(folder.path(), "predict clouds clouds.npy");
    assert_eq!(labels.lines().count(), 450);
    let (_, told) = succeed(folder.path(), "cluster set.npy -k 6");
    assert!(told.contains("model           ONMF, chosen by the data. "), "{told}");
    // What advise says next gives what it promised.
    let asked = "advise clouds.npy --cluster columns -k 2 --weighting unit,log1p --seed 3 --halves 1 -q";
    let next = object(folder.path(), &format!("{asked} --json"))["next"].as_str().unwrap().to_string();
    let options = "--cluster=columns --weighting=unit,log1p";
    assert!(
        next.starts_with(&format!("orthant cluster clouds.npy {options}")) && next.contains("--seed=3"),
        "{next}"
    );
    succeed(folder.path(), next.strip_prefix("orthant ").unwrap());
    // Asked for a method, or for what only methods of ONMF know, nothing is chosen.
    for asked in ["--algorithm best", "--polish em", "--start residual"] {
        let found = object(folder.path(), &format!("cluster set.npy -k 6 --json -q {asked}"));
        assert_eq!((found["chosen"].is_null(), &found["algorithm"]), (true, &"best".into()), "{asked}");
    }
    let (_, told) = texts(&run(folder.path(), "cluster set.npy -k 6 --algorithm auto --polish em"));
    assert!(told.contains("auto takes no --start or --polish") && told.lines().count() == 1, "{told}");
    let ten = object(folder.path(), "cluster set.npy -k 6 --json -q --algorithm em-onmf");
    assert_eq!(ten["runs"].as_array().unwrap().len(), 10);
}
