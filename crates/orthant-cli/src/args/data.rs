//! Which file, how to read it, and what comes with it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use orthant::image::Scan;
use orthant::read;

use super::parse::{height_and_width, weighting};

/// What the points are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Orientation {
    Rows,
    Columns,
}

impl Orientation {
    /// Its word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Orientation::Rows => "rows",
            Orientation::Columns => "columns",
        }
    }
}

/// Single or double precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Precision {
    F32,
    F64,
}

/// Which pixel follows which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScanOrder {
    Columns,
    Rows,
}

impl From<ScanOrder> for Scan {
    fn from(order: ScanOrder) -> Scan {
        match order {
            ScanOrder::Columns => Scan::Columns,
            ScanOrder::Rows => Scan::Rows,
        }
    }
}

/// A file and how to read it.
#[derive(Debug, Args)]
pub struct ReadArgs {
    /// The data: a file, or a folder of pictures; points are rows
    #[arg(value_name = "DATA")]
    pub path: PathBuf,
    /// Read the file as this format [default: what it looks like]
    #[arg(long, value_name = "NAME", help_heading = "Data")]
    pub format: Option<String>,
    /// Which variable of a .mat or .npz file [default: the only matrix]
    #[arg(long, value_name = "NAME", help_heading = "Data")]
    pub variable: Option<String>,
    /// Precision in memory [default: f32 for float32 files, otherwise f64]
    #[arg(long, value_name = "P", hide_possible_values = false, help_heading = "Data")]
    pub precision: Option<Precision>,
}

impl ReadArgs {
    /// As the library wants it.
    pub fn options(&self) -> read::Options {
        read::Options {
            format: self.format.clone(),
            variable: self.variable.clone(),
            precision: self.precision.map(|p| match p {
                Precision::F32 => read::Precision::F32,
                Precision::F64 => read::Precision::F64,
            }),
            header: None,
        }
    }
}

/// A file with everything that may come with it.
#[derive(Debug, Args)]
pub struct DataArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    /// What to cluster
    #[arg(long, value_name = "WHICH", default_value = "rows", help_heading = "Data")]
    pub cluster: Orientation,
    /// Classes of the points, one a line: any words or numbers [default: those in the data, if any]
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub truth: Option<PathBuf>,
    /// Names of the features, one a line
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub vocabulary: Option<PathBuf>,
    /// Names of the points, one a line
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub names: Option<PathBuf>,
    /// Weights of the points, one number a line
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub weights: Option<PathBuf>,
    /// none, tf-idf (smooth idf), unit (points of norm 1), or tf-idf,unit
    #[arg(long, value_name = "LIST", value_parser = weighting_list, default_value = "none", help_heading = "Data")]
    pub weighting: WeightingList,
    /// The points (or features) are the pixels of an image of this size
    #[arg(long, value_name = "HEIGHTxWIDTH", value_parser = height_and_width, help_heading = "Data")]
    pub image: Option<(usize, usize)>,
    /// How its pixels are listed: column after column (MATLAB) or row after row
    #[arg(long, value_name = "ORDER", default_value = "columns", requires = "image", help_heading = "Data")]
    pub scan: ScanOrder,
}

/// Names of weightings, in order.
#[derive(Debug, Clone, Default)]
pub struct WeightingList(pub Vec<String>);

fn weighting_list(text: &str) -> Result<WeightingList, String> {
    weighting(text).map(WeightingList)
}
