//! Data larger than the memory that may be used: the same answers from disk, within the budget, and conversions that
//! survive being killed.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{listening, object, orthant, run, succeed, texts};

/// Numbers from 0 that look random.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }
}

/// Dense float32 points near `k` directions.
fn write_npy(path: &Path, points: usize, features: usize, k: usize) {
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({points}, {features}), }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut out = std::io::BufWriter::with_capacity(1 << 20, fs::File::create(path).unwrap());
    out.write_all(b"\x93NUMPY\x01\x00").unwrap();
    out.write_all(&(header.len() as u16).to_le_bytes()).unwrap();
    out.write_all(header.as_bytes()).unwrap();
    let mut random = Random(7);
    for point in 0..points {
        let strength = 1.0 + (random.next() % 100) as f32 / 50.0;
        for feature in 0..features {
            let own = if feature % k == point % k { strength } else { 0.0 };
            let noise = (random.next() % 1000) as f32 / 4000.0;
            out.write_all(&(own + noise).to_le_bytes()).unwrap();
        }
    }
    out.flush().unwrap();
}

/// Sparse entries of which no two have the same place, in no order.
fn entries(points: usize, features: usize, each: usize) -> Vec<(usize, usize, u64)> {
    let mut random = Random(11);
    let mut all = vec![];
    for point in 0..points {
        let first = random.next() as usize % features;
        let step = 1 + random.next() as usize % 5;
        all.extend((0..each).map(|e| (point, (first + e * step) % features, 1 + (point + e) as u64 % 9)));
    }
    for at in (1..all.len()).rev() {
        all.swap(at, random.next() as usize % (at + 1));
    }
    all
}

fn write_mtx(path: &Path, points: usize, features: usize, all: &[(usize, usize, u64)]) {
    let mut text =
        format!("%%MatrixMarket matrix coordinate integer general\n{points} {features} {}\n", all.len());
    for (row, column, value) in all {
        text.push_str(&format!("{} {} {value}\n", row + 1, column + 1));
    }
    fs::write(path, text).unwrap();
}

/// What does not depend on the time.
fn answer(object: &Value) -> Vec<Value> {
    ["relative_error", "lower_bound", "objective", "iterations", "sizes"]
        .map(|key| object[key].clone())
        .to_vec()
}

#[test]
fn streamed_data_give_the_same_answer_as_data_in_memory() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    write_npy(&folder.join("x.npy"), 30_000, 50, 5);
    succeed(folder, "convert x.npy x.blocks -q");
    for method in ["em-onmf --runs 3", "onp-mf --max-iterations 30", "k-means --runs 2"] {
        let held = object(folder, &format!("cluster x.npy -k 5 -a {method} --json --out held --force"));
        for file in ["x.npy", "x.blocks"] {
            let command =
                format!("cluster {file} -k 5 -a {method} --memory 4M --json --out streamed --force");
            let output = run(folder, &command);
            let (out, err) = texts(&output);
            assert!(output.status.success() && err.contains("streamed from disk"), "{command}\n{err}");
            let streamed: Value = serde_json::from_str(&out).unwrap();
            assert_eq!(answer(&streamed), answer(&held), "{command}");
            for name in ["labels.txt", "components.npy", "strengths.npy"] {
                let read = |run: &str| fs::read(folder.join(run).join(name)).unwrap();
                assert!(read("streamed") == read("held"), "{command}: {name} differs");
            }
            assert!(
                fs::read_to_string(folder.join("streamed/report.html"))
                    .unwrap()
                    .contains("streamed from disk")
            );
        }
    }
    let labels = succeed(folder, "predict held x.npy -q").0;
    assert_eq!(succeed(folder, "predict held x.blocks --memory 4M -q").0, labels);
    // Six tenths of what is free hold this easily.
    let (_, err) = succeed(folder, "cluster x.npy -k 5 -a em-onmf");
    assert!(!err.contains("streamed"), "{err}");
    assert!(succeed(folder, "cluster x.npy -k 5 -a em-onmf --memory 1G").1.contains("held in memory"));
}

#[test]
fn best_works_on_a_sample_where_the_data_do_not_fit_and_says_so() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    write_npy(&folder.join("x.npy"), 30_000, 50, 5);
    let best = object(folder, "cluster x.npy -k 5 --effort quick --memory 4M --json -q");
    let stages: Vec<&str> =
        best["runs"][0]["stages"].as_array().unwrap().iter().map(|s| s["method"].as_str().unwrap()).collect();
    assert_eq!(stages, ["best on a sample in memory", "em on everything", "moves on everything"]);
    let held = object(folder, "cluster x.npy -k 5 --effort quick --json -q");
    let error = |object: &Value| object["relative_error"].as_f64().unwrap();
    assert!(error(&best) <= error(&held) * (1.0 + 1e-6), "{} {}", error(&best), error(&held));
}

