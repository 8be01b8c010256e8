//! Every command on small files.

use std::fs;

use crate::support::{contents, folder, npy, numbers, object, run, succeed, texts};
use serde_json::Value;

const KEYS: &[&str] = &[
    "algorithm",
    "k",
    "points",
    "features",
    "nonzeros",
    "zero_points",
    "seed",
    "threads",
    "read_seconds",
    "relative_error",
    "lower_bound",
    "bound",
    "at_most_above_best",
    "energy_share",
    "orthogonality_residual",
    "smallest_entry",
    "singular_values",
    "objective",
    "iterations",
    "seconds",
    "certificate_seconds",
    "stopped",
    "sizes",
    "energies",
    "refilled_points",
    "points_nearer_to_another_cluster",
    "iterate_negativity",
    "iterate_orthogonality",
    "best_run",
    "left_behind",
    "runs",
];
const TRUTH_KEYS: &[&str] = &["accuracy", "nmi", "ari", "purity", "scored_points"];

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn json_has_exactly_the_keys_that_are_promised() {
    let folder = folder();
    let plain = object(folder.path(), "cluster bare.npy -k 6 --json");
    assert_eq!(keys(&plain), [KEYS, &["chosen", "clusters"]].concat());
    let with_truth = [KEYS, TRUTH_KEYS, &["chosen", "clusters"]].concat();
    assert_eq!(keys(&object(folder.path(), "cluster set.npy -k 6 --json")), with_truth);
    let scored = object(folder.path(), "cluster bare.npy -k 6 --json --truth set.labels");
    assert_eq!(keys(&scored), with_truth);
    assert!(scored["accuracy"].as_f64().unwrap() > 0.9);
    assert_eq!((scored["points"].as_u64(), scored["features"].as_u64()), (Some(450), Some(10)));
    let (error, bound) =
        (scored["relative_error"].as_f64().unwrap(), scored["lower_bound"].as_f64().unwrap());
    assert!(0.0 < bound && bound <= error && error < 0.2);
    assert!(scored["orthogonality_residual"].as_f64().unwrap() < 1e-12);
    let sizes = scored["sizes"].as_array().unwrap();
    assert_eq!(sizes.iter().map(|s| s.as_u64().unwrap()).sum::<u64>(), 450);
}

#[test]
fn a_certificate_says_how_far_from_the_best_the_error_is_at_most() {
    let folder = folder();
    let plain = object(folder.path(), "cluster set.npy -k 6 --json -a best --certificate singular");
    let closer = object(folder.path(), "cluster set.npy -k 6 --json -a best --certificate quick");
    // Cheap as it is here, it comes unasked, but not under a model that it says nothing of.
    let unasked = object(folder.path(), "cluster set.npy -k 6 --json -a best");
    assert_eq!(unasked["lower_bound"], closer["lower_bound"]);
    let other = object(folder.path(), "cluster set.npy -k 6 --json -a k-means");
    assert_eq!(other["bound"], "singular");
    assert_eq!((plain["bound"].as_str(), closer["bound"].as_str()), (Some("singular"), Some("dual")));
    assert_eq!(plain["relative_error"], closer["relative_error"]);
    let number = |of: &Value, key: &str| of[key].as_f64().unwrap();
    assert!(number(&plain, "lower_bound") < number(&closer, "lower_bound"));
    let above = number(&closer, "relative_error") / number(&closer, "lower_bound") - 1.0;
    assert_eq!(number(&closer, "at_most_above_best"), above);
    assert!(above < number(&plain, "at_most_above_best"));
    let (_, told) = succeed(folder.path(), "cluster set.npy -k 6 --certificate quick");
    assert!(told.contains("% above the best possible") && told.contains("no partition into 6"), "{told}");
    let refused = run(folder.path(), "cluster set.npy -k 6 --certificate slow");
    assert_eq!(refused.status.code(), Some(2));
    assert!(texts(&refused).1.contains("there are auto, singular, quick, thorough"));
}

