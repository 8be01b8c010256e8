//! The data sets of the experiments, in memory.

mod permuted;
pub mod scenes;
pub mod synthetic;
mod text;

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;

use orthant::image::ImageShape;
use orthant::matrix::{Matrix, open};

use crate::Part;
use crate::protocol::Protocol;
use crate::published;
use scenes::Picture;
use synthetic::NoiseLevel;

/// A data set.
pub struct Set {
    /// Its name in print and in the cells.
    pub name: String,
    /// Points in rows.
    pub matrix: Matrix,
    /// Number of clusters to find.
    pub k: usize,
    /// The class of each point, where it is known.
    pub truth: Option<Vec<usize>>,
    /// The name of each class.
    pub classes: Vec<String>,
    /// Where the points stand in an image.
    pub image: Option<ImageShape>,
    /// The pixel of each point, where zero pixels were left out.
    pub pixels: Option<Vec<usize>>,
}

impl Set {
    /// Size and norm: what tells these data from others of the same name.
    pub fn fingerprint(&self) -> orthant::Result<String> {
        let norm2 = open(&self.matrix, None)?.facts().norm2;
        let (points, features) = (self.matrix.points(), self.matrix.features());
        Ok(format!("{points}x{features} {} {norm2:.6e}", self.matrix.nonzeros()))
    }
}

/// Shared by the cells.
pub type Shared = Arc<Set>;

/// A set that was asked for: the data, or why they are not there.
pub type Found = std::result::Result<Shared, String>;

/// The sets that are needed.
#[derive(Default)]
pub struct Sets {
    texts: Vec<(String, Found)>,
    /// The synthetic sets.
    pub levels: Vec<NoiseLevel>,
    /// Hubble or what stands for it, Urban or what stands for it, the swimmer.
    pub hubble: Vec<Picture>,
    pub urban: Vec<Picture>,
    pub swimmer: Option<Picture>,
    /// Sets in several orders of points and features, by the name of the set.
    permuted: Vec<(String, Vec<Shared>)>,
}

impl Sets {
    /// Reads and makes what the parts need.
    pub fn gather(
        data: Option<&Path>,
        protocol: &Protocol,
        wanted: impl Fn(&[Part]) -> bool,
    ) -> Result<Sets> {
        let mut sets = Sets::default();
        if wanted(&[Part::Table2, Part::Table3]) {
            let names: Vec<&str> = published::table2().iter().map(|row| row.set).collect();
            sets.texts = text::texts(data, &names)?;
        }
        if wanted(&[Part::Figure2, Part::Figure4, Part::Table1]) {
            sets.levels = synthetic::levels(protocol.seed, protocol.sets, protocol.paired_sets)?;
        }
        if wanted(&[Part::Figure2, Part::Figure4]) {
            let set = synthetic::on_the_edge(protocol.seed)?;
            sets.permuted.push((synthetic::ON_THE_EDGE.into(), permuted::orders(&set)?));
        }
        if wanted(&[Part::Figure3, Part::Figure5]) {
            sets.hubble = scenes::hubble(data)?;
        }
        if wanted(&[Part::Figure6, Part::Figure7]) {
            sets.urban = scenes::urban(data)?;
        }
        if wanted(&[Part::Figure8]) {
            let swimmer = scenes::swimmer(data)?;
            sets.permuted.push(("swimmer".into(), permuted::orders(&swimmer.set)?));
            sets.swimmer = Some(swimmer);
        }
        Ok(sets)
    }

    /// All orders of a set.
    pub fn permuted(&self, name: &str) -> &[Shared] {
        self.permuted.iter().find(|p| p.0 == name).map_or(&[], |p| &p.1)
    }

    /// The text sets that are there.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &Shared)> {
        self.texts.iter().filter_map(|(name, set)| Some((name.as_str(), set.as_ref().ok()?)))
    }

    /// The text sets that are not, and why.
    pub fn missing_texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().filter_map(|(name, set)| Some((name.as_str(), set.as_ref().err()?.as_str())))
    }
}