#[test]
fn every_format_is_converted_within_a_budget_to_what_it_is_in_memory() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    let (points, features) = (60_000, 700);
    let all = entries(points, features, 15);
    write_mtx(&folder.join("x.mtx"), points, features, &all);
    let mut by_column = all.clone();
    by_column.sort_by_key(|&(row, column, _)| (column, row));
    write_mtx(&folder.join("columns.mtx"), points, features, &by_column);
    succeed(folder, "convert x.mtx x.svmlight -q");
    succeed(folder, "convert x.mtx x.npz -q");
    write_npy(&folder.join("d.npy"), 4000, 300, 5);
    for name in ["d.csv", "d.cluto", "d.csv.gz"] {
        succeed(folder, &format!("convert d.npy {name} -q"));
    }
    for file in ["x.mtx", "columns.mtx", "x.svmlight", "x.npz", "d.csv", "d.cluto", "d.npy", "d.csv.gz"] {
        for turned in ["", "--transpose"] {
            succeed(folder, &format!("convert {file} out.blocks {turned} --memory 16M --force -q"));
            let ending = if file.starts_with('x') || file.starts_with("col") { "mtx" } else { "npy" };
            succeed(folder, &format!("convert out.blocks by_blocks.{ending} --force -q"));
            succeed(folder, &format!("convert {file} directly.{ending} {turned} --force -q"));
            let read = |name: &str| fs::read(folder.join(format!("{name}.{ending}"))).unwrap();
            assert!(read("by_blocks") == read("directly"), "{file} {turned}");
        }
    }
    let left: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.len() == 13 && !folder.join("out.blocks/.unfinished").exists(), "{left:?}");
}

#[test]
fn a_conversion_that_is_killed_goes_on_where_it_was() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    let (points, features) = (60_000, 700);
    write_mtx(&folder.join("x.mtx"), points, features, &entries(points, features, 20));
    write_npy(&folder.join("d.npy"), 30_000, 200, 5);
    // Without a limit, the memory that may be used is another at every moment.
    write_npy(&folder.join("e.npy"), 200_000, 60, 5);
    for (file, ready, memory) in [
        ("x.mtx", "scratch/run-0", "--memory 16M"),
        ("d.npy", "files/000001.data.npy", "--memory 16M"),
        ("e.npy", "files/000001.data.npy", ""),
    ] {
        let command = format!("convert {file} killed.blocks {memory} --threads 1 -q --force");
        let mut killed = 0;
        for _ in 0..20 {
            let mut child =
                listening(folder).args(command.split_whitespace()).stderr(Stdio::null()).spawn().unwrap();
            let begun = Instant::now();
            let sign = folder.join("killed.blocks/.unfinished").join(ready);
            while !sign.exists()
                && child.try_wait().unwrap().is_none()
                && begun.elapsed() < Duration::from_secs(60)
            {
                std::thread::sleep(Duration::from_micros(200));
            }
            let ended = child.try_wait().unwrap().is_some();
            child.kill().unwrap();
            child.wait().unwrap();
            if !ended {
                killed += 1;
                break;
            }
        }
        assert_eq!(killed, 1, "{file}: it was never caught in the middle");
        let unfinished = folder.join("killed.blocks/.unfinished");
        assert!(unfinished.join("journal").is_file());
        let modified = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
        let first = "000000.data.npy";
        let begun = ready.starts_with("files").then(|| modified(&unfinished.join("files").join(first)));
        succeed(folder, &command);
        assert!(!unfinished.exists());
        if let Some(begun) = begun {
            assert_eq!(modified(&folder.join("killed.blocks").join(first)), begun, "{file}: written again");
        }
        succeed(folder, &format!("convert {file} whole.blocks {memory} -q --force"));
        for entry in fs::read_dir(folder.join("whole.blocks")).unwrap() {
            let name = entry.unwrap().file_name();
            let read = |run: &str| fs::read(folder.join(run).join(&name)).unwrap();
            assert!(read("whole.blocks") == read("killed.blocks"), "{file}: {name:?} differs");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_in_a_line_with_the_command_that_helps() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    write_mtx(&folder.join("x.mtx"), 20_000, 500, &entries(20_000, 500, 10));
    let refused = |arguments: &str| {
        let output = run(folder, arguments);
        let (_, err) = texts(&output);
        assert!(!output.status.success() && err.lines().count() == 1, "{arguments}\n{err}");
        err
    };
    let err = refused("cluster x.mtx -k 3 --memory 2M");
    assert!(err.contains("orthant convert x.mtx x.blocks --memory 2M"), "{err}");
    assert!(refused("convert x.mtx x.blocks --memory 2M").contains("at least 16M"));
    assert!(refused("cluster x.mtx -k 3 --memory little").contains("512M or 4G"));
    // A few bytes that claim much fill no disk.
    let head = "%%MatrixMarket matrix coordinate real general\n3 400000000 3\n1 1 1\n2 2 1\n3 3 1\n";
    fs::write(folder.join("wide.mtx"), head).unwrap();
    fs::write(folder.join("wide.svmlight"), "1 400000000:1\n1 3:1\n").unwrap();
    for file in ["wide.mtx", "wide.svmlight"] {
        for turned in ["", "--transpose"] {
            let err = refused(&format!("convert {file} wide.blocks {turned} -q"));
            assert!(err.contains(&format!("{file}: so many columns (400000000)")), "{err}");
            assert!(!folder.join("wide.blocks").exists());
        }
    }
    succeed(folder, "convert x.mtx x.blocks --memory 16M -q");
    assert!(refused("convert x.mtx x.blocks -q").contains("--force"));
    let err = refused("cluster x.blocks -k 400 --memory 1M -q");
    assert!(err.contains("k = 400 on 20000 points of 500 features needs about"), "{err}");
    succeed(folder, "cluster x.blocks -k 3 -a em-onmf --memory 1M -q");
    // What comes after the labels is reckoned beforehand.
    write_mtx(&folder.join("y.mtx"), 4000, 500, &entries(4000, 500, 10));
    let proven = |level: &str| format!("cluster y.mtx -k 3 -a em-onmf -q --memory 64M --certificate {level}");
    let err = refused(&proven("thorough"));
    assert!(err.contains("the thorough certificate of 4000 points needs about 256"), "{err}");
    assert!(err.contains("a lower level needs less"), "{err}");
    succeed(folder, &proven("quick"));
    // A disk that is full: no file may grow beyond a few kilobytes.
    if cfg!(target_os = "linux") {
        let program = env!("CARGO_BIN_EXE_orthant");
        let script =
            format!("trap '' XFSZ; ulimit -f 64; exec {program} convert x.mtx full.blocks --memory 16M -q");
        let output =
            std::process::Command::new("bash").args(["-c", &script]).current_dir(folder).output().unwrap();
        let (_, err) = texts(&output);
        assert!(!output.status.success() && err.lines().count() == 1, "{err}");
        assert!(err.contains("full.blocks"), "{err}");
        let left: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert!(!left.iter().any(|name| name.to_string_lossy().contains("full")), "{left:?}");
    }
}

/// The most memory that a run has had, by the kernel's own figure.
#[cfg(target_os = "linux")]
fn peak(folder: &Path, arguments: &str) -> u64 {
    let mut child = orthant(folder)
        .args(arguments.split_whitespace())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    let ended = loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let found = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
        most = most.max(found.unwrap_or(0) * 1024);
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    assert!(ended.success(), "orthant {arguments}");
    most
}

/// The sums of ten starts, as long as features × k each, are many times the entries here.
#[test]
fn a_budget_without_room_for_the_directions_of_all_runs_is_refused_in_a_line() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    let mut text = "%%MatrixMarket matrix coordinate integer general\n400 20000 20000\n".to_string();
    (0..20_000).for_each(|e| text += &format!("{} {} {}\n", e % 400 + 1, e * 7919 % 20_000 + 1, e % 5 + 1));
    std::fs::write(folder.join("x.mtx"), text).unwrap();
    let usual = "cluster x.mtx -k 8 -a em-onmf -q --out r --memory 64M";
    let refused = run(folder, usual);
    assert_eq!(refused.status.code(), Some(1));
    let message = texts(&refused).1;
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(message.contains("MB may be used: fewer clusters, runs"), "{message}");
    assert!(!folder.join("r").exists());
    let output = run(folder, &format!("{usual} --runs 1"));
    assert!(output.status.success(), "{}", texts(&output).1);
}

