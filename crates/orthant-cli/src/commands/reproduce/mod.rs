//! `orthant reproduce`: the tables and figures of the paper, beside what it printed.

mod board;

use std::path::PathBuf;

use anyhow::Result;
use orthant_reproduce::{Reproduction, Settings};

use crate::args::ReproduceArgs;
use crate::output::print;
use crate::terminal::tell;
use crate::{interrupt, load, made};
use board::Board;

/// Runs the command.
pub fn run(args: &ReproduceArgs) -> Result<()> {
    let (threads, quiet) = (load::threads(&args.work)?, args.work.quiet);
    let settings = Settings {
        what: args.what.clone(),
        data: args.data.clone().or_else(|| std::env::var_os("ORTHANT_DATA").map(PathBuf::from)),
        out: args.out.clone(),
        from: args.from.clone(),
        show_only: args.show_only,
        quick: args.quick,
        runs: args.runs,
        sets: args.sets,
        seed: args.seed,
        threads,
        command: made::command(),
        date: made::date(),
    };
    let lacks_data = settings.lacks_data();
    let reproduction = Reproduction::open(settings)?;
    let (cells, missing) = reproduction.missing()?;
    if !quiet {
        for (from, runs) in reproduction.taken() {
            tell!("orthant: {runs} runs taken over from {}", from.display());
        }
        if lacks_data {
            tell!(
                "orthant: the published data sets are not here, and what needs them is left out: --data DIR names their folder"
            );
        }
        let what = if args.show_only { "missing" } else { "to compute" };
        tell!("orthant: {} of {cells} cells {what}", missing.len());
    }
    interrupt::working();
    let board = Board::new(&missing, threads, quiet);
    let problems = reproduction.work(&missing, &board);
    board.end();
    let problems = problems?;
    let words = reproduction.write(&problems)?;
    problems.iter().for_each(|problem| tell!("orthant: {problem}"));
    print(&words)
}