#[test]
fn there_is_one_entry_for_every_run_and_the_best_is_on_top() {
    let folder = folder();
    let all = object(folder.path(), "cluster set.npy -k 6 -a em-onmf --runs 7 --json --truth set.labels");
    let runs = all["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 7);
    let least = runs.iter().map(|r| r["objective"].as_f64().unwrap()).fold(f64::INFINITY, f64::min);
    assert_eq!(all["objective"].as_f64().unwrap(), least);
    for run in runs {
        for key in ["objective", "relative_error", "iterations", "stopped", "accuracy", "nmi", "ari"] {
            assert!(run.get(key).is_some(), "{key}");
        }
    }
    // More cosine is better.
    let all = object(folder.path(), "cluster set.npy -k 6 -a spherical-k-means --runs 7 --json");
    let most = all["runs"].as_array().unwrap().iter().map(|r| r["objective"].as_f64().unwrap());
    assert_eq!(all["objective"].as_f64().unwrap(), most.fold(f64::NEG_INFINITY, f64::max));
}

#[test]
fn every_method_runs_from_every_start() {
    let folder = folder();
    let methods = object(folder.path(), "methods --json");
    for method in methods.as_object().unwrap().keys() {
        for start in ["random", "residual", "svd", "nndsvd", "labels:set.labels"] {
            let limit = "--max-iterations 20";
            let out = object(
                folder.path(),
                &format!("cluster set.npy -k 6 -a {method} --start {start} {limit} --json"),
            );
            assert_eq!(out["algorithm"].as_str(), Some(method.as_str()));
            assert!(out["relative_error"].as_f64().unwrap() < 1.0, "{method} {start}");
        }
    }
}

#[test]
fn the_answer_is_the_same_for_any_number_of_threads() {
    let folder = folder();
    for method in ["-a onp-mf --max-iterations 200", "-a em-onmf --runs 5", "-a k-means --runs 3", ""] {
        let mut seen = vec![];
        for threads in [1, 2, 7] {
            let arguments =
                format!("cluster set.npy -k 6 {method} --seed 5 --json --threads {threads} --out result -q");
            let mut out = object(folder.path(), &arguments);
            assert_eq!(out["threads"].as_u64(), Some(threads));
            for key in ["threads", "seconds", "read_seconds", "certificate_seconds"] {
                out.as_object_mut().unwrap().remove(key);
            }
            let mut files = contents(&folder.path().join("result"));
            files.retain(|name, _| name.ends_with(".npy") || name.ends_with(".txt"));
            assert!(files.len() >= 3);
            seen.push((out, files));
            fs::remove_dir_all(folder.path().join("result")).unwrap();
        }
        assert!(seen.iter().all(|s| *s == seen[0]), "{method}");
    }
}

#[test]
fn a_result_has_its_files_and_its_numbers_fit() {
    let folder = folder();
    let (out, err) = succeed(folder.path(), "cluster set.npy -k 6 --truth set.labels --out deep/result");
    assert!(out.is_empty(), "{out}");
    assert!(err.contains("relative error") && err.contains("accuracy"), "{err}");
    let files = contents(&folder.path().join("deep/result"));
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    for name in ["labels.txt", "labels.csv", "components.npy", "strengths.npy", "summary.json", "report.html"]
    {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(!contents(folder.path()).keys().any(|name| name.contains(".part")));
    let summary: Value = serde_json::from_slice(&files["summary.json"]).unwrap();
    for key in
        KEYS.iter().chain(TRUTH_KEYS).chain(&["rule", "start", "polish", "parameters", "files", "program"])
    {
        assert!(summary.get(*key).is_some(), "{key}");
    }
    assert_eq!(summary["rule"]["name"], "power");

    // ‖M − UV‖/‖M‖ and VVᵀ = I from the files alone.
    let labels: Vec<usize> =
        String::from_utf8_lossy(&files["labels.txt"]).lines().map(|l| l.parse().unwrap()).collect();
    let (u, v) = (numbers(&files["components.npy"]), numbers(&files["strengths.npy"]));
    let m = numbers(&fs::read(folder.path().join("set.npy")).unwrap());
    assert_eq!((labels.len(), u.len(), v.len(), m.len()), (450, 60, 450, 4500));
    let (mut residual, mut norm, mut squares) = (0.0, 0.0, [0.0; 6]);
    for (j, &i) in labels.iter().enumerate() {
        squares[i] += v[j] * v[j];
        for f in 0..10 {
            residual += (m[j * 10 + f] - u[i * 10 + f] * v[j]).powi(2);
            norm += m[j * 10 + f].powi(2);
        }
    }
    assert!(squares.iter().all(|s| (s - 1.0f64).abs() < 1e-12), "{squares:?}");
    assert!(((residual / norm).sqrt() - summary["relative_error"].as_f64().unwrap()).abs() < 1e-12);
}

/// U and V had other names once, and KL-ONMF had the sums of its points where it has distributions now.
#[test]
fn older_results_are_read_as_they_were() {
    let folder = folder();
    let result = folder.path().join("result");
    for method in ["em-onmf", "kl-onmf", "spherical-k-means"] {
        succeed(folder.path(), &format!("cluster set.npy -k 6 -a {method} --out result --force -q"));
        let labels = succeed(folder.path(), "predict result set.npy").0;
        let mut summary = fs::read_to_string(result.join("summary.json")).unwrap();
        for (now, before) in [
            ("components.npy", "centroids.npy"),
            ("strengths.npy", "weights.npy"),
            ("distributions.npy", "centers.npy"),
        ] {
            summary = summary.replace(now, before);
            if result.join(now).exists() {
                fs::rename(result.join(now), result.join(before)).unwrap();
            }
        }
        fs::write(result.join("summary.json"), summary).unwrap();
        if method == "kl-onmf" {
            let own = fs::read_to_string(result.join("labels.txt")).unwrap();
            let mut sums = [0.0; 60];
            let m = numbers(&fs::read(folder.path().join("set.npy")).unwrap());
            for (point, label) in m.chunks(10).zip(own.lines()) {
                let cluster: usize = label.parse().unwrap();
                sums[cluster * 10..][..10].iter_mut().zip(point).for_each(|(sum, x)| *sum += x);
            }
            let bytes: Vec<u8> = sums.iter().flat_map(|x: &f64| x.to_le_bytes()).collect();
            fs::write(result.join("centers.npy"), npy("<f8", "(6, 10)", &bytes)).unwrap();
        }
        assert_eq!(succeed(folder.path(), "predict result set.npy").0, labels, "{method}");
    }
}

#[test]
fn labels_come_as_a_table_and_alone() {
    let folder = tempfile::tempdir().unwrap();
    let table = "name,red,green,both\n\"a, first\",4,0,2\nb,8,0,4\nc,0,5,3\nd,0,0,0\n";
    fs::write(folder.path().join("x.csv"), table).unwrap();
    let (labels, _) = succeed(folder.path(), "cluster x.csv -k 2 -a em-onmf --labels-only -q --out result");
    let result = contents(&folder.path().join("result"));
    assert_eq!(labels.as_bytes(), result["labels.txt"]);
    assert_eq!(labels, "0\n0\n1\n-1\n");
    let rows: Vec<&str> = std::str::from_utf8(&result["labels.csv"]).unwrap().lines().collect();
    assert_eq!(rows[0], "name,cluster,strength,margin,second");
    // Own and second score of the first point: |(4, 0, 2)| and 2·3/√34.
    let margin = 1.0 - 2.0 * 3.0 / 34f64.sqrt() / 20f64.sqrt();
    let fields: Vec<&str> = rows[1].strip_prefix("\"a, first\",").unwrap().split(',').collect();
    assert_eq!((fields[0], fields[3]), ("0", "1"));
    assert!((fields[1].parse::<f64>().unwrap() - 1.0 / 5f64.sqrt()).abs() < 1e-12, "{}", rows[1]);
    assert!((fields[2].parse::<f64>().unwrap() - margin).abs() < 1e-6, "{} {margin}", rows[1]);
    // A point without a cluster has no margin and no second one.
    assert_eq!(rows[4], "d,-1,0,,");
    let summary: Value = serde_json::from_slice(&result["summary.json"]).unwrap();
    let first = &summary["clusters"][0];
    assert_eq!((first["size"].as_u64(), first["features"][0]["feature"].as_str()), (Some(2), Some("red")));
    assert_eq!(first["markers"][0]["feature"], "red");
    assert_eq!(summary["clusters"][1]["markers"][0]["feature"], "green");
}

#[test]
fn force_replaces_our_files_and_leaves_others_alone() {
    let folder = folder();
    succeed(folder.path(), "cluster set.npy -k 6 -a k-means --out result -q");
    let result = folder.path().join("result");
    assert!(result.join("centers.npy").exists());
    fs::write(result.join("notes.txt"), "mine").unwrap();
    let before = contents(&result);
    assert_eq!(run(folder.path(), "cluster set.npy -k 6 --out result -q").status.code(), Some(2));
    assert_eq!(contents(&result), before);
    succeed(folder.path(), "cluster set.npy -k 6 -a em-onmf --start residual --out result --force -q");
    let after = contents(&result);
    assert_eq!(after["notes.txt"], b"mine");
    assert!(!after.contains_key("centers.npy"), "a file of the old result is gone");
    assert_ne!(after["summary.json"], before["summary.json"]);
}

#[test]
fn quiet_says_nothing() {
    let folder = folder();
    let output = run(folder.path(), "cluster set.npy -k 6 --quiet --runs 3 --out result");
    assert_eq!(texts(&output), (String::new(), String::new()));
    let output = run(folder.path(), "cluster set.npy -k 6 --quiet --json");
    assert!(texts(&output).1.is_empty());
}

#[test]
fn points_that_were_clustered_are_predicted_as_they_were() {
    let folder = folder();
    for method in [
        "em-onmf --start residual",
        "k-means",
        "spherical-k-means",
        "em-onmf --weighting tf-idf,unit",
        "k-means --weighting unit",
    ] {
        succeed(folder.path(), &format!("cluster set.npy -k 6 -a {method} --out result -q"));
        let (labels, _) = succeed(folder.path(), "predict result set.npy");
        let expected = fs::read_to_string(folder.path().join("result/labels.txt")).unwrap();
        assert_eq!(labels, expected, "{method}");
        succeed(folder.path(), "predict result set.npy --out new.txt");
        assert_eq!(fs::read_to_string(folder.path().join("new.txt")).unwrap(), expected);
        fs::remove_dir_all(folder.path().join("result")).unwrap();
        fs::remove_file(folder.path().join("new.txt")).unwrap();
    }
}

#[test]
fn columns_are_clustered_and_predicted_as_columns() {
    let folder = folder();
    succeed(folder.path(), "convert set.npy --transpose turned.mtx -q");
    let rows = object(folder.path(), "cluster set.npy -k 6 --json");
    let columns = object(folder.path(), "cluster turned.mtx -k 6 --cluster columns --json --out result");
    assert_eq!(rows["sizes"], columns["sizes"]);
    assert_eq!(rows["relative_error"], columns["relative_error"]);
    let (labels, _) = succeed(folder.path(), "predict result turned.mtx");
    assert_eq!(labels, fs::read_to_string(folder.path().join("result/labels.txt")).unwrap());
    let (same, _) = succeed(folder.path(), "predict result set.npy --cluster rows");
    assert_eq!(same, labels);
}

#[test]
fn integer_weights_are_repeated_points() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("once.csv"), "1,0\n2,1\n0,3\n1,4\n").unwrap();
    fs::write(folder.path().join("often.csv"), "1,0\n1,0\n1,0\n2,1\n0,3\n0,3\n1,4\n").unwrap();
    fs::write(folder.path().join("weights.txt"), "3\n1\n2\n1\n").unwrap();
    let start = "-a em-onmf --start svd --json";
    let weighted = object(folder.path(), &format!("cluster once.csv -k 2 --weights weights.txt {start}"));
    let repeated = object(folder.path(), &format!("cluster often.csv -k 2 {start}"));
    let error = |o: &Value| o["relative_error"].as_f64().unwrap();
    assert!((error(&weighted) - error(&repeated)).abs() < 1e-12);
}

