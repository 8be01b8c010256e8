//! Every command that writes, ended by kill −9 before each call that changes a file, and with each of these calls
//! failing: what was there before or what is new is whole, the next run succeeds, and nothing is left over.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use crate::support::{contents, orthant, run, succeed, texts};
use tempfile::TempDir;

type Files = BTreeMap<String, Vec<u8>>;

/// The library that makes calls fail, compiled once.
fn library() -> &'static Path {
    static BUILT: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("faults.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/faults.c");
        let built =
            Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&path).arg(source).status();
        assert!(built.expect("cc, which Rust links with, is there").success());
        (folder, path)
    });
    path
}

fn faulty(folder: &Path, arguments: &str, fault: &str) -> Output {
    orthant(folder)
        .args(arguments.split_whitespace())
        .env("LD_PRELOAD", library())
        .env("ORTHANT_FAULT", fault)
        .env_remove("ORTHANT_DATA")
        .output()
        .expect("the program starts")
}

/// How many calls a command makes that change files.
fn calls(folder: &Path, arguments: &str) -> usize {
    let (_, err) = texts(&faulty(folder, arguments, "count"));
    let count = err.lines().last().and_then(|line| line.strip_prefix("calls ")?.parse().ok());
    let count = count.unwrap_or_else(|| panic!("the calls of {arguments} were not counted:\n{err}"));
    assert!(count > 5, "only {count} calls of {arguments} were seen");
    count
}

/// Files whose bytes depend on the time.
fn is_timed(name: &str) -> bool {
    ["summary.json", "report.html", "compare.csv", "demo.txt"].iter().any(|timed| name.ends_with(timed))
}

fn is_part(name: &str) -> bool {
    name.contains(".part") || name.contains(".unfinished")
}

/// What a folder holds, without what is in the making.
fn finished(folder: &Path) -> Files {
    contents(folder).into_iter().filter(|(name, _)| !is_part(name)).collect()
}

fn restore(folder: &Path, files: &Files) {
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).unwrap();
    for (name, bytes) in files {
        match name.strip_suffix('/') {
            Some(name) => std::fs::create_dir_all(folder.join(name)).unwrap(),
            None => std::fs::write(folder.join(name), bytes).unwrap(),
        }
    }
}

/// Whether the files are those of the new result, as far as they do not depend on the time.
fn is_new(found: &Files, old: &Files, new: &Files) -> bool {
    found.keys().eq(new.keys())
        && found.iter().all(|(name, bytes)| match is_timed(name) {
            false => *bytes == new[name],
            true => !bytes.is_empty() && old.get(name) != Some(bytes),
        })
}

/// A command that writes into `place`, over what `before` wrote there or into nothing.
struct Case {
    place: &'static str,
    before: Option<&'static str>,
    command: &'static str,
    /// A command that fails, but begins by putting in order what lies in `place`.
    settle: &'static str,
    /// Of how many calls one is tried.
    stride: usize,
}

const PLACE: &str = "place";
const SETTLE_FOLDER: &str = "compare missing.npy -k 2 --out place --force";
/// The result is read, the new points are not there.
const SETTLE_RESULT: &str = "predict place missing.npy";
const SETTLE_FILES: &str = "convert missing.npy place/other.npy";

fn data() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("set.csv"), "9,1,1\n8,1,2\n7,2,1\n1,9,1\n2,8,1\n1,7,2\n1,1,9\n2,1,8\n")
        .unwrap();
    std::fs::write(
        folder.path().join("set.svmlight"),
        "a 1:9 2:1\nb 2:8\na 1:7\n".replace('a', "1").replace('b', "2"),
    )
    .unwrap();
    folder
}

