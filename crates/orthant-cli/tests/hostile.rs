//! Arguments and results that were never meant: every answer is a success or one line, never a panic. Made by a seeded
//! generator from what is right; `ORTHANT_HOSTILE=N` tries more.
#![cfg(unix)]

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use crate::support::{contents, folder, orthant, succeed};

struct Draw(u64);

impl Draw {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % count.max(1)
    }
    fn of<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
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

/// Numbers, names and texts that have broken programs before.
const ODD: &[&str] = &[
    "0",
    "-1",
    "1",
    "2",
    "6",
    "450",
    "451",
    "1e300",
    "1e-300",
    "0.5",
    "nan",
    "inf",
    "-inf",
    "",
    " ",
    "..",
    "2..3",
    "3..2",
    "0..0",
    "18446744073709551616",
    "9223372036854775807",
    "4294967296",
    "1e999",
    "--",
    "-",
    "=",
    ",",
    "em,em",
    "svd",
    "residual",
    "labels:set.labels",
    "labels:",
    "centroids:set.npy",
    "set.npy",
    "missing",
    "/dev/null",
    "result",
    "\u{1b}[2J",
    "ä",
    "10x45",
    "0x0",
    "99999999999x2",
    "450x1",
    "name\nline",
    "truth",
    "tf-idf",
    "tf-idf,unit",
    "f32",
    "quick",
];

#[test]
fn arguments_that_were_never_meant_get_one_line() {
    let folder = folder();
    succeed(folder.path(), "cluster set.npy -k 6 -a em-onmf --out result -q");
    let mut draw = Draw(tries(0) as u64 + 11);
    let commands: &[(&str, &[&str])] = &[
        ("cluster", &["set.npy", "-k", "6", "-q"]),
        ("compare", &["set.npy", "-k", "3", "--methods", "em-onmf", "--runs", "1", "-q"]),
        ("advise", &["set.npy", "-k", "2", "--runs", "1", "--halves", "1", "-q"]),
        ("choose-k", &["set.npy", "2..3", "--runs", "1", "--halves", "1", "-q"]),
        ("predict", &["result", "set.npy"]),
        ("evaluate", &["set.labels", "set.labels"]),
        ("info", &["set.npy"]),
        ("convert", &["set.npy", "made.mtx", "--force"]),
        ("generate", &["synthetic", "--out", "made.npy", "--force"]),
    ];
    let flags: Vec<Vec<String>> = commands
        .iter()
        .map(|(command, _)| {
            let (help, _) = succeed(folder.path(), &format!("{command} --help"));
            let words = help.split(|c: char| c.is_whitespace() || ",[]".contains(c));
            let mut flags: Vec<String> =
                words.filter(|word| word.starts_with("--") && word.len() > 3).map(str::to_string).collect();
            flags.dedup();
            // How long work may take, and where files go, is not the question.
            flags.retain(|flag| {
                !["--help", "--time", "--out", "--runs", "--max-iterations"].contains(&flag.as_str())
            });
            flags
        })
        .collect();
    for _ in 0..tries(150) {
        let which = draw.below(commands.len());
        let (command, usual) = commands[which];
        let mut arguments: Vec<OsString> = usual.iter().map(OsString::from).collect();
        for _ in 0..1 + draw.below(3) {
            let at = draw.below(arguments.len() + 1);
            match draw.below(6) {
                0 if !arguments.is_empty() => drop(arguments.remove(at % usual.len().min(arguments.len()))),
                1 => arguments.insert(at, OsString::from_vec(vec![b'a', 0xff, 0xfe, b'b'])),
                2 => arguments.insert(at, draw.of(ODD).into()),
                _ => {
                    arguments.push(draw.of(&flags[which]).into());
                    if draw.below(4) > 0 {
                        arguments.push(draw.of(ODD).into());
                    }
                }
            }
        }
        arguments.insert(0, command.into());
        answer(folder.path(), &arguments).unwrap();
    }
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
    let tricky: &[&[u8]] = &[
        b"-1",
        b"1e999",
        b"null",
        b"[]",
        b"{}",
        b"\"\"",
        b"18446744073709551616",
        b"\0",
        b"\xff\xff\xff\xff",
        b"NaN",
        b",",
    ];
    let arguments: Vec<OsString> = ["predict", "result", "set.npy"].map(OsString::from).to_vec();
    for _ in 0..tries(120) {
        let name = *draw.of(&names);
        let mut bytes = sound[name].clone();
        for _ in 0..1 + draw.below(3) {
            let at = draw.below(bytes.len());
            match draw.below(5) {
                0 => bytes.truncate(at),
                1 if !bytes.is_empty() => bytes[at] ^= 1 << draw.below(8),
                2 => drop(bytes.drain(at..(at + 1 + draw.below(30)).min(bytes.len()))),
                3 => drop(bytes.splice(at..at, draw.of(tricky).iter().copied())),
                // A number, a word or a name for another: what a reader of structure meets.
                _ => {
                    let word = |b: &u8| b.is_ascii_alphanumeric() || b"._-\"".contains(b);
                    let end =
                        bytes[at..].iter().position(|b| !word(b)).map_or(bytes.len(), |length| at + length);
                    drop(bytes.splice(at..end, draw.of(tricky).iter().copied()));
                }
            }
        }
        std::fs::write(place.join(name), &bytes).unwrap();
        answer(folder.path(), &arguments).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        std::fs::write(place.join(name), &sound[name]).unwrap();
    }
    answer(folder.path(), &arguments).unwrap();
}
