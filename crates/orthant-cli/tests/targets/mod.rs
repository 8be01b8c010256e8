//! What the program reads that others may have written, each as a function of bytes: `hostile.rs` calls them with random
//! ones, `crates/orthant/fuzz` with those that cargo-fuzz learns. They succeed or give an error, and never panic.

#[path = "../../../orthant/tests/targets/hand.rs"]
pub mod hand;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hand::Hand;

/// Numbers, names and texts that have broken programs before.
pub const ODD: &[&str] = &[
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

/// Commands as they are right.
pub const COMMANDS: &[(&str, &[&str])] = &[
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

/// Every flag of a command, by its help.
pub fn flags(help: &str) -> Vec<String> {
    let words = help.split(|c: char| c.is_whitespace() || ",[]".contains(c));
    let mut flags: Vec<String> =
        words.filter(|word| word.starts_with("--") && word.len() > 3).map(str::to_string).collect();
    flags.dedup();
    flags
}

/// One of the commands, with some words that were never meant.
pub fn odd(hand: &mut Hand, flags: &[Vec<String>]) -> Vec<OsString> {
    let which = hand.below(COMMANDS.len());
    let (command, usual) = COMMANDS[which];
    let mut arguments: Vec<OsString> = usual.iter().map(OsString::from).collect();
    for _ in 0..1 + hand.below(3) {
        let at = hand.below(arguments.len() + 1);
        match hand.below(6) {
            0 if !arguments.is_empty() => drop(arguments.remove(at % usual.len().min(arguments.len()))),
            #[cfg(unix)]
            1 => {
                arguments.insert(at, std::os::unix::ffi::OsStringExt::from_vec(vec![b'a', 0xff, 0xfe, b'b']))
            }
            2 => arguments.insert(at, hand.of(ODD).into()),
            _ if flags[which].is_empty() => {}
            _ => {
                arguments.push(hand.of(&flags[which]).into());
                if hand.below(4) > 0 {
                    arguments.push(hand.of(ODD).into());
                }
            }
        }
    }
    arguments.insert(0, command.into());
    arguments
}

/// Arguments are understood, or refused in a line.
pub fn arguments(bytes: &[u8]) -> Result<(), String> {
    static FLAGS: OnceLock<Vec<Vec<String>>> = OnceLock::new();
    let flags = FLAGS.get_or_init(|| {
        let help = |(command, _): &(&str, &[&str])| {
            let words = ["orthant", command, "--help"].map(OsString::from);
            orthant_cli::understood(words).err().map_or(vec![], |help| flags(&help))
        };
        COMMANDS.iter().map(help).collect()
    });
    let words = odd(&mut Hand(bytes), flags);
    orthant_cli::understood(std::iter::once("orthant".into()).chain(words))
}

/// A result with one file edited: what `predict` reads of it is sound, or it is refused in a line. (One at a time.)
pub fn result(folder: &Path, bytes: &[u8]) -> Result<(), String> {
    let read = [".json", ".npy"];
    let mut names: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|name| name.to_str().is_some_and(|name| read.iter().any(|end| name.ends_with(end))));
    names.sort();
    let mut hand = Hand(bytes);
    let name = hand.of(&names);
    let sound = std::fs::read(name).unwrap();
    let mut edited = sound.clone();
    hand.edit(&mut edited, 3);
    std::fs::write(name, &edited).unwrap();
    let read = orthant_cli::readable(folder);
    std::fs::write(name, &sound).unwrap();
    read
}
