//! The tables and figures of the paper, computed again beside what it printed: what `orthant reproduce` does.
//!
//! [`Reproduction::open`] → [`Reproduction::work`] → [`Reproduction::write`]; a program adds [`Settings`] and a [`Watch`].
//!
//! The way of the data: `sets` → `plan` (which cells there are) → `work` (computes those that `cells` does
//! not hold yet) → one file for each table and figure → `page`. `published` has what the paper printed.

mod cells;
mod course;
mod engine;
mod estimate;
mod lab;
mod maps;
mod noise;
mod page;
mod permutations;
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
use orthant::run::{Event, StopAsked};

use cells::{CELLS, Cells};
use engine::Engines;
use lab::Lab;
pub use plan::Cell;
use plan::Plan;
use protocol::Protocol;
use sets::Sets;
use shown::Shown;

/// A table or figure of the paper, by its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // the names say it
pub enum Part {
    Figure1,
    Figure2,
    Figure3,
    Figure4,
    Figure5,
    Figure6,
    Figure7,
    Figure8,
    Table1,
    Table2,
    Table3,
    All,
}

/// What they are called on a command line.
pub const PARTS: &[(&str, Part)] = &[
    ("figure1", Part::Figure1),
    ("figure2", Part::Figure2),
    ("figure3", Part::Figure3),
    ("figure4", Part::Figure4),
    ("figure5", Part::Figure5),
    ("figure6", Part::Figure6),
    ("figure7", Part::Figure7),
    ("figure8", Part::Figure8),
    ("table1", Part::Table1),
    ("table2", Part::Table2),
    ("table3", Part::Table3),
    ("all", Part::All),
];

/// What to reproduce, from what, and where to.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Tables and figures.
    pub what: Vec<Part>,
    /// The folder of the data sets, where there is one.
    pub data: Option<PathBuf>,
    /// The folder for the page, the tables, the figures, and what has been computed.
    pub out: PathBuf,
    /// Folders of earlier runs, whose cells are taken over.
    pub from: Vec<PathBuf>,
    /// Compute nothing: show what is there, also of older engines.
    pub show_only: bool,
    /// Few repetitions, short limits.
    pub quick: bool,
    /// Repetitions where the start is random, unless the protocol's own.
    pub runs: Option<usize>,
    /// Synthetic sets for each level of noise, unless the protocol's own.
    pub sets: Option<usize>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Cells that are computed side by side.
    pub threads: usize,
    /// The command and the day, for the page.
    pub command: String,
    /// See there.
    pub date: String,
}

impl Settings {
    /// Whether something is asked for that needs the published data sets, and they are not there.
    pub fn lacks_data(&self) -> bool {
        let needs = [Part::All, Part::Figure6, Part::Figure7, Part::Table2, Part::Table3];
        self.data.is_none() && self.what.iter().any(|part| needs.contains(part))
    }
}

/// Who watches the work: shows where it is, and may end it. `line` is the thread that a cell is computed on.
pub trait Watch: Sync {
    /// A cell begins.
    fn begin(&self, _line: usize, _cell: &Cell) {}
    /// A cell has done an iteration.
    fn iteration(&self, _line: usize, _cell: &Cell, _event: &Event) {}
    /// A cell has ended.
    fn done(&self, _line: usize, _cell: &Cell) {}
    /// Whether the work should end, keeping what is there.
    fn stopped(&self) -> bool {
        false
    }
    /// The same question for where there is no iteration; then the answer must be that of [`Watch::stopped`].
    fn stop_asked(&self) -> Option<StopAsked> {
        None
    }
}

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

/// The page, and the same as Markdown.
const PAGE: &str = "index.html";
const DOCUMENT: &str = "reproduction.md";

/// A reproduction: opened, worked on, written.
pub struct Reproduction {
    settings: Settings,
    protocol: Protocol,
    cells: Cells,
    sets: Sets,
    /// Runs that were taken over from each folder named for that.
    taken: Vec<(PathBuf, usize)>,
}

