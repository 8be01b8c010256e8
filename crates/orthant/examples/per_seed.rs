use orthant::{Job, cluster, evaluate, generate::{Generator, Synthetic}, matrix::open};
fn main() -> orthant::Result<()> {
    for seed in 0..40 {
        let made = Synthetic { noise: 0.01, seed, ..Synthetic::default() }.generate()?;
        let data = open(&made.matrix, None)?;
        let o = cluster(&*data, &Job::new("onp-mf", 6)?, &mut ())?;
        let p = cluster(&*data, &Job{polish:true, ..Job::new("onp-mf", 6)?}, &mut ())?;
        let a = evaluate::scores(&o.solution.labels, &made.truth)?.accuracy;
        let b = evaluate::scores(&p.solution.labels, &made.truth)?.accuracy;
        if a < 0.9999 { println!("{seed} {a:.4} {b:.4} err {} {} its {} norm {}", o.certificate.relative_error, p.certificate.relative_error, o.best().iterations(), data.facts().norm2.sqrt()/data.facts().scale);
        orthant::read::write(format!("/tmp/syn{seed}.npy").as_ref(), &made.matrix.clone().into())?; 
        std::fs::write(format!("/tmp/syn{seed}.txt"), made.truth.iter().map(|t| format!("{t}\n")).collect::<String>()).unwrap();}
    }
    Ok(())
}
