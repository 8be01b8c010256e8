//! `orthant reproduce` on small data of its own: whole, stopped and gone on with, without data, with bad arguments.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{contents, orthant, succeed, texts};

/// Synthetic sets in the place of texts and images: the names that the experiments look for.
fn data(folder: &Path) {
    std::fs::create_dir_all(folder.join("data/text")).unwrap();
    let make = |sizes: &str, out: &str| {
        succeed(
            folder,
            &format!("generate synthetic --noise 0.02 --sizes {sizes} --seed 5 --out data/{out}"),
        );
    };
    make("20,20,20,10,10,10", "text/tr23.mtx");
    make("8,8,8,8,8,8,8,8", "Hubble.npy");
    make("6,6,6,6,6,6", "Urban.npy");
}

fn reproduce(folder: &Path, arguments: &str) -> Command {
    let mut command = orthant(folder);
    command.arg("reproduce").args(arguments.split_whitespace()).env_remove("ORTHANT_DATA");
    command
}

fn run(folder: &Path, arguments: &str) -> (String, String) {
    let output = reproduce(folder, arguments).output().unwrap();
    let (out, err) = texts(&output);
    assert!(output.status.success(), "orthant reproduce {arguments}\n{out}{err}");
    (out, err)
}

/// Runs of all cells, without the seconds they took.
fn cells(folder: &Path) -> BTreeMap<String, String> {
    let mut runs = BTreeMap::new();
    for (name, bytes) in
        contents(&folder.join("cells")).into_iter().filter(|(name, _)| name.ends_with(".csv"))
    {
        for line in String::from_utf8(bytes).unwrap().lines() {
            let fields: Vec<&str> = line.split(',').collect();
            let timeless = [&fields[..13], &fields[14..]].concat().join(",");
            runs.insert(format!("{name} {timeless}"), fields[13].to_string());
        }
    }
    runs
}

#[test]
fn everything_at_once_gives_every_table_and_figure_and_is_not_computed_twice() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    data(folder);
    let all = "all --quick --runs 1 --sets 1 --data data --out out";
    let (out, err) = run(folder, all);
    assert!(err.contains("cells to compute") && !err.contains(" 0 of"), "{err}");
    assert!(out.contains("Figure 8: All methods but O-PNMF") && out.contains("out/index.html"), "{out}");
    let files = contents(&folder.join("out"));
    let page = String::from_utf8(files["index.html"].clone()).unwrap();
    for heading in (1..=8).map(|i| format!("Figure {i}")).chain((1..=3).map(|i| format!("Table {i}"))) {
        assert!(page.contains(&format!("<h2>{heading}: ")), "{heading}");
        let name = heading.replace(' ', "").to_lowercase();
        let has = |ending: &str| files.keys().any(|file| file.starts_with(&name) && file.ends_with(ending));
        assert!(has(".csv"), "{heading} has no values");
        assert!(heading.starts_with("Table") || has(".svg"), "{heading} has no picture");
    }
    // The user's own files, not the stand-ins.
    assert!(
        page.contains("Figure 5: Hubble") && page.contains("Figure 6: Urban<"),
        "the files were not used"
    );
    assert!(
        page.contains("sports: not run") && page.contains("This is the quick protocol"),
        "what is missing is not told"
    );
    // What was cut short is not judged.
    for line in out.lines().filter(|line| line.contains("Figure 4: ") || line.contains("Table 3: ")) {
        assert!(line.trim_start().starts_with("not testable here"), "{line}");
    }
    let document = String::from_utf8(files["reproduction.md"].clone()).unwrap();
    assert!(document.contains("The protocol was cut short: 1 of 30 repetitions"), "{document}");
    assert!(document.contains("## Table 3: ") && !document.contains("NaN"), "{document}");
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("NaN"));
    let table3 = String::from_utf8(files["table3.csv"].clone()).unwrap();
    assert!(table3.lines().any(|line| line.starts_with("tr23,onp-mf:svd,1,40.7,")), "{table3}");
    assert!(table3.lines().any(|line| line.starts_with("tr23,onp-mf:svd+em,1,,")), "{table3}");

    let (_, err) = run(folder, all);
    assert!(err.contains("orthant: 0 of"), "{err}");
    let again = contents(&folder.join("out"));
    for (name, bytes) in &files {
        assert!(again[name] == *bytes, "{name} changed");
    }
}

