//! Which file, how to read it, and what comes with it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use orthant::image::Scan;
use orthant::read::{self, Columns};
use orthant::recipe::{Missing, Orientation, Recipe};
use orthant::texts::{Frequency, Settings, StopWords};
use orthant::weighting::Weighting;

use super::parse::{frequency, height_and_width, missing, orientation, positive, precision, size, weighting};

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
    /// The data: a file, a folder of pictures, of texts or of 10x Genomics, or - for standard input; points are rows
    #[arg(value_name = "DATA")]
    pub path: PathBuf,
    /// Read the file as this format [default: what it looks like]
    #[arg(long, value_name = "NAME", help_heading = "Data")]
    pub format: Option<String>,
    /// Which variable of a .mat, .npz or HDF5 file, which layer of cells [default: the only matrix, X]
    #[arg(long, value_name = "NAME", help_heading = "Data")]
    pub variable: Option<String>,
    /// Precision in memory [default: f32 for float32 files, otherwise f64]
    #[arg(long, value_name = "P", value_parser = precision(), help_heading = "Data")]
    pub precision: Option<read::Precision>,
    /// The column of a table that names the points, by its title or number; none if no column does [default: what
    /// looks like it]
    #[arg(long, value_name = "COLUMN", alias = "names-column", help_heading = "Data")]
    pub id: Option<String>,
    /// Columns of a table to leave out
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Data")]
    pub drop: Vec<String>,
    /// The column of a table (or the field of JSON lines) that holds texts to cluster
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub text: Option<String>,
    /// Memory that may be used, as in 512M or 4G: data that do not fit are read from disk in every pass [default: six
    /// tenths of what is free]
    #[arg(long, value_name = "SIZE", value_parser = size, allow_negative_numbers = true, help_heading = "Data")]
    pub memory: Option<u64>,
}

impl ReadArgs {
    /// As the library wants it.
    pub fn options(&self, texts: &TextArgs) -> read::Options {
        read::Options {
            format: self.format.clone(),
            variable: self.variable.clone(),
            precision: self.precision,
            columns: Columns {
                id: self.id.clone(),
                truth: None,
                text: self.text.clone(),
                drop: self.drop.clone(),
            },
            texts: texts.settings(),
            ..read::Options::default()
        }
    }
}

/// How texts become counts of words.
#[derive(Debug, Default, Args)]
pub struct TextArgs {
    /// Words that say nothing: auto, none, a language, or a file with a word a line [default: auto]
    #[arg(long, value_name = "WHICH", help_heading = "Texts")]
    pub stop_words: Option<String>,
    /// Leave out words of fewer texts than this number or share [default: 2; of few texts 1]
    #[arg(long, alias = "min-df", value_name = "N", value_parser = frequency, help_heading = "Texts")]
    pub min_texts: Option<Frequency>,
    /// Leave out words of more texts than this number or share [default: 0.5; of few texts 1.0]
    #[arg(long, alias = "max-df", value_name = "N", value_parser = frequency, help_heading = "Texts")]
    pub max_texts: Option<Frequency>,
    /// Count runs of up to this many words too [default: 1]
    #[arg(long, value_name = "N", value_parser = positive, help_heading = "Texts")]
    pub ngrams: Option<usize>,
    /// At most this many words, those of the most texts [default: all]
    #[arg(long, alias = "max-features", value_name = "N", value_parser = positive, help_heading = "Texts")]
    pub max_words: Option<usize>,
    /// Count words of one stem as one, in the language of the texts or in the one named
    #[arg(long, value_name = "LANGUAGE", num_args = 0..=1, require_equals = true, default_missing_value = "auto",
          help_heading = "Texts")]
    pub stem: Option<String>,
}

impl TextArgs {
    fn settings(&self) -> Settings {
        let stop_words = match self.stop_words.as_deref() {
            None | Some("auto") => StopWords::Auto,
            Some("none") => StopWords::None,
            // A file of that name is meant; a name that is neither is refused with the languages there are.
            Some(name) => match read::lines(name.as_ref()) {
                Ok(words) => StopWords::These(words),
                Err(_) => StopWords::Of(name.to_lowercase()),
            },
        };
        Settings {
            stop_words,
            least: self.min_texts,
            most: self.max_texts,
            run: self.ngrams.unwrap_or(1),
            limit: self.max_words,
            stem: self.stem.as_ref().map(|name| name.to_lowercase()),
        }
    }
}

/// A file with everything that may come with it.
#[derive(Debug, Args)]
pub struct DataArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    /// What to cluster
    #[arg(long, value_name = "WHICH", default_value = "rows", value_parser = orientation(), help_heading = "Data")]
    pub cluster: Orientation,
    /// Classes of the points: a line each, a table, or an array [default: those in or beside the data, if any]
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub truth: Option<PathBuf>,
    /// The column that holds the classes: of that file, or of the data
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub truth_column: Option<String>,
    /// Points of this class have none, and are not scored (often 0 in maps)
    #[arg(long, alias = "ignore-class", value_name = "CLASS", help_heading = "Data")]
    pub unlabelled: Option<String>,
    /// Names of the features, one a line
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub vocabulary: Option<PathBuf>,
    /// Names of the points, one a line
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub names: Option<PathBuf>,
    /// Weights of the points, one number a line
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub weights: Option<PathBuf>,
    /// What is done first, in order: any of tf-idf (smooth idf), unit (points of norm 1), cpm (counts per million),
    /// variable (the 2000 features that vary the most for their size), log1p; or none [default: none; tf-idf,unit for texts]
    #[arg(long, value_name = "LIST", value_parser = weighting_list, help_heading = "Data")]
    pub weighting: Option<WeightingList>,
    /// Entries that are missing (empty fields, NaN): refuse them, ignore them (clusters of what was
    /// observed), or count them as zero
    #[arg(long, value_name = "HOW", default_value = "refuse", value_parser = missing(), help_heading = "Data")]
    pub missing: Missing,
    /// The points (or features) are the pixels of an image of this size
    #[arg(long, value_name = "HEIGHTxWIDTH", value_parser = height_and_width, help_heading = "Data")]
    pub image: Option<(usize, usize)>,
    /// How its pixels are listed: column after column (MATLAB) or row after row
    #[arg(long, value_name = "ORDER", default_value = "columns", requires = "image", help_heading = "Data")]
    pub scan: ScanOrder,
    #[command(flatten)]
    pub texts: TextArgs,
}

impl DataArgs {
    /// What is to be done to data, with the weighting that is usual for them.
    pub fn recipe(&self, usual: &[Weighting]) -> Recipe {
        let weighting = self.weighting.as_ref().map_or(usual.to_vec(), |list| list.0.clone());
        Recipe { orientation: self.cluster, missing: self.missing, weighting }
    }
}

/// Weightings, in order.
#[derive(Debug, Clone, Default)]
pub struct WeightingList(pub Vec<Weighting>);

fn weighting_list(text: &str) -> Result<WeightingList, String> {
    weighting(text).map(WeightingList)
}
