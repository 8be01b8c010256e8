//! The command line: one struct for each command. Methods, their parameters and generators come from the
//! library's tables.

mod data;
mod parse;
mod values;
mod what;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use orthant_reproduce::Part;

pub use data::{DataArgs, ReadArgs, TextArgs};
pub use orthant::recipe::Orientation;
pub use parse::{Origin, Polishes, meant};
pub use values::{MethodValues, default, number};
pub use what::{SceneArgs, What};

use parse::{
    certificate, clusters, model, orientation, origin, part, polish, positive, range, seconds, seed, share,
    threads, time,
};

/// Orthogonal nonnegative matrix factorization: clusters of nonnegative data, each with a direction,
/// and a statement of how good the answer is.
#[derive(Debug, Parser)]
#[command(
    name = "orthant",
    version,
    max_term_width = 110,
    after_help = "\
Examples:
  orthant demo                                    all methods on data made on the spot
  orthant cluster counts.mtx.gz -k 9 --out result
  orthant compare counts.mtx.gz -k 9 --truth classes.txt --runs 30

Data: CSV, NumPy (.npy, .npz), MATLAB, Matrix Market, svmlight, CLUTO, bag of words; folders of texts, of
pictures, of 10x Genomics; texts in CSV or JSON lines; ENVI and TIFF images; HDF5; - is standard input.
Points are rows; --cluster columns clusters the columns. 'orthant COMMAND --help' tells more."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Cluster a file
    Cluster(ClusterArgs),
    /// Run all methods side by side
    Compare(CompareArgs),
    /// Advise which model the data ask for: k-means, spherical k-means, ONMF or KL-ONMF
    Advise(AdviseArgs),
    /// Look at several numbers of clusters and name candidates
    ChooseK(ChooseKArgs),
    /// Score labels against a truth
    Evaluate(EvaluateArgs),
    /// Assign new points to the clusters of an earlier result
    Predict(PredictArgs),
    /// Make data whose clusters are known
    Generate(GenerateArgs),
    /// Convert a matrix from one format to another
    Convert(ConvertArgs),
    /// Tell what a file holds, and what would be refused
    Info(InfoArgs),
    /// List the methods and their parameters
    Methods(MethodsArgs),
    /// Show all methods on data made on the spot: no file needed
    Demo(DemoArgs),
    /// Reproduce the tables and figures of the paper
    Reproduce(ReproduceArgs),
    /// Print the manual: man pages, or Markdown
    Manual(ManualArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

/// `orthant cluster`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  orthant cluster counts.mtx.gz -k 9 --truth classes.txt --vocabulary words.txt --out result
  orthant cluster cube.npy --cluster columns -k 3 --image 95x95 --scan columns --out map
  orthant cluster counts.mtx -k 9 --algorithm em-onmf --start residual --runs 30 --json")]
pub struct ClusterArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Number of clusters
    #[arg(short, aliases = ["k", "clusters", "n-clusters", "n_clusters"], value_name = "K", value_parser = clusters, allow_negative_numbers = true, help_heading = "Method")]
    pub k: usize,
    /// The method, see 'orthant methods'; auto lets the data choose between the models of ONMF, KL-ONMF, spherical and
    /// plain k-means [default: auto; best with --start or --polish]
    #[arg(short, long, alias = "method", value_name = "NAME", help_heading = "Method")]
    pub algorithm: Option<String>,
    /// random, residual, svd, nndsvd, labels:FILE or centroids:FILE [default: the method's usual one]
    #[arg(long, value_name = "START", value_parser = origin, help_heading = "Method")]
    pub start: Option<Origin>,
    /// Runs from different random starts; the best objective wins [default: 10 where the start is random]
    #[arg(long, value_name = "N", value_parser = positive, allow_negative_numbers = true, help_heading = "Method")]
    pub runs: Option<usize>,
    /// Many starts on sparse data race: the best go on after so many iterations, and a few of these after three times as many; 0:
    /// all go to their end
    #[arg(
        long,
        value_name = "N",
        default_value = "11",
        allow_negative_numbers = true,
        help_heading = "Method"
    )]
    pub race_after: usize,
    /// Which share of them goes on first, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value = "0.5", value_parser = share, allow_negative_numbers = true, help_heading = "Method")]
    pub race_share: f64,
    /// How many of those go to their end
    #[arg(long, value_name = "N", default_value = "3", value_parser = positive, allow_negative_numbers = true, help_heading = "Method")]
    pub race_finals: usize,
    /// What improves the answer afterwards, in order: any of em, moves, swaps
    #[arg(long, value_name = "LIST", value_parser = polish, help_heading = "Method")]
    pub polish: Option<Polishes>,
    /// End after about this time with the best so far; the answer then depends on the machine
    #[arg(long, value_name = "SECONDS", value_parser = time, allow_negative_numbers = true, help_heading = "Method")]
    pub time: Option<f64>,
    /// Seed of all random numbers
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = seed, allow_negative_numbers = true, help_heading = "Method")]
    pub seed: u64,
    /// Work on the lower bound of the error: singular, quick (seconds), thorough (up to minutes), or auto: for ONMF quick
    /// where that takes about a second or a quarter of the search, else singular
    #[arg(long, value_name = "LEVEL", default_value = "auto", value_parser = certificate, help_heading = "Method")]
    pub certificate: orthant::certificate::Rigour,
    #[command(flatten)]
    pub values: MethodValues,
    /// True spectra of a scene (bands x spectra), for the report to compare those of the clusters with
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub endmembers: Option<PathBuf>,
    /// Write labels, factors, summary and report into this new folder
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Write into the folder even if it exists
    #[arg(long, requires = "out", help_heading = "Output")]
    pub force: bool,
    /// Print one JSON object on standard output
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print the labels on standard output, one a line
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    pub labels_only: bool,
    /// Save the work in progress to this file now and then, and on Ctrl-C
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub checkpoint: Option<PathBuf>,
    /// How often
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds, requires = "checkpoint",
          allow_negative_numbers = true, help_heading = "Output")]
    pub checkpoint_every: std::time::Duration,
    /// Go on from a saved file: the same command otherwise, and the same answer to the last bit
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub resume: Option<PathBuf>,
    #[command(flatten)]
    pub work: WorkArgs,
}

