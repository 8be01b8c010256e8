//! The tests of the program as a user runs it, as one test program, so that it is
//! linked once, instead of once for each file:
//! `cargo test --release -p orthant-cli --test suite FILE::` runs one file of them.

mod support;
mod targets;

mod bad_inputs;
mod commands;
mod dependencies;
mod faults;
mod files;
mod help;
mod hostile;
mod interrupt;
mod kills;
mod outputs;
mod promises;
mod reproduce;
mod scale;
mod studies;

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
