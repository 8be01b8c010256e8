//! `orthant reproduce`: the tables and figures of the paper, beside what it printed.
//!
//! The way of the data: [`sets`] → [`plan`] (which cells there are) → [`work`] (computes those that [`cells`] does
//! not hold yet) → one file for each table and figure → [`page`]. [`published`] has what the paper printed.

mod board;
mod cells;
mod course;
mod lab;
mod maps;
mod noise;
mod page;
mod plan;
mod plane;
mod protocol;
mod published;
mod scenes;
mod sets;
mod shown;
mod table1;
mod table2;
mod table3;
mod work;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use orthant::read::write_whole;

use crate::args::{Part, ReproduceArgs};
use crate::output::print;
use crate::terminal::tell;
use crate::{interrupt, load};
use cells::{CELLS, Cells};
use lab::Lab;
use plan::Plan;
use protocol::Protocol;
use sets::Sets;
use shown::Shown;

/// A table or figure: what it is called, which cells it needs, what it is made of.
struct Experiment {
    part: Part,
    plan: fn(&Lab, &mut Plan) -> Result<()>,
    show: fn(&Lab) -> Result<Shown>,
}

/// All of them, in the order of the page.
#[rustfmt::skip]
const EXPERIMENTS: &[Experiment] = &[
    Experiment { part: Part::Figure1, plan: plane::plan, show: plane::show },
    Experiment { part: Part::Figure2, plan: noise::plan_figure2, show: noise::figure2 },
    Experiment { part: Part::Figure3, plan: course::plan, show: course::show },
    Experiment { part: Part::Figure4, plan: noise::plan_figure4, show: noise::figure4 },
    Experiment { part: Part::Table1, plan: table1::plan, show: table1::show },
    Experiment { part: Part::Table2, plan: table2::plan, show: table2::show },
    Experiment { part: Part::Table3, plan: table3::plan, show: table3::show },
    Experiment { part: Part::Figure5, plan: scenes::plan_figure5, show: scenes::figure5 },
    Experiment { part: Part::Figure6, plan: scenes::plan_figure6, show: scenes::figure6 },
    Experiment { part: Part::Figure7, plan: scenes::plan_figure7, show: scenes::figure7 },
    Experiment { part: Part::Figure8, plan: scenes::plan_figure8, show: scenes::figure8 },
];

/// The page.
const PAGE: &str = "index.html";

/// Runs the command.
pub fn run(args: &ReproduceArgs) -> Result<()> {
    let threads = load::threads(&args.work)?;
    let protocol = Protocol::new(args);
    let data = data(args)?;
    // Nothing is written before all that was named is there.
    args.from.iter().try_for_each(|from| Cells::check(from))?;
    is_ours(&args.out)?;
    let cells = Cells::open(&args.out)?;
    for from in &args.from {
        let taken = cells.take(from)?;
        if !args.work.quiet {
            tell!("orthant: {taken} runs taken over from {}", from.display());
        }
    }
    let wanted = |part: Part| args.what.contains(&part) || args.what.contains(&Part::All);
    let sets = Sets::gather(data.as_deref(), &protocol, |parts| parts.iter().any(|part| wanted(*part)))?;
    let lab = Lab { sets: &sets, protocol: &protocol, cells: &cells };
    let experiments: Vec<&Experiment> = EXPERIMENTS.iter().filter(|e| wanted(e.part)).collect();

    let planned = || -> Result<Plan> {
        let mut plan = Plan::default();
        experiments.iter().try_for_each(|e| (e.plan)(&lab, &mut plan))?;
        Ok(plan)
    };
    let all = planned()?.len();
    let missing = planned()?.missing(&cells);
    if !args.work.quiet {
        tell!("orthant: {} of {all} cells to compute", missing.len());
    }
    interrupt::working();
    let problems = work::work(&cells, &missing, &protocol, threads, args.work.quiet)?;

    let shown = experiments.iter().map(|e| (e.show)(&lab)).collect::<Result<Vec<_>>>()?;
    let missing = planned()?.missing(&cells).len();
    let told = page::Told { cells: all, missing, problems: &problems, threads };
    let index = page::index(&lab, &shown, &told)?;
    for (name, bytes) in shown.iter().flat_map(|s| &s.files) {
        write_whole(&args.out.join(name), |out| out.write_all(bytes))?;
    }
    write_whole(&args.out.join(PAGE), |out| out.write_all(index.as_bytes()))?;
    problems.iter().for_each(|problem| tell!("orthant: {problem}"));
    print(&in_words(&shown, &args.out, missing))
}

/// The claims, one a line, and where the page is.
fn in_words(shown: &[Shown], out: &Path, missing: usize) -> String {
    let mut text = String::new();
    for claim in shown.iter().flat_map(|s| &s.claims) {
        text += &format!("{:>13}  {}: {}\n", claim.verdict.words(), claim.place, claim.claim);
    }
    if missing > 0 {
        text += &format!("{missing} cells are still missing: the same command goes on where it stopped.\n");
    }
    text + &format!("The page is {}.", out.join(PAGE).display())
}

/// Refuses to mix results with other files.
fn is_ours(out: &Path) -> Result<()> {
    if out.exists() && !out.is_dir() {
        bail!("{}: exists and is not a folder: choose another name", out.display());
    }
    let empty = std::fs::read_dir(out).map_or(true, |mut entries| entries.next().is_none());
    if !empty && !out.join(CELLS).is_dir() {
        bail!(
            "{}: exists and holds no earlier reproduction: choose another folder with --out",
            out.display()
        );
    }
    Ok(())
}

/// The folder of the data, if one is named.
fn data(args: &ReproduceArgs) -> Result<Option<PathBuf>> {
    let named = args.data.clone().or_else(|| std::env::var_os("ORTHANT_DATA").map(PathBuf::from));
    if let Some(folder) = named.as_ref().filter(|folder| !folder.is_dir()) {
        bail!("{}: is no folder: name the one that holds the data sets with --data", folder.display());
    }
    Ok(named)
}
