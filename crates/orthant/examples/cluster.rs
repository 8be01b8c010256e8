//! Clusters a file, and scores the result where a truth is given:
//! `cargo run --release -p orthant --example cluster -- DATA K [METHOD [TRUTH]]`.

use orthant::pipeline::DEFAULT_METHOD;
use orthant::{Error, Job, cluster, evaluate, matrix::open, read};

fn main() -> orthant::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [data, k, rest @ ..] = args.as_slice() else {
        eprintln!("usage: cluster DATA K [METHOD [TRUTH]]");
        std::process::exit(2);
    };
    let k = k.parse().map_err(|_| Error::Data(format!("'{k}' is not a number of clusters")))?;
    let loaded = read::read(data.as_ref(), &read::Options::default())?;
    let points = open(&loaded.matrix, None)?;
    let job = Job::new(rest.first().map_or(DEFAULT_METHOD, String::as_str), k)?;
    let outcome = cluster(&*points, &job, &mut ())?;
    println!("sizes {:?} after {} iterations", outcome.solution.sizes, outcome.best().iterations());
    println!("{:#?}", outcome.certificate);
    if let Some(truth) = rest.get(1) {
        let (truth, _) = evaluate::classes(&read::lines(truth.as_ref())?);
        println!("accuracy {:.4}", evaluate::scores(&outcome.solution.labels, &truth)?.accuracy);
    }
    Ok(())
}