/// glibc would set 64 MB of addresses apart for every thread.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn addresses_that_are_limited_to_a_little_more_than_the_budget_are_enough() {
    let place = tempfile::tempdir().unwrap();
    // 160 MB.
    write_npy(&place.path().join("x.npy"), 400_000, 100, 5);
    let program = env!("CARGO_BIN_EXE_orthant");
    let kilobytes = 128 * 1024 * 12 / 10;
    let script = format!(
        "ulimit -v {kilobytes} && {program} cluster x.npy -k 5 -a em-onmf --max-iterations 2 --memory 128M --threads 4"
    );
    let output =
        std::process::Command::new("bash").args(["-c", &script]).current_dir(place.path()).output().unwrap();
    assert!(output.status.success(), "{}", texts(&output).1);
}

#[cfg(target_os = "linux")]
#[test]
fn the_memory_that_may_be_used_is_not_exceeded() {
    if std::env::var_os("ORTHANT_SLOW").is_none() {
        eprintln!("skipped: a file of 300 MB is clustered with ORTHANT_SLOW=1 only");
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    // 300 MB.
    write_npy(&folder.join("x.npy"), 750_000, 100, 5);
    // The program itself takes some of it.
    let most = 64 * (1 << 20) * 115 / 100 + (16 << 20);
    for command in [
        "cluster x.npy -k 5 -a em-onmf --max-iterations 3 --memory 64M --out result",
        "predict result x.npy --memory 64M --out labels.txt",
        "convert x.npy x.blocks --memory 64M",
        "cluster x.blocks -k 5 -a onp-mf --max-iterations 2 --memory 64M",
    ] {
        let peak = peak(folder, command);
        assert!(peak > 1 << 20 && peak <= most, "{command}: {} MB, allowed are {}", peak >> 20, most >> 20);
    }
}
