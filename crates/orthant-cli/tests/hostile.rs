//! Arguments and results that were never meant: every answer is a success or one line, never a panic. Made by a seeded
//! generator from what is right; `ORTHANT_HOSTILE=N` tries more.
#![cfg(unix)]

use std::ffi::OsString;
use std::path::Path;

use crate::support::{contents, folder, orthant, succeed};
use crate::targets::{self, hand::Hand};

/// Random bytes that steer a target.
struct Draw(u64);

impl Draw {
    fn bytes(&mut self) -> Vec<u8> {
        let mut next = || {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 56) as u8
        };
        (0..8 + usize::from(next() % 40)).map(|_| next()).collect()
    }
}

fn tries(usual: usize) -> usize {
    std::env::var("ORTHANT_HOSTILE").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// Runs the program for at most a minute with a gigabyte or two, and says what was wrong with its answer.
fn answer(folder: &Path, arguments: &[OsString]) -> Result<(), String> {
    let program = orthant(folder).get_program().to_os_string();
    let output = std::process::Command::new("sh")
        .args(["-c", "ulimit -v 2000000; ulimit -t 60; exec \"$0\" \"$@\""])
        .arg(program)
        .args(arguments)
        .current_dir(folder)
        .env_remove("ORTHANT_DATA")
        .output()
        .expect("the program starts");
    let told = String::from_utf8_lossy(&output.stderr);
    let problem = told.lines().filter(|line| line.starts_with("orthant: error: ")).count();
    match output.status.code() {
        Some(0) if problem == 0 => Ok(()),
        // Help where there is nothing else is more than a line.
        Some(1 | 2) if problem == 1 || told.contains("Usage:") => Ok(()),
        _ => Err(format!("{:?}\n{arguments:?}\n{told}", output.status)),
    }
}

#[test]
fn arguments_that_were_never_meant_get_one_line() {
    let folder = folder();
    succeed(folder.path(), "cluster set.npy -k 6 -a em-onmf --out result -q");
    let mut draw = Draw(tries(0) as u64 + 11);
    let flags: Vec<Vec<String>> = targets::COMMANDS
        .iter()
        .map(|(command, _)| {
            let mut flags = targets::flags(&succeed(folder.path(), &format!("{command} --help")).0);
            // How long work may take, and where files go, is not the question.
            let aside = ["--help", "--time", "--out", "--runs", "--max-iterations"];
            flags.retain(|flag| !aside.contains(&flag.as_str()));
            flags
        })
        .collect();
    for _ in 0..tries(150) {
        let arguments = targets::odd(&mut Hand(&draw.bytes()), &flags);
        answer(folder.path(), &arguments).unwrap();
    }
}

/// The same without a process for each, so many more; nothing is done with them.
#[test]
fn arguments_are_understood_or_refused() {
    let mut draw = Draw(tries(0) as u64 + 3);
    let mut understood = 0;
    let times = tries(150) * 20;
    for _ in 0..times {
        match targets::arguments(&draw.bytes()) {
            Ok(()) => understood += 1,
            Err(told) => assert!(!told.trim().is_empty()),
        }
    }
    assert!(understood * 50 > times && understood < times, "{understood} of {times}");
}

#[test]
fn results_that_were_damaged_are_refused_or_used() {
    let folder = folder();
    let place = folder.path().join("result");
    succeed(folder.path(), "cluster set.npy -k 6 -a em-onmf --weighting tf-idf --out result -q");
    let sound = contents(&place);
    let names: Vec<&String> =
        sound.keys().filter(|name| ["json", "npy", "txt"].iter().any(|end| name.ends_with(end))).collect();
    let mut draw = Draw(tries(0) as u64 + 5);
    let arguments: Vec<OsString> = ["predict", "result", "set.npy"].map(OsString::from).to_vec();
    for _ in 0..tries(120) {
        let drawn = draw.bytes();
        let mut hand = Hand(&drawn);
        let name = *hand.of(&names);
        let mut bytes = sound[name].clone();
        hand.edit(&mut bytes, 3);
        std::fs::write(place.join(name), &bytes).unwrap();
        answer(folder.path(), &arguments).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        std::fs::write(place.join(name), &sound[name]).unwrap();
    }
    answer(folder.path(), &arguments).unwrap();
    // The same without a process for each, so many more.
    let mut used = 0;
    let times = tries(120) * 10;
    for _ in 0..times {
        match targets::result(&place, &draw.bytes()) {
            Ok(()) => used += 1,
            Err(told) => assert!(told.lines().count() == 1, "{told}"),
        }
    }
    assert!(used > 0 && used < times, "{used} of {times}");
    assert_eq!(contents(&place), sound);
}
