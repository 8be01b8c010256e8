//! Reads a matrix in any format and writes it in the one that the ending of the second path says:
//! `cargo run --release -p orthant --example convert -- IN OUT`. Without OUT it only tells what it read.

use std::path::Path;
use std::time::Instant;

use orthant::read::{Options, read, write};

fn main() -> orthant::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let options = Options { variable: arguments.get(2).cloned(), ..Options::default() };
    let [input, output @ ..] = &arguments[..] else {
        eprintln!("usage: convert IN [OUT [VARIABLE]]");
        std::process::exit(2);
    };
    let start = Instant::now();
    let loaded = read(Path::new(input), &options)?;
    let seconds = start.elapsed().as_secs_f64();
    let (points, features) = (loaded.matrix.points(), loaded.matrix.features());
    eprintln!("{input}: {}, {points} points of {features} features, {seconds:.3} s", loaded.format);
    loaded.notes.iter().for_each(|note| eprintln!("{note}"));
    match output.first() {
        Some(output) => write(Path::new(output), &loaded),
        None => Ok(()),
    }
}
