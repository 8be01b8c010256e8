//! Reads a matrix in any format and writes it in the one that the ending of the second path says:
//! `cargo run --release -p orthant --example convert -- IN OUT`. Without OUT it only tells what it read.

use std::path::Path;
use std::time::Instant;

use orthant::read::{Options, read, write};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (Some(input), output, variable) = (arguments.first(), arguments.get(1), arguments.get(2)) else {
        eprintln!("usage: convert IN [OUT [VARIABLE]]");
        std::process::exit(2);
    };
    if let Err(error) = convert(Path::new(input), output.map(Path::new), variable.cloned()) {
        eprintln!("{error}");
        std::process::exit(2);
    }
}

fn convert(input: &Path, output: Option<&Path>, variable: Option<String>) -> orthant::Result<()> {
    let start = Instant::now();
    let loaded = read(input, &Options { variable, ..Options::default() })?;
    let seconds = start.elapsed().as_secs_f64();
    let (points, features) = (loaded.matrix.points(), loaded.matrix.features());
    eprintln!("{}: {points} points of {features} features, {seconds:.3} s", loaded.format);
    loaded.notes.iter().for_each(|note| eprintln!("{note}"));
    output.map_or(Ok(()), |output| write(output, &loaded))
}
