//! What to generate: a subcommand for every line of the table of generators, and the scene.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use orthant::generate::GENERATORS;

use super::data::ScanOrder;
use super::parse::{height_and_width, seed};

/// Which data to make, and where to write them.
#[derive(Debug)]
pub struct What {
    /// Name of the generator.
    pub name: String,
    /// Parameters that were set, as text.
    pub values: Vec<(&'static str, String)>,
    /// What a scene is made of.
    pub scene: Option<SceneArgs>,
    /// The matrix file.
    pub out: PathBuf,
    /// Whether to overwrite.
    pub force: bool,
}

/// A scene from endmembers and abundances.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  orthant generate scene --endmembers E.npy --abundances A.npy --noise 0.01 --out scene.npy")]
pub struct SceneArgs {
    /// Spectra of the materials, bands × materials
    #[arg(long, value_name = "FILE")]
    pub endmembers: PathBuf,
    /// Share of each material in each pixel, materials × pixels
    #[arg(long, value_name = "FILE")]
    pub abundances: PathBuf,
    /// Standard deviation of the noise, in the units of the endmembers
    #[arg(long, value_name = "X", default_value = "0", allow_negative_numbers = true)]
    pub noise: f64,
    /// Least light of a pixel: each is multiplied by a number from this to 1
    #[arg(long, value_name = "X", default_value = "1", allow_negative_numbers = true)]
    pub least_light: f64,
    /// Chooses the light and the noise
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,
    /// float32 instead of float64
    #[arg(long)]
    pub single: bool,
    /// Size of the image
    #[arg(long, value_name = "HEIGHTxWIDTH", value_parser = height_and_width)]
    pub image: Option<(usize, usize)>,
    /// How its pixels are listed
    #[arg(long, value_name = "ORDER", default_value = "columns", requires = "image")]
    pub scan: ScanOrder,
}

const SCENE: &str = "scene";
const SCENE_ABOUT: &str = "hyperspectral image mixed from endmembers and abundances in files";

fn with_output(command: Command, name: &str) -> Command {
    command
        .arg(
            Arg::new("out")
                .short('o')
                .long("out")
                .value_name("FILE")
                .value_parser(clap::value_parser!(PathBuf))
                .default_value(format!("{name}.npy"))
                .help("The matrix; its ending says the format"),
        )
        .arg(Arg::new("force").long("force").action(ArgAction::SetTrue).help("Overwrite files"))
}

impl Subcommand for What {
    fn augment_subcommands(command: Command) -> Command {
        let command = GENERATORS.iter().fold(command, |command, entry| {
            let mut sub = Command::new(entry.name)
                .about(entry.description)
                .after_help(format!("Example:\n  orthant generate {0} --out {0}.npy", entry.name));
            for parameter in (entry.default)().parameters() {
                sub = sub.arg(
                    Arg::new(parameter.name)
                        .long(parameter.name)
                        .value_name("X")
                        .allow_hyphen_values(true)
                        .help(format!("{} [default: {}]", parameter.description, parameter.value)),
                );
            }
            command.subcommand(with_output(sub, entry.name))
        });
        let scene = SceneArgs::augment_args(Command::new(SCENE)).about(SCENE_ABOUT);
        command.subcommand_required(true).subcommand(with_output(scene, SCENE))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        name == SCENE || GENERATORS.iter().any(|entry| entry.name == name)
    }
}

impl FromArgMatches for What {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
        let (name, matches) = matches.subcommand().ok_or_else(missing)?;
        let mut values = vec![];
        if let Some(entry) = GENERATORS.iter().find(|entry| entry.name == name) {
            for parameter in (entry.default)().parameters() {
                if let Some(value) = matches.get_one::<String>(parameter.name) {
                    values.push((parameter.name, value.clone()));
                }
            }
        }
        let scene = if name == SCENE { Some(SceneArgs::from_arg_matches(matches)?) } else { None };
        let out = matches.get_one::<PathBuf>("out").ok_or_else(missing)?.clone();
        Ok(What { name: name.to_string(), values, scene, out, force: matches.get_flag("force") })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