fn check(case: &Case) {
    let data = data();
    let (folder, place) = (data.path(), data.path().join(case.place));
    succeed(folder, "cluster set.csv -k 3 -a em-onmf --start residual --out model -q");
    std::fs::create_dir(&place).unwrap();
    if let Some(before) = case.before {
        succeed(folder, before);
    }
    // What was never ours stays, whatever happens.
    std::fs::write(place.join("thesis.txt"), "mine").unwrap();
    if case.before.is_none() {
        std::fs::remove_dir_all(&place).unwrap();
    }
    let old = if place.exists() { finished(&place) } else { Files::new() };
    let start = || match case.before {
        Some(_) => restore(&place, &old),
        None => drop(std::fs::remove_dir_all(&place)),
    };
    let count = calls(folder, case.command);
    let new = finished(&place);
    assert!(is_new(&new, &old, &new) && new != old, "{} changes nothing", case.command);
    let whole = |what: &str| {
        let found = if place.exists() { finished(&place) } else { Files::new() };
        let good = found == old || is_new(&found, &old, &new);
        assert!(good, "{what}: neither old nor new but {:?}", found.keys().collect::<Vec<_>>());
    };
    let again = |what: &str| {
        // A result that stands already is refused without --force, as it should be.
        let output = run(folder, case.command);
        let (out, err) = texts(&output);
        let stands = err.contains("exists already") && is_new(&finished(&place), &old, &new);
        assert!(output.status.success() || stands, "after {what}:\n{out}{err}");
        let left: Vec<String> = contents(folder).into_keys().filter(|name| is_part(name)).collect();
        assert!(left.is_empty(), "after {what} and a second run: {left:?}");
        assert!(is_new(&finished(&place), &old, &new), "after {what} and a second run");
    };
    for call in (1..=count).step_by(case.stride) {
        start();
        let what = format!("kill -9 before call {call} of {count}: {}", case.command);
        faulty(folder, case.command, &format!("kill:{call}"));
        if call % 2 == 0 {
            assert_eq!(run(folder, case.settle).status.code(), Some(2));
            whole(&what);
        }
        again(&what);
        for fault in ["fail", "full"] {
            start();
            let what = format!("{fault} at call {call} of {count}: {}", case.command);
            let output = faulty(folder, case.command, &format!("{fault}:{call}"));
            let (_, err) = texts(&output);
            whole(&what);
            match output.status.code() {
                Some(0) => assert!(is_new(&finished(&place), &old, &new), "{what}: success without a result"),
                Some(1 | 2) => {
                    assert!(err.starts_with("orthant: error: ") && err.lines().count() == 1, "{what}: {err}")
                }
                other => panic!("{what}: ended with {other:?}\n{err}"),
            }
            if call % 5 == 0 {
                again(&what);
            }
        }
    }
}

#[test]
fn cluster_over_an_earlier_result() {
    check(&Case {
        place: PLACE,
        before: Some("cluster set.csv -k 2 -a k-means --out place --force -q"),
        command: "cluster set.csv -k 3 -a em-onmf --start residual --out place --force -q",
        settle: SETTLE_RESULT,
        stride: 1,
    });
}

#[test]
fn cluster_into_a_new_folder() {
    check(&Case {
        place: PLACE,
        before: None,
        command: "cluster set.csv -k 3 -a em-onmf --start residual --out place -q",
        settle: SETTLE_RESULT,
        stride: 1,
    });
}

#[test]
fn compare() {
    check(&Case {
        place: PLACE,
        before: Some("cluster set.csv -k 2 --out place --force -q"),
        command: "compare set.csv -k 2 --methods em-onmf:residual --runs 1 --out place --force -q",
        settle: SETTLE_FOLDER,
        stride: 2,
    });
}

#[test]
fn advise() {
    check(&Case {
        place: PLACE,
        before: Some("cluster set.csv -k 2 --out place --force -q"),
        command: "advise set.csv -k 2 --runs 1 --halves 1 --out place --force -q",
        settle: SETTLE_FOLDER,
        stride: 3,
    });
}

#[test]
fn choose_k() {
    check(&Case {
        place: PLACE,
        before: Some("cluster set.csv -k 2 --out place --force -q"),
        command: "choose-k set.csv 2..3 --runs 1 --halves 1 --out place --force -q",
        settle: SETTLE_FOLDER,
        stride: 3,
    });
}

#[test]
fn generate() {
    check(&Case {
        place: PLACE,
        before: Some("generate synthetic --sizes 2,2,2,2,2,2 --noise 0.1 --seed 1 --out place/set.npy"),
        command: "generate synthetic --sizes 2,2,2,2,1,3 --noise 0.1 --seed 2 --out place/set.npy --force",
        settle: SETTLE_FILES,
        stride: 1,
    });
}

