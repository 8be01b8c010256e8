//! `orthant`: ONMF and clustering of nonnegative data from the command line. A library, so that the Python package has the
//! same program without a second copy of the engine.

// What `print!` cannot write ends the program: `terminal` and `output` know better.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod bar;
mod commands;
mod contest;
mod failure;
mod interrupt;
mod labels;
mod load;
mod made;
mod naming;
mod output;
mod progress;
mod summary;
mod terminal;

use std::ffi::OsString;

use clap::Parser;

use args::{Cli, Command};
pub use failure::out_of_memory;

/// Whether a command line, which begins with the program's name, can be understood; otherwise what is said of it. Nothing
/// is done: this is for those who try to break it.
#[doc(hidden)]
pub fn understood(words: impl IntoIterator<Item = OsString>) -> Result<(), String> {
    Cli::try_parse_from(words).map(drop).map_err(|error| error.to_string())
}

/// Whether `predict` can read a result; otherwise what it says. For those who try to break it.
#[doc(hidden)]
pub fn readable(result: &std::path::Path) -> Result<(), String> {
    commands::predict::check_result(result).map_err(|error| format!("{error:#}"))
}

/// Does what a command line says, which begins with the program's name, and gives the code to exit with. Once in a process:
/// it listens to Ctrl-C from then on.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    let words = made::remember(words);
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => return failure::usage(error, words.get(1)),
    };
    interrupt::watch();
    let result = match cli.command {
        Command::Cluster(args) => commands::cluster::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Advise(args) => commands::advise::run(&args),
        Command::ChooseK(args) => commands::choose_k::run(&args),
        Command::Evaluate(args) => commands::evaluate::run(&args),
        Command::Predict(args) => commands::predict::run(&args),
        Command::Generate(args) => commands::generate::run(&args),
        Command::Convert(args) => commands::convert::run(&args),
        Command::Info(args) => commands::info::run(&args),
        Command::Methods(args) => commands::methods::run(&args),
        Command::Demo(args) => commands::demo::run(&args),
        Command::Reproduce(args) => commands::reproduce::run(&args),
        Command::Manual(args) => commands::manual::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
    };
    match result {
        Ok(()) if interrupt::happened() => interrupt::EXIT,
        Ok(()) => 0,
        Err(error) => failure::report(&error),
    }
}
