//! How a result came about: the command, the day, for reports.

use std::ffi::OsString;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, CommandFactory};

use crate::args::Cli;

/// What was typed, the program's name first. Not what the process was started with: that may be Python.
static WORDS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Keeps what was typed; the first time counts.
pub fn remember(words: impl IntoIterator<Item = OsString>) -> &'static [OsString] {
    WORDS.get_or_init(|| words.into_iter().collect())
}

/// The command that was typed, fit to be typed again.
pub fn command() -> String {
    let words = WORDS.get().into_iter().flatten().skip(1).map(|word| quoted(&word.to_string_lossy()));
    std::iter::once("orthant".to_string()).chain(words).collect::<Vec<_>>().join(" ")
}

/// What was typed to say what the data are, and the seed, fit to be typed again after another command.
pub fn data_options() -> String {
    let program = Cli::command();
    let typed = WORDS.get().and_then(|words| program.clone().try_get_matches_from(words).ok());
    let Some((name, typed)) = typed.as_ref().and_then(ArgMatches::subcommand) else { return String::new() };
    let known = program.find_subcommand(name).into_iter().flat_map(clap::Command::get_arguments);
    let of_data =
        |arg: &&Arg| matches!(arg.get_help_heading(), Some("Data" | "Texts")) || arg.get_id() == "seed";
    let was_typed = |arg: &&Arg| typed.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
    let option = |arg: &Arg| {
        let (id, long) = (arg.get_id().as_str(), arg.get_long()?);
        let values = typed.get_raw(id)?.map(|value| value.to_string_lossy()).collect::<Vec<_>>().join(",");
        let takes_none = matches!(arg.get_action(), ArgAction::SetTrue);
        Some(if takes_none { format!(" --{long}") } else { format!(" --{long}={}", quoted(&values)) })
    };
    known.filter(of_data).filter(was_typed).filter_map(option).collect()
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The day in UTC, as year-month-day.
pub fn date() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = civil(seconds as i64 / 86400);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Year, month and day of a day counted from 1970-01-01 (H. Hinnant's algorithm: the year begins in March,
/// so that leap days are last, and repeats every 400 years of 146097 days).
fn civil(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        for (days, date) in
            [(0, (1970, 1, 1)), (11_016, (2000, 2, 29)), (20_088, (2024, 12, 31)), (20_089, (2025, 1, 1))]
        {
            assert_eq!(civil(days), date);
        }
    }
}
