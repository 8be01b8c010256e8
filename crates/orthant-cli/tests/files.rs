//! Files as people have them, from the command line to labels: texts, tables, scenes, standard input; and results of
//! older versions.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use crate::support::{folder, npy, object, orthant, succeed, texts};
use serde_json::Value;

const TOPICS: [(&str, &str); 3] = [
    ("food", "wine bread cheese butter soup salad dinner kitchen"),
    ("space", "rocket orbit planet star moon launch telescope galaxy"),
    ("sport", "goal match player team coach score league ball"),
];

/// Texts of three topics, 12 each: a folder with the topics in it, and a table.
fn write_texts(folder: &Path) {
    let mut table = String::from("body,topic\n");
    for (topic, words) in TOPICS {
        let words: Vec<&str> = words.split(' ').collect();
        fs::create_dir_all(folder.join("corpus").join(topic)).unwrap();
        for i in 0..12 {
            let chosen: Vec<&str> = (0..6).map(|j| words[(i * 3 + j) % words.len()]).collect();
            let text = format!("The {} of it is in the house, and that is all.", chosen.join(" and the "));
            fs::write(folder.join("corpus").join(topic).join(format!("{i:02}.txt")), &text).unwrap();
            table += &format!("\"{text}\",{topic}\n");
        }
    }
    fs::write(folder.join("texts.csv"), table).unwrap();
}

#[test]
fn texts_are_clustered_and_new_ones_predicted_with_the_same_words() {
    let folder = tempfile::tempdir().unwrap();
    write_texts(folder.path());
    let found = object(folder.path(), "cluster corpus -k 3 --out result --json");
    assert_eq!((found["accuracy"].as_f64(), found["points"].as_u64()), (Some(1.0), Some(36)));
    let labels = fs::read_to_string(folder.path().join("result/labels.txt")).unwrap();
    assert_eq!(succeed(folder.path(), "predict result corpus").0, labels);
    assert_eq!(succeed(folder.path(), "predict result texts.csv --text body").0, labels);
    // New texts, some of whose words are not known.
    fs::write(
        folder.path().join("new.txt"),
        "a dinner with wine and good bread\nthe unheard planet near a star\n",
    )
    .unwrap();
    let (new, _) = succeed(folder.path(), "predict result new.txt --format lines");
    let old: Vec<&str> = labels.lines().collect();
    assert_eq!(new.lines().collect::<Vec<_>>(), [old[0], old[12]]);
    let table = object(folder.path(), "cluster texts.csv --text body --truth-column topic -k 3 --json");
    assert_eq!(table["accuracy"], 1.0);
    fs::write(folder.path().join("numbers.csv"), "1,2\n3,4\n").unwrap();
    let refused = crate::support::run(folder.path(), "predict result numbers.csv");
    assert_eq!(refused.status.code(), Some(2));
    assert!(texts(&refused).1.contains("holds numbers, but result is of texts"), "{}", texts(&refused).1);
}

#[test]
fn results_without_a_preparation_are_of_older_versions_and_still_predict() {
    let folder = folder();
    succeed(folder.path(), "cluster set.npy -k 6 -a em-onmf --weighting tf-idf,unit --out result -q");
    let (expected, _) = succeed(folder.path(), "predict result set.npy");
    let kept = folder.path().join("result/preparation.json");
    let learned: Value = serde_json::from_str(&fs::read_to_string(&kept).unwrap()).unwrap();
    fs::remove_file(&kept).unwrap();
    let factors = learned["steps"][0]["fitted"]["features"].as_array().unwrap();
    let bytes: Vec<u8> = factors.iter().flat_map(|x| x.as_f64().unwrap().to_le_bytes()).collect();
    let list = npy("<f8", &format!("({},)", factors.len()), &bytes);
    fs::write(folder.path().join("result/feature_weights_0.npy"), list).unwrap();
    assert_eq!(succeed(folder.path(), "predict result set.npy").0, expected);
    // What is not a preparation is refused.
    for (wrong, told) in [
        ("{", "is not what 'orthant cluster' writes"),
        ("{\"steps\": [{\"weighting\": \"magic\"}]}", "magic"),
    ] {
        fs::write(&kept, wrong).unwrap();
        let refused = crate::support::run(folder.path(), "predict result set.npy");
        assert_eq!(refused.status.code(), Some(2));
        assert!(texts(&refused).1.contains(told), "{}", texts(&refused).1);
    }
}

