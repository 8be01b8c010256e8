//! Files that appear together: what killed runs left, what live ones hold, what belongs to others.
#![cfg(all(unix, feature = "read"))]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use orthant::matrix::{AnyPoints, Dense, Matrix};
use orthant::read::blocks::{With, Writer};
use orthant::read::{Loaded, Stage, settle, write};

/// What a run that was killed left in a folder: files by their place in the hidden folder.
fn leftover(home: &Path, files: &[(&str, &str)]) -> PathBuf {
    let part = home.join(".orthant-0123456789abcdef.part");
    for (name, text) in [("lock", "")].iter().chain(files) {
        let path = part.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    part
}

fn listing(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut lines: Vec<String> = entries
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() { name } else { format!("{name}={}", fs::read_to_string(&path).unwrap()) }
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn what_was_committed_is_carried_out_from_wherever_it_stopped() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    // One file has moved, one was kept but has not moved, one goes away, and one was never ours.
    for (name, text) in [("a", "new"), ("b", "old"), ("gone", "old"), ("mine", "mine")] {
        fs::write(home.join(name), text).unwrap();
    }
    let part =
        leftover(home, &[("replace/b", "new"), ("replace/c", "new"), ("old/a", "old"), ("drop/gone", "")]);
    fs::hard_link(home.join("b"), part.join("old/b")).unwrap();
    settle(home).unwrap();
    assert_eq!(listing(home), ["a=new", "b=new", "c=new", "mine=mine"]);
    settle(home).unwrap();
    assert_eq!(listing(home).len(), 4);
}

#[test]
fn a_file_that_was_linked_to_its_place_is_not_taken_for_another() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let part = leftover(home, &[("put/a", "new"), ("put/b", "new"), ("drop/x", "")]);
    fs::hard_link(part.join("put/a"), home.join("a")).unwrap();
    settle(home).unwrap();
    assert_eq!(listing(home), ["a=new", "b=new"]);
    // Another of the same name is not replaced, and the line says what is the matter.
    leftover(home, &[("put/a", "newer"), ("drop/x", "")]);
    let error = settle(home).unwrap_err().to_string();
    assert!(error.contains("cannot be put in place"), "{error}");
    assert_eq!(fs::read_to_string(home.join("a")).unwrap(), "new");
}

#[test]
fn what_was_not_committed_is_removed_and_what_lives_is_not() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    leftover(home, &[("new/a", "half")]);
    fs::write(home.join(".orthant-fedcba9876543210.part"), "half").unwrap();
    let stage = Stage::open(home, &[OsStr::new("a")], false).unwrap();
    assert_eq!(listing(home).len(), 1, "{:?}", listing(home));
    stage.write("a", |out| out.write_all(b"new")).unwrap();
    settle(home).unwrap();
    let error = Stage::open(home, &[OsStr::new("b"), OsStr::new("a")], false).unwrap_err().to_string();
    assert!(error.contains("a: another run is writing it"), "{error}");
    let other = Stage::open(home, &[OsStr::new("b")], false).unwrap();
    other.write("b", |out| out.write_all(b"new")).unwrap();
    other.commit(false).unwrap();
    stage.commit(false).unwrap();
    assert_eq!(listing(home), ["a=new", "b=new"]);
}

#[test]
fn folders_that_were_made_go_away_with_a_stage_that_is_dropped() {
    let home = tempfile::tempdir().unwrap();
    let deep = home.path().join("a/b/c");
    let stage = Stage::open(&deep, &[], true).unwrap();
    assert!(deep.is_dir());
    drop(stage);
    assert!(listing(home.path()).is_empty());
}

#[test]
fn what_others_left_in_a_shared_folder_is_neither_carried_out_nor_removed() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let part = leftover(home, &[("replace/mine", "theirs"), ("drop/x", "")]);
    if std::os::unix::fs::chown(&part, Some(12345), None).is_err() {
        println!("skipped: only root can make files of another user");
        return;
    }
    fs::write(home.join("mine"), "mine").unwrap();
    settle(home).unwrap();
    drop(Stage::open(home, &[OsStr::new("mine")], false).unwrap());
    assert_eq!(fs::read_to_string(home.join("mine")).unwrap(), "mine");
    assert!(part.join("replace/mine").exists());
}

#[test]
fn names_with_line_breaks_are_refused_where_a_line_is_a_name() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("set.cluto");
    let matrix = Matrix::DenseF64(Dense::new(2, 1, vec![1.0, 2.0]).unwrap());
    let named = |names: [&str; 2]| Loaded {
        names: Some(names.map(str::to_string).to_vec()),
        ..Loaded::from(matrix.clone())
    };
    let error = write(&path, &named(["one", "two\nlines"])).unwrap_err().to_string();
    assert!(error.contains("name 2 has a line break, which .rlabel cannot hold"), "{error}");
    assert!(listing(home.path()).is_empty());
    write(&path, &named(["one", "two"])).unwrap();
    assert_eq!(fs::read_to_string(home.path().join("set.cluto.rlabel")).unwrap(), "one\ntwo\n");
}

#[test]
fn names_of_features_with_line_breaks_are_refused_by_a_block_folder() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("set.blocks");
    let points = AnyPoints::from(Dense::new(2, 1, vec![1.0, 2.0]).unwrap());
    let mut writer = Writer::begin(&place, false, points.shape().format, "", false).unwrap();
    writer.push(&points, None, None).unwrap();
    let with = With { vocabulary: Some(vec!["two\nlines".into()]), ..With::default() };
    let error = writer.finish(None, &with).unwrap_err().to_string();
    assert!(error.contains("has a line break, which feature_names.txt cannot hold"), "{error}");
    assert!(!place.exists(), "it leaves nothing");
}
