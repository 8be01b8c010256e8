//! `orthant`: ONMF and clustering of nonnegative data from the command line.

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

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use orthant::matrix::Memory;

/// Where there is no more, the program says so instead of aborting.
#[global_allocator]
static MEMORY: Memory = Memory::new(failure::out_of_memory);

fn main() -> ExitCode {
    MEMORY.spare_addresses();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return failure::usage(error),
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
        Command::Completions(args) => commands::completions::run(&args),
    };
    match result {
        Ok(()) if interrupt::happened() => ExitCode::from(interrupt::EXIT),
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}
