//! Ctrl-C: the best so far is written, and the exit code says so.
#![cfg(unix)]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{contents, listening, succeed, texts};

/// A run that would take hours.
const ENDLESS: &str =
    "cluster big.npy -k 8 -a chnmf --tolerance 0 --max-iterations 1000000000 --json --out result";

fn begin(folder: &Path, arguments: &str) -> Child {
    succeed(folder, "generate telescope --noise 0.01 --out big.npy");
    listening(folder)
        .args(arguments.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    assert!(sent.success());
}

#[test]
fn the_first_one_writes_the_best_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let child = begin(folder.path(), ENDLESS);
    std::thread::sleep(Duration::from_secs(3));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    let (out, err) = texts(&output);
    assert_eq!(output.status.code(), Some(130), "{err}");
    assert!(err.contains("stopping with the best so far"), "{err}");
    let object: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(object["stopped"], "cancelled");
    assert!(object["iterations"].as_u64().unwrap() >= 1);
    let files = contents(folder.path());
    for name in ["result/labels.txt", "result/summary.json", "result/report.html"] {
        assert!(files.contains_key(name), "{name}");
    }
    assert!(!files.keys().any(|name| name.contains(".part")));
}

#[test]
fn the_second_one_ends_at_once_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = begin(folder.path(), ENDLESS);
    std::thread::sleep(Duration::from_secs(3));
    let begun = Instant::now();
    // The second may come before the first has been dealt with, or after it all: it is sent until the end.
    while child.try_wait().unwrap().is_none() {
        interrupt(&child);
        assert!(begun.elapsed() < Duration::from_secs(30), "the program does not end");
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!contents(folder.path()).keys().any(|name| name.contains(".part")));
}

#[test]
fn a_comparison_shows_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let child = begin(folder.path(), "compare big.npy -k 8 --runs 1000000 --methods em-onmf:residual,chnmf");
    std::thread::sleep(Duration::from_secs(3));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    let (out, err) = texts(&output);
    assert_eq!(output.status.code(), Some(130), "{err}");
    assert!(out.contains("EM-ONMF (residual)") && out.contains("Ctrl-C"), "{out}");
}

#[test]
fn advice_that_has_nothing_to_rest_on_is_one_line_and_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let child = begin(folder.path(), "advise big.npy -k 8 --runs 2000 --out result");
    std::thread::sleep(Duration::from_secs(3));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    let (out, err) = texts(&output);
    assert_eq!(output.status.code(), Some(130), "{err}");
    let last = err.lines().last().unwrap_or_default();
    assert!(last.contains("stopped before every model was fitted"), "{err}");
    let files = contents(folder.path());
    assert!(out.is_empty() && files.keys().all(|name| name.starts_with("big")), "{:?}", files.keys());
}

#[test]
fn work_that_was_stopped_goes_on_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let work = "cluster big.npy -k 8 -a onp-mf --max-iterations 400 --json -q";
    let child = begin(folder.path(), &format!("{work} --checkpoint saved --checkpoint-every 0 --out first"));
    while !folder.path().join("saved").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    interrupt(&child);
    let stopped = child.wait_with_output().unwrap();
    assert_eq!(stopped.status.code(), Some(130));
    let first: serde_json::Value = serde_json::from_slice(&stopped.stdout).unwrap();
    assert!(first["iterations"].as_u64().unwrap() < 400);
    // The same data and method, or none.
    let other = crate::support::run(folder.path(), "cluster big.npy -k 7 -a onp-mf --resume saved");
    assert_eq!(other.status.code(), Some(2));
    assert!(texts(&other).1.contains("saved: the checkpoint is of other work"));

    let resumed = crate::support::object(
        folder.path(),
        &format!("{work} --resume saved --checkpoint saved --out second"),
    );
    let whole = crate::support::object(folder.path(), &format!("{work} --out third"));
    for key in ["iterations", "objective", "relative_error", "sizes", "runs"] {
        assert_eq!(resumed[key], whole[key], "{key}");
    }
    let files = contents(folder.path());
    for name in ["labels.txt", "components.npy", "strengths.npy"] {
        assert!(files[&format!("second/{name}")] == files[&format!("third/{name}")], "{name}");
    }
    assert!(!files.contains_key("saved"), "finished work needs no checkpoint");
}