#[test]
fn precision_is_what_was_asked_for() {
    let folder = folder();
    let about = object(folder.path(), "info set.npy --json --precision f32");
    assert_eq!(about["precision"], "float32");
    assert_eq!(object(folder.path(), "info set.npy --json")["precision"], "float64");
    let single: Vec<u8> = (0..8).flat_map(|i| (i as f32).to_le_bytes()).collect();
    fs::write(folder.path().join("single.npy"), npy("<f4", "(4, 2)", &single)).unwrap();
    assert_eq!(object(folder.path(), "info single.npy --json")["precision"], "float32");
    object(folder.path(), "cluster single.npy -k 2 --precision f64 --json");
}

#[test]
fn labels_of_the_format_are_the_truth_unless_another_is_given() {
    let folder = folder();
    let lines = ["a 1:1 2:0.1", "b 1:0.1 2:1", "a 1:2 2:0.1", "b 2:3"];
    fs::write(folder.path().join("set.svmlight"), lines.join("\n").replace('a', "1").replace('b', "2"))
        .unwrap();
    fs::write(folder.path().join("other.txt"), "x\nx\ny\ny\n").unwrap();
    assert_eq!(object(folder.path(), "cluster set.svmlight -k 2 --json")["accuracy"], 1.0);
    assert_eq!(object(folder.path(), "cluster set.svmlight -k 2 --truth other.txt --json")["accuracy"], 0.5);
}