#[test]
fn convert() {
    check(&Case {
        place: PLACE,
        before: Some("convert set.csv place/set.cluto -q"),
        command: "convert set.svmlight place/set.cluto --force -q",
        settle: SETTLE_FILES,
        stride: 1,
    });
}

/// Into a block folder, which goes on from what a killed run has left.
#[test]
fn convert_into_blocks() {
    for before in [Some("convert set.csv place.blocks -q"), None] {
        check(&Case {
            place: "place.blocks",
            before,
            command: "convert set.svmlight place.blocks --force -q",
            settle: "cluster place.blocks -k 1000",
            stride: 1,
        });
    }
}

#[test]
fn predict() {
    check(&Case {
        place: PLACE,
        before: Some("convert set.csv place/labels.csv -q"),
        command: "predict model set.csv --out place/labels.csv --force -q",
        settle: SETTLE_FILES,
        stride: 1,
    });
}

/// It takes seconds, and its folder is like the others: once in the midst of the moves is enough.
#[test]
fn demo() {
    let data = data();
    let (folder, place) = (data.path(), data.path().join(PLACE));
    let command = "demo --sets 1 --runs 1 --out place -q";
    let count = calls(folder, command);
    let names: Vec<String> = finished(&place).into_keys().collect();
    std::fs::remove_dir_all(&place).unwrap();
    // The last calls remove the hidden folder: the lock, four folders inside and itself. Before them every file is
    // linked to its place and its first name removed.
    faulty(folder, command, &format!("kill:{}", count - 10));
    let moving = |name: &String| name.contains(".part/put/") && !name.ends_with('/');
    assert!(contents(&place).keys().any(moving), "{:?}", contents(&place).keys());
    assert_eq!(run(folder, SETTLE_FOLDER).status.code(), Some(2));
    assert!(contents(&place).keys().eq(names.iter()));
}

/// Work with a checkpoint goes on to the same bits, wherever it was killed.
#[test]
fn checkpoints() {
    let data = data();
    let folder = data.path();
    let work = "cluster set.csv -k 3 -a onp-mf --max-iterations 12 --tolerance 0 -q --out";
    succeed(folder, &format!("{work} whole"));
    let whole = finished(&folder.join("whole"));
    let saving = format!("{work} place --force --checkpoint saved --checkpoint-every 0");
    let count = calls(folder, &saving);
    assert!(!folder.join("saved").exists());
    let mut resumed = 0;
    for call in (1..=count).step_by(3) {
        let _ = std::fs::remove_dir_all(folder.join(PLACE));
        let _ = std::fs::remove_file(folder.join("saved"));
        faulty(folder, &saving, &format!("kill:{call}"));
        let resume = if folder.join("saved").exists() { " --resume saved" } else { "" };
        resumed += usize::from(!resume.is_empty());
        succeed(folder, &format!("{saving}{resume}"));
        let found = finished(&folder.join(PLACE));
        for name in ["labels.txt", "components.npy", "strengths.npy"] {
            assert!(found[name] == whole[name], "{name} after kill -9 before call {call} of {count}");
        }
        let left: Vec<String> = contents(folder).into_keys().filter(|name| is_part(name)).collect();
        assert!(left.is_empty() && !folder.join("saved").exists(), "call {call}: {left:?}");
    }
    assert!(resumed > 5, "{resumed} of {count}");
}

/// What has been computed is kept, and the next run gives the whole page.
#[test]
fn reproduce() {
    let data = data();
    let folder = data.path();
    let work = "reproduce figure2 --quick --runs 1 --sets 1 -q --out";
    succeed(folder, &format!("{work} computed"));
    let work = format!("{work} place --from computed");
    let count = calls(folder, &work);
    let names: Vec<String> = finished(&folder.join(PLACE)).into_keys().collect();
    assert!(names.iter().any(|name| name.starts_with("cells/synthetic/")), "{names:?}");
    for call in (1..=count).step_by(count / 12 + 1) {
        for fault in ["kill", "fail", "full"] {
            let _ = std::fs::remove_dir_all(folder.join(PLACE));
            faulty(folder, &work, &format!("{fault}:{call}"));
            succeed(folder, &work);
            let found = contents(&folder.join(PLACE));
            assert!(found.keys().eq(names.iter()), "{fault} at call {call}: {:?}", found.keys());
        }
    }
}