#[test]
fn standard_input_is_a_file_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = orthant(folder.path())
        .args(["info", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"id,a,b\n7,1,2\n9,3,4\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let (out, err) = texts(&output);
    let about: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((about["points"].as_u64(), about["features"].as_u64()), (Some(2), Some(2)));
    assert!(err.contains("column \"id\" numbers the rows"), "{err}");
}

#[test]
fn the_program_reads_back_the_tables_it_writes() {
    let folder = tempfile::tempdir().unwrap();
    let data: Vec<u8> = (0..2 * 40_000).flat_map(|i| f64::from(i % 977).to_le_bytes()).collect();
    fs::write(folder.path().join("wide.npy"), npy("<f8", "(2, 40000)", &data)).unwrap();
    succeed(folder.path(), "convert wide.npy wide.csv");
    succeed(folder.path(), "convert wide.csv back.npy");
    let (first, back) = (fs::read(folder.path().join("wide.npy")), fs::read(folder.path().join("back.npy")));
    assert_eq!(first.unwrap()[128..], back.unwrap()[128..]);
}

#[test]
fn points_without_a_class_are_not_scored() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.csv"), "1,0\n2,0\n0,1\n0,2\n0,3\n3,0\n").unwrap();
    fs::write(folder.path().join("truth.csv"), "point,class\n1,a\n2,a\n3,b\n4,b\n5,0\n6,0\n").unwrap();
    let truth = "cluster x.csv -k 2 --truth truth.csv --truth-column class --json";
    assert_eq!(object(folder.path(), truth)["scored_points"], 6);
    let known = object(folder.path(), &format!("{truth} --unlabelled 0"));
    assert_eq!((known["scored_points"].as_u64(), known["accuracy"].as_f64()), (Some(4), Some(1.0)));
}

#[test]
fn a_map_in_the_wrong_order_is_doubted() {
    let folder = tempfile::tempdir().unwrap();
    // 12 x 8 pixels, the left half of one material and the right half of another, row after row.
    let row = [[1.0, 0.1]; 4].into_iter().chain([[0.1, 1.0]; 4]);
    let pixels: Vec<[f64; 2]> = (0..12).flat_map(|_| row.clone()).collect();
    let bytes: Vec<u8> = pixels.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    fs::write(folder.path().join("pixels.npy"), npy("<f8", "(96, 2)", &bytes)).unwrap();
    fs::write(folder.path().join("cube.npy"), npy("<f8", "(12, 8, 2)", &bytes)).unwrap();
    let told = |arguments: &str| succeed(folder.path(), arguments).1;
    let doubt = "the map is much smoother with --image 12x8 --scan rows";
    assert!(told("cluster pixels.npy -k 2 --image 12x8").contains(doubt));
    assert!(!told("cluster pixels.npy -k 2 --image 12x8 --scan rows").contains("smoother"));
    assert!(!told("cluster cube.npy -k 2").contains("smoother"));
}

/// A square map in the other order is as smooth as before, mirrored: only classes can tell, in a list or as a map.
#[test]
fn classes_in_the_other_order_are_doubted_on_square_scenes_too() {
    let folder = tempfile::tempdir().unwrap();
    let is_left = |pixel: usize| pixel % 10 < 4;
    let spectrum = |pixel: usize| if is_left(pixel) { [1.0f64, 0.1] } else { [0.1, 1.0] };
    let cube: Vec<u8> = (0..100).flat_map(spectrum).flat_map(f64::to_le_bytes).collect();
    fs::write(folder.path().join("pixels.npy"), npy("<f8", "(100, 2)", &cube)).unwrap();
    fs::write(folder.path().join("cube.npy"), npy("<f8", "(10, 10, 2)", &cube)).unwrap();
    let map: Vec<u8> = (0..100).flat_map(|p| f64::from(u8::from(is_left(p))).to_le_bytes()).collect();
    fs::write(folder.path().join("map.npy"), npy("<f8", "(10, 10)", &map)).unwrap();
    let list = |at: fn(usize) -> usize| (0..100).map(|p| format!("{}\n", is_left(at(p)))).collect::<String>();
    fs::write(folder.path().join("by-rows.txt"), list(|p| p)).unwrap();
    fs::write(folder.path().join("by-columns.txt"), list(|p| p % 10 * 10 + p / 10)).unwrap();
    let doubts = |arguments: &str| {
        let told = succeed(folder.path(), &format!("cluster {arguments} -k 2")).1;
        assert!(!told.contains("smoother"), "{told}");
        told.contains("the classes fit the map much better (NMI 100.0 %, not 0.0 %)")
    };
    assert!(doubts("cube.npy --truth by-columns.txt"));
    assert!(!doubts("cube.npy --truth by-rows.txt") && !doubts("cube.npy --truth map.npy"));
    // The list and the pixels are in one order, whatever it is called; a map says what it is.
    assert!(!doubts("pixels.npy --image 10x10 --scan columns --truth by-rows.txt"));
    assert!(doubts("pixels.npy --image 10x10 --scan columns --truth map.npy"));
    assert!(!doubts("pixels.npy --image 10x10 --scan rows --truth map.npy"));
}

