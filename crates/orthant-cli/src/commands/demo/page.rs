//! The report of the demo: accuracy against noise, and the parts of the swimmer.

use anyhow::Result;
use orthant::image::ImageShape;
use orthant::report::picture::{Row, gray};
use orthant::report::{Comparison, Contest, Curve, Gallery, Made, Mean, Sweep, comparison};

use super::tables::parts;
use super::{Demo, LIMIT, NOISE};
use crate::args::DemoArgs;
use crate::made;

/// The methods whose curves stand out: the default, the paper's, and what people use otherwise.
const BEFORE: [&str; 4] = ["best", "EM-ONMF", "CHNMF", "k-means"];

/// The page.
pub fn page(args: &DemoArgs, demo: &Demo, threads: usize) -> Result<String> {
    let (command, date) = (made::command(), made::date());
    let notes = [format!(
        "CHNMF and O-PNMF are stopped after {LIMIT} iterations to keep the demo short (5000 to 20000 otherwise)."
    )];
    let made = Made {
        command: Some(&command),
        date: Some(&date),
        threads: Some(threads),
        notes: &notes,
        ..Made::default()
    };
    let lead = format!(
        "Every method on data whose clusters are known: {} synthetic sets for each level of noise, as in the \
         paper, and the swimmer images with their 17 parts. {} runs where the start is random.",
        args.sets, args.runs
    );
    let page = Comparison {
        title: "Demo: all methods on data whose clusters are known",
        verdict: &conclusion(demo),
        lead: &lead,
        made,
        contests: vec![contest(demo)],
        sweeps: vec![sweep(demo)],
        galleries: vec![gallery(demo)?],
        ..Comparison::default()
    };
    Ok(comparison(&page)?)
}

/// What to conclude from the figures.
fn conclusion(demo: &Demo) -> String {
    let noise = NOISE[NOISE.len() / 2];
    let accuracy = |title: &str| {
        let row = demo.contenders.iter().position(|c| c.title() == title)?;
        let all: Vec<f64> = demo.at(noise, row).iter().flat_map(|f| f.accuracy.iter().copied()).collect();
        (!all.is_empty()).then(|| format!("{title} {:.0} %", 100.0 * Mean::of(&all).mean))
    };
    let told: Vec<String> = BEFORE.iter().filter_map(|title| accuracy(title)).collect();
    let (set, results) = demo.swimmer();
    let whole = results.iter().flatten().filter(|f| parts(&f.labels, set) == set.made.k()).count();
    format!(
        "Points in their true cluster at noise {noise}: {}. These clusters are directions with points of any length: \
         k-means goes by distance and cuts them by length. Of {} methods {whole} find all 17 parts of the swimmer.",
        told.join(", "),
        results.iter().flatten().count()
    )
}

/// Accuracy against noise.
fn sweep(demo: &Demo) -> Sweep {
    let curve = |row: usize| {
        let point = |noise: f64| {
            let all: Vec<f64> =
                demo.at(noise, row).iter().flat_map(|f| f.accuracy.iter().map(|x| x * 100.0)).collect();
            (!all.is_empty()).then(|| (noise, Mean::of(&all)))
        };
        Curve {
            method: demo.contenders[row].title(),
            points: NOISE.iter().filter_map(|&noise| point(noise)).collect(),
            reference: false,
            behind: !BEFORE.contains(&demo.contenders[row].title().as_str()),
        }
    };
    Sweep {
        title: "Synthetic data".into(),
        x: "noise".into(),
        y: "accuracy %".into(),
        curves: (0..demo.contenders.len()).map(curve).collect(),
        evenly: true,
        deviations: false,
        caption: "Mean accuracy over all sets and runs: 450 points, 10 features, 6 clusters. The other methods in grey."
            .into(),
    }
}

/// The figures of the swimmer.
fn contest(demo: &Demo) -> Contest {
    let (set, results) = demo.swimmer();
    let row = |(contender, figures): (&orthant::contender::Contender, &Option<_>)| {
        let figures: &crate::contest::Figures = figures.as_ref()?;
        let found = format!("{} of 17 parts", parts(&figures.labels, set));
        Some(figures.compared(contender.title(), found))
    };
    Contest {
        title: "Swimmer".into(),
        methods: demo.contenders.iter().zip(results).filter_map(row).collect(),
        caption: "Mean ± standard deviation over the runs; scores in percent.".into(),
    }
}

/// The parts that the best run of every method found.
fn gallery(demo: &Demo) -> Result<Gallery> {
    let (set, results) = demo.swimmer();
    let mut rows = vec![];
    let image =
        set.made.image.unwrap_or(ImageShape { height: 0, width: 0, scan: orthant::image::Scan::Rows });
    for (contender, figures) in demo.contenders.iter().zip(results) {
        let Some(figures) = figures else { continue };
        let mut maps = vec![];
        for cluster in 0..set.made.k() as i32 {
            let lit: Vec<f64> = figures.labels.iter().map(|&l| f64::from(u8::from(l == cluster))).collect();
            maps.push((format!("cluster {cluster}"), gray(&lit, image)?));
        }
        rows.push(Row {
            name: contender.title(),
            note: format!("{} of 17", parts(&figures.labels, set)),
            maps,
        });
    }
    Ok(Gallery {
        title: "Parts of the swimmer".into(),
        rows,
        caption: "Pixels of each cluster: a torso, and four limbs in four positions each.".into(),
    })
}