#[test]
fn evaluate_shows_scores_and_the_confusion() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("labels.txt"), "0\n0\n1\n1\n-1\n").unwrap();
    fs::write(folder.path().join("truth.txt"), "cat\ncat\ndog\ncat\ndog\n").unwrap();
    let (text, _) = succeed(folder.path(), "evaluate labels.txt truth.txt");
    assert!(
        text.contains("75.00 %") && text.contains("cat") && text.contains("1 without a cluster"),
        "{text}"
    );
    let scores = object(folder.path(), "evaluate labels.txt truth.txt --json");
    assert_eq!(scores["accuracy"], 0.75);
    assert_eq!(scores["scored_points"], 4);
    assert_eq!(scores["confusion"], serde_json::json!([[2, 0], [1, 1]]));
    // A result, or its table, instead of its labels; and the classes in a table of their own.
    let table =
        "name,cluster,strength,margin,second\na,0,1,1,1\nb,0,1,1,1\nc,1,1,1,0\n\"d, e\",1,1,1,0\nf,-1,0,,\n";
    fs::write(folder.path().join("labels.csv"), table).unwrap();
    fs::write(folder.path().join("truth.csv"), "id,kind,size\n1,cat,3\n2,cat,3\n3,dog,3\n4,cat,3\n5,dog,3\n")
        .unwrap();
    for way in [". truth.txt", "labels.csv truth.txt", "labels.csv truth.csv --truth-column kind"] {
        assert_eq!(object(folder.path(), &format!("evaluate {way} --json")), scores, "{way}");
    }
}