#[test]
fn features_are_found_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.csv"), "a,b,c\n1,0,0\n2,0,0.1\n0,1,0\n0,2,0.1\n").unwrap();
    fs::write(folder.path().join("turned.csv"), "c,b,other,a\n0,0,5,1\n0.1,0,5,2\n0,1,5,0\n0.1,2,5,0\n")
        .unwrap();
    succeed(folder.path(), "cluster x.csv -k 2 --out result -q");
    let labels = fs::read_to_string(folder.path().join("result/labels.txt")).unwrap();
    assert_eq!(succeed(folder.path(), "predict result turned.csv").0, labels);
}

#[test]
fn what_was_typed_in_other_programs_is_understood() {
    let folder = folder();
    for flag in ["--k", "--clusters", "--n-clusters"] {
        succeed(
            folder.path(),
            &format!("cluster set.npy {flag} 6 --algorithm em-onmf --weighting tf-idf+unit -q"),
        );
    }
    for part in ["fig1", "Fig.1", "FIGURE-1"] {
        succeed(folder.path(), &format!("reproduce {part} --out {part} -q"));
    }
    succeed(folder.path(), "choose-k set.npy 2-3 --runs 1 --halves 1 --out ks -q");
    let refused = |arguments: &str| {
        let output = crate::support::run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        texts(&output).1
    };
    let told = refused("predict ks set.npy");
    assert!(told.contains("is it of 'choose-k'") && told.contains("'orthant cluster --out'"), "{told}");
    // Labels beside the file that fit its columns are asked about.
    let columns: String = (0..10).map(|i| format!("{}\n", i % 2)).collect();
    fs::copy(folder.path().join("set.npy"), folder.path().join("turned.npy")).unwrap();
    fs::write(folder.path().join("turned.labels"), columns).unwrap();
    let (_, told) = succeed(folder.path(), "cluster turned.npy -k 3 --algorithm em-onmf");
    assert!(
        told.contains("as many labels beside it as columns: are those the points (--cluster columns)?"),
        "{told}"
    );
    let told = refused("cluster set.npy -k 3 --cluster columns --truth set.labels");
    assert!(told.contains("is the other way of --cluster rows or columns meant?"), "{told}");
    write_texts(folder.path());
    // The names that scikit-learn has for them.
    let words = "cluster corpus -k 3 --min-df 2 --max-df 0.9 --max-features 12 --stop-words english --json";
    assert_eq!(object(folder.path(), words)["features"], 12);
    let stems = object(folder.path(), "cluster corpus -k 3 --stem --out stems --json");
    assert_eq!(stems["accuracy"], 1.0);
    let kept = fs::read_to_string(folder.path().join("stems/preparation.json")).unwrap();
    assert!(kept.contains("\"stem\":\"english\"") && kept.contains("\"chees\""), "{kept}");
    let labels = fs::read_to_string(folder.path().join("stems/labels.txt")).unwrap();
    assert_eq!(succeed(folder.path(), "predict stems corpus").0, labels);
}

#[test]
fn entries_that_are_missing_have_no_say_and_new_points_may_have_gaps_too() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path();
    // Two rays; the second half of a table is the first without some of its entries.
    let mut table = String::from("a,b,c,d\n");
    for j in 0..40 {
        let s = 1.0 + (j % 7) as f64;
        let (ray, gap) = (if j % 2 == 0 { [1.0, 4.0, 2.0, 0.5] } else { [3.0, 0.2, 1.0, 2.0] }, j / 2 % 5);
        let fields: Vec<String> =
            (0..4).map(|f| if f == gap { String::new() } else { (s * ray[f]).to_string() }).collect();
        table.push_str(&(fields.join(",") + "\n"));
    }
    std::fs::write(folder.join("gaps.csv"), table).unwrap();
    for method in ["auto", "best", "kl-onmf", "spherical-k-means"] {
        succeed(
            folder,
            &format!("cluster gaps.csv -k 2 -a {method} --runs 10 --missing ignore --out found --force -q"),
        );
        let labels = std::fs::read_to_string(folder.join("found/labels.txt")).unwrap();
        let labels: Vec<&str> = labels.lines().collect();
        assert!(labels.iter().enumerate().all(|(j, label)| *label == labels[j % 2]), "{method}: {labels:?}");
        let summary = std::fs::read_to_string(folder.join("found/summary.json")).unwrap();
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        assert_eq!(summary["missing_entries"], 32, "{method}");
        // Distributions are smoothed, so KL-ONMF leaves something.
        let most = if method == "kl-onmf" { 0.05 } else { 1e-3 };
        let error = summary["observed_relative_error"].as_f64().unwrap();
        assert!(error < most, "{method}: {error}");
        let (predicted, _) = succeed(folder, "predict found gaps.csv");
        assert_eq!(predicted.lines().collect::<Vec<_>>(), labels, "{method}");
    }
}