/// `orthant compare`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  orthant compare counts.mtx.gz -k 9 --truth classes.txt --runs 30
  orthant compare counts.mtx.gz -k 9 --methods em-onmf,onp-mf+em,chnmf:nndsvd --csv")]
pub struct CompareArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Number of clusters
    #[arg(short, aliases = ["k", "clusters", "n-clusters", "n_clusters"], value_name = "K", value_parser = clusters, allow_negative_numbers = true, help_heading = "Methods")]
    pub k: usize,
    /// Methods to compare, as NAME, NAME:START or NAME+em [default: all, with their usual starts]
    #[arg(short, long, value_name = "LIST", value_delimiter = ',', help_heading = "Methods")]
    pub methods: Vec<String>,
    /// Runs of every method whose start is random
    #[arg(long, value_name = "N", default_value = "10", value_parser = positive, allow_negative_numbers = true, help_heading = "Methods")]
    pub runs: usize,
    /// Limit of the multiplicative methods (chnmf, o-pnmf) [default: 5000; 20000 from nndsvd]
    #[arg(long, value_name = "N", value_parser = positive, allow_negative_numbers = true, help_heading = "Methods")]
    pub max_iterations: Option<usize>,
    /// Seed of all random numbers
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = seed, allow_negative_numbers = true, help_heading = "Methods")]
    pub seed: u64,
    /// Write the figures and a report into this new folder
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Write into the folder even if it exists
    #[arg(long, requires = "out", help_heading = "Output")]
    pub force: bool,
    /// Print one JSON object instead of the table
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print comma-separated values instead of the table
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    pub csv: bool,
    #[command(flatten)]
    pub work: WorkArgs,
}

/// `orthant advise`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  orthant advise counts.mtx.gz -k 9 --out advice
  orthant generate models --kind proportional --out made.npy
  orthant advise made.npy -k 6

