//! The `orthant` program: what `orthant_cli` does, with the last word where memory is used up.

use std::process::ExitCode;

use orthant::matrix::Memory;

/// Where there is no more, the program says so instead of aborting.
#[global_allocator]
static MEMORY: Memory = Memory::new(orthant_cli::out_of_memory);

fn main() -> ExitCode {
    MEMORY.spare_addresses();
    orthant_cli::run(std::env::args_os()).into()
}
