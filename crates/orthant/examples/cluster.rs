//! Clusters a file and scores it: `cargo run --release --example cluster -- DATA K METHOD [TRUTH] [em]`.

use orthant::{Job, cluster, evaluate, matrix::open, read};

fn main() -> orthant::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [data, k, method, rest @ ..] = args.as_slice() else {
        eprintln!("usage: cluster DATA K METHOD [TRUTH] [em]");
        std::process::exit(2);
    };
    let loaded = read::read(data.as_ref(), &read::Options::default())?;
    let points = open(&loaded.matrix, None)?;
    let k = k.parse().map_err(|_| orthant::Error::Data(format!("'{k}' is not a number of clusters")))?;
    let job = Job {
        polish: rest.iter().any(|a| a == "em"),
        runs: std::env::var("RUNS").map_or(1, |r| r.parse().unwrap_or(1)),
        ..Job::new(method, k)?
    };
    let outcome = cluster(&*points, &job, &mut ())?;
    let best = outcome.best();
    println!(
        "{}: relative error {:.6}, bound {:.6}, {} iterations, {:?}, {:.3} s + {:.3} s, sizes {:?} obj {}",
        method,
        outcome.certificate.relative_error,
        outcome.certificate.lower_bound,
        best.iterations(),
        best.stop(),
        outcome.seconds,
        outcome.certificate_seconds,
        outcome.solution.sizes,
        best.objective,
    );
    if let Some(truth) = rest.first().filter(|a| *a != "em") {
        let (truth, _) = evaluate::classes(&read::lines(truth.as_ref())?);
        let mut mean = 0.0;
        for run in &outcome.runs {
            mean += evaluate::scores(&run.labels, &truth)?.accuracy;
        }
        println!(
            "accuracy {:.4} mean {:.4}",
            evaluate::scores(&outcome.solution.labels, &truth)?.accuracy,
            mean / outcome.runs.len() as f64
        );
    }
    Ok(())
}