The advice rests on the data alone. A truth, if there is one, is only shown beside it.")]
pub struct AdviseArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Number of clusters [default: the first candidate of 'orthant choose-k']
    #[arg(short, aliases = ["k", "clusters", "n-clusters", "n_clusters"], value_name = "K", value_parser = clusters, allow_negative_numbers = true, help_heading = "Method")]
    pub k: Option<usize>,
    /// Starts of every fit
    #[arg(long, value_name = "N", default_value = "10", value_parser = positive, allow_negative_numbers = true, help_heading = "Method")]
    pub runs: usize,
    #[command(flatten)]
    pub study: StudyArgs,
}

/// `orthant choose-k`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  orthant choose-k counts.mtx.gz 2..20 --out ks")]
pub struct ChooseKArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// The numbers of clusters to look at, both ends included
    #[arg(value_name = "FROM..TO", default_value = "2..20", value_parser = range)]
    pub range: (usize, usize),
    /// The model whose clusters are counted: onmf, kl-onmf, spherical-k-means or k-means [default: the one that the data ask
    /// for, as in 'cluster']
    #[arg(long, value_name = "MODEL", value_parser = model, help_heading = "Method")]
    pub model: Option<orthant::model::Model>,
    /// Starts for every number of clusters
    #[arg(long, value_name = "N", default_value = "8", value_parser = positive, allow_negative_numbers = true, help_heading = "Method")]
    pub runs: usize,
    #[command(flatten)]
    pub study: StudyArgs,
}

/// What `advise` and `choose-k` share.
#[derive(Debug, Args)]
pub struct StudyArgs {
    /// Divisions into halves, for the stability
    #[arg(long, value_name = "N", default_value = "3", value_parser = positive, allow_negative_numbers = true, help_heading = "Method")]
    pub halves: usize,
    /// Seed of all random numbers
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = seed, allow_negative_numbers = true, help_heading = "Method")]
    pub seed: u64,
    /// Write the figures and a report into this new folder
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Write into the folder even if it exists
    #[arg(long, requires = "out", help_heading = "Output")]
    pub force: bool,
    /// Print one JSON object instead of words
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub work: WorkArgs,
}

/// `orthant evaluate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  orthant evaluate result/labels.txt classes.txt

Both files have one word or number a line. A point labelled -1 has no cluster and is not scored.")]
pub struct EvaluateArgs {
    /// Labels, one a line; or the folder of a result, or its labels.csv
    pub labels: PathBuf,
    /// The truth: a line each, a table, or an array
    pub truth: PathBuf,
    /// The column of that table that holds the classes
    #[arg(long, value_name = "COLUMN")]
    pub truth_column: Option<String>,
    /// Print one JSON object instead of the tables
    #[arg(long)]
    pub json: bool,
}

/// `orthant predict`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  orthant cluster old.mtx -k 9 --out result
  orthant predict result new.mtx --out labels.txt")]
pub struct PredictArgs {
    /// Folder written by 'orthant cluster --out'
    pub result: PathBuf,
    #[command(flatten)]
    pub read: ReadArgs,
    /// What the new points are [default: as in the result]
    #[arg(long, value_name = "WHICH", value_parser = orientation())]
    pub cluster: Option<Orientation>,
    /// Write the labels to this new file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Overwrite the file
    #[arg(long, requires = "out")]
    pub force: bool,
    #[command(flatten)]
    pub work: WorkArgs,
}

/// `orthant generate`.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  orthant generate synthetic --noise 0.1 --seed 7 --out set.mtx
  orthant generate telescope --out telescope.npy

The truth goes to a file beside the matrix that ends in .labels, the shape of an image to one that
ends in .json, where 'orthant cluster' finds it."
)]
pub struct GenerateArgs {
    #[command(subcommand)]
    pub what: What,
}

/// `orthant convert`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  orthant convert counts.mat counts.mtx.gz
  orthant convert big.mtx.gz big.blocks --memory 1G

The ending of OUT says the format: .mtx .npy .npz .csv .tsv .svmlight .cluto; text also .gz and .zst. NAME.blocks is a
folder for data larger than memory: it is written within --memory, and the same command goes on if it was interrupted.")]
pub struct ConvertArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    /// The file to write
    pub out: PathBuf,
    /// Rows become columns
    #[arg(long)]
    pub transpose: bool,
    /// Overwrite the file
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub texts: TextArgs,
    #[command(flatten)]
    pub work: WorkArgs,
}

