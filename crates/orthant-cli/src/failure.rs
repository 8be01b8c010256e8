//! One line on standard error for whatever went wrong, and the exit code that belongs to it.

use std::ffi::OsString;

use clap::CommandFactory;
use clap::error::{ContextKind, ErrorKind};
use orthant::Error;
use orthant::matrix::amount;

use crate::args::Cli;
use crate::interrupt;
use crate::terminal::say_as_it_is;

/// Bad input or usage.
const BAD_INPUT: u8 = 2;
/// The computation failed on input that looked right, or its result could not be written.
const FAILED: u8 = 1;

/// Tells of an error.
pub fn report(error: &anyhow::Error) -> u8 {
    let broken_pipe = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    };
    // The reader of our output has seen enough (`| head`).
    if error.chain().any(broken_pipe) {
        return 0;
    }
    let mut told = String::new();
    for part in error.chain().map(line) {
        // Some causes are part of the line above them already.
        if !told.ends_with(&part) {
            told = if told.is_empty() { part } else { format!("{told}: {part}") };
        }
    }
    complain(&told);
    if interrupt::happened() {
        return interrupt::EXIT;
    }
    if error.chain().any(failed) { FAILED } else { BAD_INPUT }
}

/// There is no more memory: one line, and nothing half-written stays.
pub fn out_of_memory(bytes: usize) -> ! {
    interrupt::clean_up();
    complain(&format!(
        "the memory is used up, {} more cannot be had: fewer clusters or runs, --precision f32 and a sparse format need less",
        amount(bytes as u128)
    ));
    std::process::exit(FAILED.into())
}

/// Whether better input would not have helped: the computation failed, or the disk did.
fn failed(cause: &(dyn std::error::Error + 'static)) -> bool {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull, WriteZero};
    // An error of a device has a number only, on all Unix systems this one.
    const EIO: i32 = 5;
    let of_the_disk = |e: &std::io::Error| {
        matches!(e.kind(), FileTooLarge | QuotaExceeded | StorageFull | WriteZero)
            || (cfg!(unix) && e.raw_os_error() == Some(EIO))
    };
    cause.downcast_ref::<Error>().is_some_and(|e| !e.is_bad_input())
        || cause.downcast_ref::<std::io::Error>().is_some_and(of_the_disk)
}

/// One cause; the library's parameters are flags here.
fn line(cause: &(dyn std::error::Error + 'static)) -> String {
    match cause.downcast_ref::<Error>() {
        Some(Error::Parameter { name, problem }) if name == "k" => format!("-k: {problem}"),
        Some(Error::Parameter { name, problem }) => format!("--{name}: {problem}"),
        _ => cause.to_string(),
    }
}

/// Shows help, or says in one line what is wrong with the arguments, the first of which may be a command.
pub fn usage(error: clap::Error, first: Option<&OsString>) -> u8 {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // Nobody to tell if even this cannot be printed.
            let _ = error.print();
            0
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            BAD_INPUT
        }
        _ => {
            let tip = tip(&error, first).map(|tip| format!("tip: {tip}")).unwrap_or_default();
            complain(&on_one_line(&format!("{}\n{tip}", error.render()), first));
            BAD_INPUT
        }
    }
}

/// What was probably meant, where the parser of arguments cannot know.
fn tip(error: &clap::Error, first: Option<&OsString>) -> Option<String> {
    let command = first.and_then(|word| word.to_str())?;
    let context = |kind| error.get(kind).map(ToString::to_string).unwrap_or_default();
    match error.kind() {
        ErrorKind::MissingRequiredArgument if context(ContextKind::InvalidArg).contains("-k ") => {
            Some("'orthant choose-k DATA' says how many clusters there are".into())
        }
        ErrorKind::UnknownArgument => {
            let given = context(ContextKind::InvalidArg);
            match (command, given.parse::<usize>()) {
                ("choose-k", Ok(_)) => Some("a range is one word, as in 2..20".into()),
                ("choose-k", _) if ["-k", "--k"].contains(&given.as_str()) => {
                    Some("the range stands alone, as in 2..20".into())
                }
                ("cluster" | "compare" | "advise", Ok(k)) => {
                    Some(format!("the number of clusters is -k {k}"))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn complain(problem: &str) {
    // A line as it is, wherever it ends: what it says to type can be copied.
    say_as_it_is(&format!("orthant: error: {}", problem.replace('\n', " ")));
}

/// clap's paragraphs as one line: what is wrong, the tips, and where to read on.
fn on_one_line(text: &str, first: Option<&OsString>) -> String {
    let mut told = String::new();
    let known = |word: &&str| Cli::command().find_subcommand(word).is_some();
    let mut help = match first.and_then(|word| word.to_str()).filter(known) {
        Some(command) => format!("orthant {command} --help"),
        None => "orthant --help".to_string(),
    };
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(usage) = line.strip_prefix("Usage: ") {
            let command: Vec<&str> =
                usage.split(' ').take_while(|w| w.starts_with(|c: char| c.is_ascii_lowercase())).collect();
            help = format!("{} --help", command.join(" "));
        } else if !line.starts_with("For more information") {
            if !told.is_empty() {
                told.push_str(if line.starts_with("tip:") { "; " } else { " " });
            }
            told.push_str(line.strip_prefix("error: ").unwrap_or(line));
        }
    }
    format!("{told} (see '{help}')")
}
