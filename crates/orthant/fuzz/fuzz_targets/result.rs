//! Edits of a result: what predict reads of it is sound, or it is refused.
#![no_main]

#[path = "../../../orthant-cli/tests/targets/mod.rs"]
#[allow(dead_code)]
mod targets;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A result to edit.
fn sound() -> &'static Path {
    static SOUND: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = SOUND.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let (data, result) = (folder.path().join("set.csv"), folder.path().join("result"));
        let line =
            |j: usize| (0..5).map(|f| ((j * 7 + f * 3) % 11).to_string()).collect::<Vec<_>>().join(",");
        std::fs::write(&data, (0..12).map(line).collect::<Vec<_>>().join("\n")).unwrap();
        let words: [OsString; 11] = [
            "orthant".into(),
            "cluster".into(),
            data.into(),
            "-k".into(),
            "3".into(),
            "-a".into(),
            "em-onmf".into(),
            "--weighting=tf-idf".into(),
            "--out".into(),
            result.into(),
            "-q".into(),
        ];
        assert_eq!(orthant_cli::run(words), 0);
        folder
    });
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| folder.path().join("result"))
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drop(targets::result(sound(), bytes)));
