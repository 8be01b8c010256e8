//! What the project is built from is what was looked at: docs/dependencies.csv lists it, with the day of each version.

use std::collections::BTreeSet;

/// Crates that are not to come back: without care for years, or with another in their place.
const UNWANTED: &[&str] =
    &["winapi", "page_size", "atty", "failure", "time-macros-impl", "ansi_term", "paste"];

fn read(name: &str) -> String {
    let path = format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_list_of_dependencies_is_that_of_the_lock_file() {
    let field = |block: &str, key: &str| {
        let line =
            block.lines().find_map(|line| line.strip_prefix(&format!("{key} = \"")).map(str::to_string));
        line.map(|value| value.trim_end_matches('"').to_string())
    };
    let lock = read("Cargo.lock");
    let outside = lock.split("[[package]]").filter(|block| block.contains("\nsource = \"registry+"));
    let locked: BTreeSet<(String, String)> =
        outside.map(|block| (field(block, "name").unwrap(), field(block, "version").unwrap())).collect();
    let list = read("docs/dependencies.csv");
    let mut listed = BTreeSet::new();
    for line in list.lines().skip(1) {
        let [name, version, day] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        assert!(day.len() == 10 && day > "2015", "{line}: no day");
        listed.insert((name.to_string(), version.to_string()));
    }
    let differ: Vec<_> = locked.symmetric_difference(&listed).collect();
    assert!(differ.is_empty(), "run tests/dependencies and look at what is new: {differ:?}");
    let back: Vec<_> = locked.iter().filter(|(name, _)| UNWANTED.contains(&name.as_str())).collect();
    assert!(locked.len() > 50 && back.is_empty(), "{back:?}");
}
