//! kill −9 at random moments of work that keeps what it has done: `--resume` ends at the same bits, and what stood before
//! stands until the new result is whole. `ORTHANT_KILLS=500` tries as many.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::support::{contents, orthant, run, succeed, texts};

/// Every method, also with several runs, polishes and a certificate that takes its time.
const WORKS: &[&str] = &[
    "-a best --effort quick",
    "-a best-kl-onmf --effort quick",
    "-a best-k-means --effort quick --certificate quick",
    "-a onp-mf --max-iterations 200",
    "-a onp-mf --max-iterations 60 --polish em,moves,swaps",
    "-a em-onmf --runs 12 --polish moves,swaps",
    "-a em-onmf --runs 3 --certificate quick",
    "-a k-means --runs 40",
    "-a spherical-k-means --runs 40 --polish swaps",
    "-a kl-onmf --runs 20",
    "-a chnmf --runs 3 --max-iterations 150",
    "-a o-pnmf --runs 3 --max-iterations 150",
];

/// What does not depend on the time.
const LASTING: &[&str] = &["labels.txt", "components.npy", "strengths.npy"];

fn lasting(folder: &Path) -> BTreeMap<&'static str, Vec<u8>> {
    LASTING.iter().filter_map(|&name| Some((name, std::fs::read(folder.join(name)).ok()?))).collect()
}

fn fraction(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 33) as f64 / (1u64 << 31) as f64
}

fn begin(folder: &Path, command: &str) -> Child {
    let mut program = orthant(folder);
    program.args(command.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::null());
    program.spawn().expect("the program starts")
}

#[test]
fn work_that_is_killed_goes_on_to_the_same_bits() {
    let wanted = std::env::var("ORTHANT_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(WORKS.len());
    let data = tempfile::tempdir().unwrap();
    let folder = data.path();
    let place = folder.join("place");
    succeed(folder, "generate synthetic --noise 0.1 --seed 3 --out set.npy");
    succeed(folder, "cluster set.npy -k 2 -a k-means --out old -q");
    let old = lasting(&folder.join("old"));
    let mut seed = wanted as u64;
    let (mut resumed, mut begun_anew, mut kills) = (0, 0, 0);
    let mut whole: BTreeMap<&str, (BTreeMap<&str, Vec<u8>>, Duration)> = BTreeMap::new();
    for kill in 0..wanted {
        let work = WORKS[kill % WORKS.len()];
        let saving = format!(
            "cluster set.npy -k 6 --threads 1 {work} -q --out place --force --checkpoint saved --checkpoint-every 0"
        );
        let (new, takes) = whole.entry(work).or_insert_with(|| {
            let clock = Instant::now();
            succeed(folder, &saving);
            let takes = clock.elapsed();
            succeed(folder, &format!("cluster set.npy -k 6 {work} -q --out whole --force"));
            let new = lasting(&folder.join("whole"));
            assert!(new.len() == LASTING.len() && new == lasting(&place), "{work}");
            (new, takes)
        });
        let _ = std::fs::remove_dir_all(&place);
        succeed(folder, "cluster set.npy -k 2 -a k-means --out place -q");
        // Killed once, and sometimes once more while it resumes.
        loop {
            let resume = if folder.join("saved").exists() { " --resume saved" } else { "" };
            let mut child = begin(folder, &format!("{saving}{resume}"));
            std::thread::sleep(takes.mul_f64(fraction(&mut seed)));
            child.kill().unwrap();
            // Only work that was under way has been killed: one that had ended shows that less time is to be waited.
            let ended = child.wait().unwrap().success();
            *takes = takes.mul_f64(if ended { 0.8 } else { 1.02 });
            if ended {
                let _ = std::fs::remove_dir_all(&place);
                succeed(folder, "cluster set.npy -k 2 -a k-means --out place -q");
                continue;
            }
            kills += 1;
            let stands = lasting(&place);
            // In the moment of the moves the next run sees to it.
            let moving = contents(&place).keys().any(|name| name.contains(".part/replace"));
            assert!(moving || stands == old || stands == *new, "{work}: neither the old nor the new result");
            if fraction(&mut seed) < 0.7 {
                break;
            }
        }
        let resume = if folder.join("saved").exists() { " --resume saved" } else { "" };
        let output = run(folder, &format!("{saving}{resume}"));
        assert!(output.status.success(), "kill {kill} of {work}: {}", texts(&output).1);
        *if resume.is_empty() { &mut begun_anew } else { &mut resumed } += 1;
        assert!(lasting(&place) == *new, "kill {kill}: {work}{resume} ends at other bits");
        let left: Vec<String> =
            contents(folder).into_keys().filter(|name| name.contains(".part") || name == "saved").collect();
        assert!(left.is_empty(), "kill {kill} of {work}: {left:?}");
    }
    println!(
        "{wanted} of {wanted} ended at the same bits: {resumed} went on from a checkpoint, {begun_anew} began anew; {kills} kills of work under way"
    );
}

#[test]
fn a_reproduction_that_is_killed_keeps_its_cells() {
    let wanted =
        std::env::var("ORTHANT_KILLS").ok().and_then(|n| n.parse::<usize>().ok()).map_or(2, |n| n / 20);
    let data = tempfile::tempdir().unwrap();
    let folder = data.path();
    let work = "reproduce figure2 --quick --runs 1 --sets 1 -q --out";
    let clock = Instant::now();
    succeed(folder, &format!("{work} whole"));
    let takes = clock.elapsed();
    let names: Vec<String> = contents(&folder.join("whole")).into_keys().collect();
    let mut seed = wanted as u64;
    for kill in 0..wanted {
        let _ = std::fs::remove_dir_all(folder.join("place"));
        let mut child = begin(folder, &format!("{work} place"));
        std::thread::sleep(takes.mul_f64(fraction(&mut seed)));
        child.kill().unwrap();
        child.wait().unwrap();
        let cells = |files: BTreeMap<String, Vec<u8>>| -> BTreeMap<String, Vec<u8>> {
            let lasts =
                |name: &str| name.starts_with("cells/") && !name.contains(".part") && !name.ends_with('/');
            files.into_iter().filter(|(name, _)| lasts(name)).collect()
        };
        let kept = if folder.join("place").exists() {
            cells(contents(&folder.join("place")))
        } else {
            BTreeMap::new()
        };
        succeed(folder, &format!("{work} place"));
        let found = contents(&folder.join("place"));
        assert!(found.keys().eq(names.iter()), "kill {kill}: {:?}", found.keys());
        for (name, bytes) in kept {
            // Each line is a cell; those that were there stay, to the byte.
            let (before, now) =
                (String::from_utf8(bytes).unwrap(), String::from_utf8(found[&name].clone()).unwrap());
            assert!(before.lines().all(|line| now.lines().any(|other| other == line)), "kill {kill}: {name}");
        }
    }
}
