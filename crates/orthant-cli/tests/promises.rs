//! docs/reliability.md promises nothing without a test: every row of its table names some, and they exist.

use std::path::{Path, PathBuf};

/// The file of this name among the tests of the project.
fn test_file(name: &str) -> Option<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = ["orthant", "orthant-cli", "orthant-py"].map(|krate| crates.join(krate).join("tests"));
    folders.map(|folder| folder.join(name)).into_iter().find(|path| path.is_file())
}

#[test]
fn every_row_of_the_table_of_attacks_names_tests_that_exist() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reliability.md");
    let page = std::fs::read_to_string(page).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| ")).skip(1);
    let mut count = 0;
    for row in rows {
        let tested = row.trim_end_matches('|').rsplit('|').next().unwrap();
        let named: Vec<&str> =
            tested.split('`').skip(1).step_by(2).filter(|name| !name.contains('=')).collect();
        assert!(!named.is_empty(), "no test: {row}");
        for name in named {
            let (file, test) = name.split_once(": ").unwrap_or((name, ""));
            let path = test_file(file).unwrap_or_else(|| panic!("there is no {file}: {row}"));
            let text = std::fs::read_to_string(path).unwrap();
            let there = ["fn ", "def "].iter().any(|word| text.contains(&format!("{word}{test}(")));
            assert!(test.is_empty() || there, "{file} has no test {test}");
        }
        count += 1;
    }
    assert!(count > 30, "{count} rows");
}