impl Reproduction {
    /// Checks all that was named, reads the data and what has been computed before.
    pub fn open(settings: Settings) -> Result<Reproduction> {
        let protocol = Protocol::new(&settings, Engines::probe()?);
        if let Some(folder) = settings.data.as_ref().filter(|folder| !folder.is_dir()) {
            bail!("{}: is no folder: name the one that holds the data sets with --data", folder.display());
        }
        // Nothing is written before all that was named is there.
        settings.from.iter().try_for_each(|from| Cells::check(from))?;
        is_ours(&settings.out)?;
        let cells = Cells::open(&settings.out)?;
        let taken = settings.from.iter().map(|from| Ok((from.clone(), cells.take(from)?)));
        let taken = taken.collect::<Result<_>>()?;
        let wanted = |part: Part| settings.what.contains(&part) || settings.what.contains(&Part::All);
        let sets =
            Sets::gather(settings.data.as_deref(), &protocol, |parts| parts.iter().any(|p| wanted(*p)))?;
        Ok(Reproduction { settings, protocol, cells, sets, taken })
    }

    /// Runs that were taken over from each folder named for that.
    pub fn taken(&self) -> &[(PathBuf, usize)] {
        &self.taken
    }

    /// How many cells there are, and those that are still to be computed.
    pub fn missing(&self) -> Result<(usize, Vec<Cell>)> {
        let mut plan = Plan::default();
        self.experiments().try_for_each(|e| (e.plan)(&self.lab(), &mut plan))?;
        Ok((plan.len(), plan.missing(&self.cells, self.settings.show_only)))
    }

    /// Computes cells until they are all there or the watcher ends it; what methods refused is returned.
    pub fn work(&self, missing: &[Cell], watch: &dyn Watch) -> Result<Vec<String>> {
        let missing = if self.settings.show_only { &[] } else { missing };
        work::work(&self.cells, missing, &self.protocol, self.settings.threads, watch)
    }

    /// Writes the page, the tables and the figures, and returns the claims, one a line.
    pub fn write(&self, problems: &[String]) -> Result<String> {
        let lab = self.lab();
        let out = &self.settings.out;
        let mut shown = vec![];
        for experiment in self.experiments() {
            let mut part = (experiment.show)(&lab)?;
            engine::mark(&mut part, &lab.take_seen(), &self.protocol.engines);
            shown.push(part);
        }
        let (all, missing) = self.missing()?;
        let told = page::Told { cells: all, missing: missing.len(), problems, settings: &self.settings };
        let index = page::index(&lab, &shown, &told)?;
        for (name, bytes) in shown.iter().flat_map(|s| &s.files) {
            write_whole(&out.join(name), |out| out.write_all(bytes))?;
        }
        let document = page::document(&lab, &shown, missing.len());
        write_whole(&out.join(DOCUMENT), |out| out.write_all(document.as_bytes()))?;
        write_whole(&out.join(PAGE), |out| out.write_all(index.as_bytes()))?;
        Ok(in_words(&shown, out, missing.len(), self.settings.show_only))
    }

    fn experiments(&self) -> impl Iterator<Item = &'static Experiment> {
        let what = &self.settings.what;
        EXPERIMENTS.iter().filter(move |e| what.contains(&e.part) || what.contains(&Part::All))
    }

    fn lab(&self) -> Lab<'_> {
        Lab::new(&self.sets, &self.protocol, &self.cells)
    }
}

/// The claims, one a line, and where the page is.
fn in_words(shown: &[Shown], out: &Path, missing: usize, show_only: bool) -> String {
    let mut text = String::new();
    for claim in shown.iter().flat_map(|s| &s.claims) {
        text += &format!("{:>22}  {}: {}\n", claim.verdict.words(), claim.place, claim.claim);
    }
    if missing > 0 {
        let how = if show_only {
            "without --show-only they are computed"
        } else {
            "the same command goes on where it stopped"
        };
        text += &format!("{missing} cells are still missing: {how}.\n");
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