/// `orthant info`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  orthant info counts.mtx.gz")]
pub struct InfoArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    /// What the points are
    #[arg(long, value_name = "WHICH", default_value = "rows", value_parser = orientation())]
    pub cluster: Orientation,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub texts: TextArgs,
    #[command(flatten)]
    pub work: WorkArgs,
}

/// `orthant methods`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  orthant methods
  orthant methods onp-mf")]
pub struct MethodsArgs {
    /// Tell everything about this one
    pub name: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `orthant demo`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  orthant demo

Runs every method on the paper's synthetic sets at several noise levels and on the swimmer images,
all made on the spot, shows tables and writes a report. It takes less than a minute.")]
pub struct DemoArgs {
    /// Folder for the report; an earlier demo there is replaced
    #[arg(short, long, value_name = "DIR", default_value = "orthant-demo")]
    pub out: PathBuf,
    /// Synthetic sets for each noise level
    #[arg(long, value_name = "N", default_value = "5", value_parser = positive, allow_negative_numbers = true)]
    pub sets: usize,
    /// Runs of every method whose start is random
    #[arg(long, value_name = "N", default_value = "10", value_parser = positive, allow_negative_numbers = true)]
    pub runs: usize,
    /// Seed of all random numbers
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,
    /// Print one JSON object instead of the tables
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub work: WorkArgs,
}

/// `orthant reproduce`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  orthant reproduce all --quick --data DIR --out reproduction
  orthant reproduce table3 figure8 --data DIR --runs 10 --out reproduction

Reads DIR/text/NAME.mtx.gz with NAME.labels, DIR/hyperspectral and DIR/images; Hubble.mat and Urban.mat are
used where they are. What has been computed is kept: the same command goes on where it stopped.")]
pub struct ReproduceArgs {
    /// Which tables and figures
    #[arg(value_name = "WHAT", default_value = "all", value_parser = part(), ignore_case = true)]
    pub what: Vec<Part>,
    /// Folder with the published data sets [default: the environment variable ORTHANT_DATA]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Folder for the page, the tables, the figures, and what has been computed
    #[arg(short, long, value_name = "DIR", default_value = "orthant-reproduction")]
    pub out: PathBuf,
    /// 3 repetitions, short limits for CHNMF and O-PNMF
    #[arg(long)]
    pub quick: bool,
    /// Repetitions where the start is random [default: the paper's 30; 3 if quick]
    #[arg(long, value_name = "N", value_parser = positive, allow_negative_numbers = true)]
    pub runs: Option<usize>,
    /// Synthetic sets for each noise level [default: the paper's 10; 50 where models are compared in pairs]
    #[arg(long, value_name = "N", value_parser = positive, allow_negative_numbers = true)]
    pub sets: Option<usize>,
    /// Seed of all random numbers
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,
    /// Take over what was computed in another folder, such as docs/reproduction
    #[arg(long, value_name = "DIR")]
    pub from: Vec<PathBuf>,
    /// Compute nothing: show what has been computed, also by older engines
    #[arg(long)]
    pub show_only: bool,
    #[command(flatten)]
    pub work: WorkArgs,
}

/// `orthant manual`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  orthant manual cluster > orthant-cluster.1
  orthant manual --out ~/.local/share/man/man1")]
pub struct ManualArgs {
    /// The command; several words for a part of one, such as 'generate models' [default: the program]
    pub command: Vec<String>,
    /// What to write
    #[arg(long, value_name = "FORMAT", default_value = "man")]
    pub format: ManualFormat,
    /// Write a page for each command into this folder, which may exist
    #[arg(short, long, value_name = "DIR", conflicts_with = "command")]
    pub out: Option<PathBuf>,
}

/// Forms of the manual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ManualFormat {
    /// Pages for man(1)
    Man,
    /// For a site
    Markdown,
}

/// `orthant completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  orthant completions bash > ~/.local/share/bash-completion/completions/orthant")]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// How to work: the same for all commands that compute.
#[derive(Debug, Args)]
pub struct WorkArgs {
    /// Threads to use; the answer does not depend on it [default: one for each core]
    #[arg(long, value_name = "N", value_parser = threads, allow_negative_numbers = true, help_heading = "Output")]
    pub threads: Option<usize>,
    /// No progress and no summary on standard error
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}