#[test]
fn compare_has_a_row_for_every_method_and_start() {
    let folder = folder();
    let arguments = "compare set.npy -k 6 --truth set.labels --runs 2 --max-iterations 30 --out result";
    let (table, _) = succeed(folder.path(), arguments);
    for title in [
        "ONP-MF",
        "ONP-MF + EM",
        "EM-ONMF",
        "CHNMF",
        "CH(SVD)",
        "O-PNMF",
        "O-P(SVD)",
        "k-means",
        "spherical k-means",
    ] {
        assert!(table.contains(&format!("\n{title}  ")), "{title}\n{table}");
    }
    assert!(table.contains("accuracy") && table.contains('±') && table.contains('*'));
    let files = contents(&folder.path().join("result"));
    // The majority class of a cluster has at least as many of its points as the class that it is matched with.
    assert!(table.contains("purity %"), "{table}");
    let summary: Value = serde_json::from_slice(&files["summary.json"]).unwrap();
    for method in summary["methods"].as_array().unwrap() {
        let mean = |score: &str| method[score]["mean"].as_f64().unwrap();
        assert!((mean("accuracy") - 1e-12..=1.0).contains(&mean("purity")), "{method}");
    }
    for name in ["compare.csv", "summary.json", "report.html"] {
        assert!(files.contains_key(name), "{name}");
    }
}

