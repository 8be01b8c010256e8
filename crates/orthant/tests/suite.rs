//! The integration tests of the library as one program, so that the library is
//! linked once, instead of once for each file:
//! `cargo test --release -p orthant --test suite FILE::` runs one file of them.

mod common;

mod advice;
mod best;
mod certificate;
mod checkpoints;
mod conformance;
mod extremes;
mod folding;
mod many_starts;
mod observed;
mod paper;
mod properties;
mod readers;
mod readers_refusals;
mod readers_scenes;
mod readers_tables;
mod refusals;
mod singular;
mod stages;
mod stopping;
mod studies;
mod whoever_holds_the_points;

/// Every file here runs: as a module of this one, or by itself where Cargo.toml says so.
#[test]
fn no_file_is_left_out() {
    let modules = include_str!("suite.rs");
    let manifest = include_str!("../Cargo.toml");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    for file in std::fs::read_dir(folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs") else { continue };
        let runs =
            modules.contains(&format!("mod {module};")) || manifest.contains(&format!("\"tests/{name}\""));
        assert!(runs, "tests/{name} runs nowhere: say `mod {module};` in tests/suite.rs");
    }
}