#[test]
fn work_that_was_killed_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let work = "figure4 --quick --runs 2 --sets 1 --threads 1 --quiet --out";
    let mut child = reproduce(folder, &format!("{work} killed"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let place = folder.join("killed");
    // Some cells are there; the others are not.
    while !place.join("cells").is_dir() || cells(&place).len() < 30 {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it could be killed");
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(2));
    }
    // On Unix this is kill −9.
    child.kill().unwrap();
    child.wait().unwrap();
    let before = cells(&place);
    assert!(!place.join("index.html").exists());
    run(folder, &format!("{work} killed"));
    run(folder, &format!("{work} whole"));
    let (after, whole) = (cells(&place), cells(&folder.join("whole")));
    assert!(before.len() < after.len(), "{} runs before, {} after", before.len(), after.len());
    assert_eq!(after.keys().collect::<Vec<_>>(), whole.keys().collect::<Vec<_>>());
    // What was there was kept, with the time it had taken.
    assert!(before.iter().all(|(run, seconds)| after[run] == *seconds));

    // A new folder can begin with what is in another.
    let (_, err) = run(folder, "figure4 --quick --runs 2 --sets 1 --out third --from whole");
    assert!(err.contains("runs taken over from whole") && err.contains("orthant: 0 of"), "{err}");
}

#[test]
fn cells_of_another_engine_are_shown_as_such_and_computed_again_unless_only_shown() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let work = "figure4 --quick --runs 1 --sets 1";
    run(folder, &format!("{work} --out first"));
    // As if another engine had computed the level without noise.
    let place = folder.join("first/cells/synthetic/noise-0.csv");
    let text = std::fs::read_to_string(&place).unwrap();
    let engine = text.lines().nth(1).unwrap().rsplit(',').next().unwrap().to_string();
    assert_eq!(engine.len(), 16, "{engine}");
    std::fs::write(&place, text.replace(&engine, "0123456789abcdef")).unwrap();

    let (out, err) = run(folder, &format!("{work} --out shown --from first --show-only"));
    assert!(err.contains("orthant: 0 of") && err.contains("cells missing"), "{err}");
    let page = std::fs::read_to_string(folder.join("shown/index.html")).unwrap();
    assert!(page.contains("Of an older engine (0123456789abcdef): "), "it is not marked");
    assert!(page.contains("several engines, which are not mixed") && !out.contains("  holds"), "{out}");
    let document = std::fs::read_to_string(folder.join("shown/reproduction.md")).unwrap();
    assert!(document.contains(" 0123456789abcdef"), "{document}");

    let (_, err) = run(folder, &format!("{work} --out again --from first"));
    assert!(err.contains("cells to compute") && !err.contains("orthant: 0 of"), "{err}");
    let page = std::fs::read_to_string(folder.join("again/index.html")).unwrap();
    assert!(!page.contains("older engine"), "what was computed again is still marked");
}

/// The committed document is what the committed cells give.
#[test]
fn the_document_is_made_from_the_cells() {
    let Some(data) = std::env::var_os("ORTHANT_DATA") else {
        eprintln!("skipped: ORTHANT_DATA names no folder with the published data sets");
        return;
    };
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let folder = tempfile::tempdir().unwrap();
    let output = reproduce(folder.path(), "all --show-only --quiet --out out")
        .arg("--from")
        .arg(docs.join("reproduction"))
        .arg("--data")
        .arg(data)
        .output()
        .unwrap();
    assert!(output.status.success(), "{:?}", texts(&output));
    let made = std::fs::read_to_string(folder.path().join("out/reproduction.md")).unwrap();
    let committed = std::fs::read_to_string(docs.join("reproduction.md")).unwrap();
    let differing = made.lines().zip(committed.lines()).find(|(a, b)| a != b);
    assert!(
        made == committed,
        "docs/reproduction.md is not what the cells give (see its head): {differing:#?}"
    );
}

#[test]
fn without_data_what_can_be_made_is_made_and_the_rest_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (out, _) = run(folder.path(), "figure1 figure6 table2 table3 --quick --runs 1 --out out");
    assert!(out.contains("Figure 1 (a)"), "{out}");
    let page = std::fs::read_to_string(folder.path().join("out/index.html")).unwrap();
    assert!(page.contains("tr23: not run, no data were given"), "the page does not say why");
    assert!(page.contains("Figure 6: Urban") && page.contains("The data are not here."));
}

#[test]
fn bad_arguments_are_refused_in_one_line_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::create_dir(folder.join("full")).unwrap();
    std::fs::write(folder.join("full/thesis.txt"), "mine").unwrap();
    std::fs::write(folder.join("file"), "mine").unwrap();
    let before = contents(folder);
    for (arguments, told) in [
        ("figure9", "figure9"),
        ("table3 --runs 0", "whole number from 1"),
        ("table3 --sets -1", "whole number from 1"),
        ("table3 --data nowhere --out out", "nowhere: is no folder"),
        ("figure1 --out full", "holds no earlier reproduction"),
        ("figure1 --out file", "is not a folder"),
        ("figure1 --out out --from full", "full: holds no cells"),
    ] {
        let output = reproduce(folder, arguments).output().unwrap();
        let (out, err) = texts(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {err}");
        assert!(out.is_empty() && err.lines().count() == 1 && err.contains(told), "{arguments}: {err}");
    }
    assert_eq!(contents(folder), before);
}