#[test]
fn the_limit_of_compare_is_one_of_the_multiplicative_methods() {
    let folder = folder();
    let errors = |limit: &str| {
        let all = object(
            folder.path(),
            &format!("compare set.npy -k 6 --methods best,chnmf:random --json {limit}"),
        );
        [0, 1].map(|at| all["methods"][at]["relative_error"].clone())
    };
    let (limited, free) = (errors("--runs 1 --max-iterations 2"), errors("--runs 1"));
    assert_eq!(limited[0], free[0]);
    assert_ne!(limited[1], free[1]);
}

#[test]
fn compare_without_a_truth_and_for_machines() {
    let folder = folder();
    let arguments = "compare bare.npy -k 6 --runs 3 --methods em-onmf:residual,onp-mf+em,k-means";
    let all = object(folder.path(), &format!("{arguments} --json"));
    let names: Vec<&str> =
        all["methods"].as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["em-onmf:residual", "onp-mf:svd+em", "k-means:random", "k-means:residual"]);
    assert!(all["methods"][0].get("accuracy").is_none());
    assert_eq!(all["methods"][0]["runs"], 3);
    assert_eq!(all["methods"][1]["runs"], 1);
    let (csv, _) = succeed(folder.path(), &format!("{arguments} --csv"));
    let columns: Vec<usize> = csv.lines().map(|line| line.matches(',').count()).collect();
    assert_eq!(columns, vec![columns[0]; 5], "{csv}");
    let (table, _) = succeed(folder.path(), arguments);
    assert!(!table.contains("accuracy"));
}

#[test]
fn compare_goes_on_where_a_method_refuses_the_data() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("signed.csv"), "1,-2\n3,4\n-5,6\n7,-8\n").unwrap();
    let (table, _) = succeed(folder.path(), "compare signed.csv -k 2 --runs 2");
    // What several refuse is said once.
    assert!(table.contains("ONP-MF, ") && table.matches(": the entry is negative").count() == 1, "{table}");
    let all = object(folder.path(), "compare signed.csv -k 2 --runs 2 --json");
    for method in all["methods"].as_array().unwrap() {
        // Only the two kinds of k-means know negative numbers.
        let name = method["name"].as_str().unwrap();
        assert_eq!(method.get("problem").is_none(), name.contains("k-means"), "{name}");
    }
    let (csv, _) = succeed(folder.path(), "compare signed.csv -k 2 --runs 2 --csv");
    assert!(csv.contains("\"the entry is negative"), "{csv}");
    // The line that explains a refusal has as many cells as the others.
    let commas = |line: &str| line.split('"').next().unwrap().matches(',').count();
    let header = commas(csv.lines().next().unwrap());
    assert!(csv.lines().all(|line| commas(line) == header), "{csv}");
}

#[test]
fn every_generator_writes_data_that_can_be_clustered() {
    let folder = tempfile::tempdir().unwrap();
    // The clusters in line lie in one direction: no method of directions tells them apart.
    let sets = [("synthetic", 6, 0.6), ("plane", 2, 0.5), ("swimmer", 17, 0.9), ("telescope", 8, 0.6)];
    for (what, k, least) in sets {
        succeed(folder.path(), &format!("generate {what} --out {what}.npy"));
        let arguments = format!(
            "cluster {what}.npy -k {k} -a em-onmf --start residual --truth {what}.labels --out {what} --json"
        );
        assert!(object(folder.path(), &arguments)["accuracy"].as_f64().unwrap() >= least, "{what}");
    }
    let files = contents(folder.path());
    // The points of the swimmer and the telescope are pixels, and the program finds that out.
    assert!(
        files.contains_key("swimmer/segmentation.png") && files.contains_key("telescope/segmentation.png")
    );
    assert!(files.contains_key("telescope.json") && !files.contains_key("synthetic.json"));
    succeed(folder.path(), "generate plane --example in-line --out plane.npy --force");
}

