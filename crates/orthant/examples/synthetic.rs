//! Mean accuracy of every method on the paper's synthetic sets, for each noise level.
use orthant::{
    Job,
    algorithms::METHODS,
    cluster, evaluate,
    generate::{Generator, Synthetic},
    matrix::open,
    start::Start,
};

fn main() -> orthant::Result<()> {
    let levels = [0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0];
    let sets: u64 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(10);
    for method in METHODS {
        for start in method.starts {
            if *start == "residual" {
                continue;
            }
            if let Ok(only) = std::env::var("ONLY")
                && only != method.name
            {
                continue;
            }
            let mut line = format!("{:18} {:8}", method.name, start);
            let begun = std::time::Instant::now();
            let mut its = 0;
            for noise in levels {
                let (mut sum, mut count) = (0.0, 0);
                for seed in 0..sets {
                    let made = Synthetic { noise, seed, ..Synthetic::default() }.generate()?;
                    let data = open(&made.matrix, None)?;
                    let job = Job {
                        start: Some(Start::named(start)?),
                        runs: 10,
                        values: if let Ok(t) = std::env::var("TOL") {
                            orthant::algorithms::Values::new().set("tolerance", t.parse().unwrap())
                        } else {
                            Default::default()
                        },
                        ..Job::new(method.name, 6)?
                    };
                    for run in cluster(&*data, &job, &mut ())?.runs {
                        sum += evaluate::scores(&run.labels, &made.truth)?.accuracy;
                        its += run.iterations();
                        count += 1;
                    }
                }
                line += &format!(" {:.4}", sum / count as f64);
            }
            println!("{line}  {:.1} s {its} iterations", begun.elapsed().as_secs_f64());
        }
    }
    Ok(())
}
