//! `orthant completions`: scripts that complete commands and flags.

use anyhow::Result;
use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::output::print_as_it_is;

/// Runs the command.
pub fn run(args: &CompletionsArgs) -> Result<()> {
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut Cli::command(), "orthant", &mut script);
    print_as_it_is(&String::from_utf8_lossy(&script))
}