#[test]
fn a_scene_is_mixed_from_files() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("e.csv"), "1,0\n0.5,0.5\n0,1\n").unwrap();
    fs::write(folder.path().join("a.csv"), "1,0.9,0,0.1\n0,0.1,1,0.9\n").unwrap();
    succeed(
        folder.path(),
        "generate scene --endmembers e.csv --abundances a.csv --image 2x2 --out scene.npy",
    );
    let about = object(folder.path(), "info scene.npy --json");
    assert_eq!((about["points"].as_u64(), about["features"].as_u64()), (Some(4), Some(3)));
    assert_eq!(fs::read_to_string(folder.path().join("scene.labels")).unwrap(), "1\n1\n2\n2\n");
}

#[test]
fn formats_lead_back_to_the_same_matrix() {
    let folder = folder();
    let original = fs::read(folder.path().join("set.npy")).unwrap();
    let mut last = "set.npy".to_string();
    for ending in ["mtx", "mtx.gz", "csv", "tsv.zst", "npz", "svmlight", "cluto", "npy"] {
        let next = format!("copy.{ending}");
        succeed(folder.path(), &format!("convert {last} {next} -q"));
        last = next;
    }
    assert_eq!(fs::read(folder.path().join("copy.npy")).unwrap(), original);
}

#[test]
fn info_tells_what_would_be_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("odd.csv"), "1,0,-2\n0,0,0\n3,0,4\n").unwrap();
    let about = object(folder.path(), "info odd.csv --json");
    assert_eq!(about["nonzeros"], 4);
    assert_eq!(about["zero_points"], 1);
    assert_eq!(about["zero_features"], 1);
    assert_eq!(about["norm"], 30f64.sqrt());
    assert_eq!(about["largest_point_norm"], 5.0);
    assert_eq!(about["refused"].as_array().unwrap().len(), 1);
    let (text, _) = succeed(folder.path(), "info odd.csv");
    assert!(text.contains("the entry at row 0, column 2 is negative (-2)"), "{text}");
    let (text, _) = succeed(folder.path(), "info odd.csv --cluster columns");
    assert!(text.contains("row 0, column 2"), "{text}");
}

#[test]
fn zero_points_get_no_cluster_and_are_told_of() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("zeros.csv"), "1,0\n0,0\n0,2\n3,0\n").unwrap();
    let (_, err) = succeed(folder.path(), "cluster zeros.csv -k 2 --out result");
    assert!(err.contains("1 of 4 points are zero"), "{err}");
    assert_eq!(fs::read_to_string(folder.path().join("result/labels.txt")).unwrap(), "0\n-1\n1\n0\n");
}

#[test]
fn an_image_may_lie_on_points_or_features() {
    let folder = folder();
    succeed(folder.path(), "cluster set.npy -k 6 --image 15x30 --scan rows --out pixels -q");
    succeed(folder.path(), "cluster set.npy -k 6 --image 5x2 --out pictures -q");
    assert!(folder.path().join("pixels/segmentation.png").exists());
    assert!(!folder.path().join("pictures/segmentation.png").exists());
}

#[test]
fn the_demo_needs_nothing_and_replaces_only_itself() {
    let folder = tempfile::tempdir().unwrap();
    let (text, _) = succeed(folder.path(), "demo --sets 1 --runs 1");
    for word in ["ONP-MF + EM", "CH(SVD)", " noise ", " parts ", "500 iterations", "report.html"] {
        assert!(text.contains(word), "{word}\n{text}");
    }
    let files = contents(&folder.path().join("orthant-demo"));
    assert!(files.contains_key("report.html") && files.contains_key("summary.json"));
    let again = object(folder.path(), "demo --sets 1 --runs 1 --json --threads 1");
    let swimmer = again["swimmer"].as_array().unwrap();
    assert_eq!(swimmer.iter().find(|row| row["method"] == "ONP-MF + EM").unwrap()["parts"], 17.0);
}
