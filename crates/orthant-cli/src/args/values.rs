//! The parameters of all methods as flags, read from the table of methods.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use orthant::algorithms::{METHODS, Method, Parameter, Values};

/// Values for parameters of methods: what was set on the command line.
#[derive(Debug, Clone, Default)]
pub struct MethodValues(pub Values);

/// Every parameter name once, with the methods that have it.
fn parameters() -> Vec<(&'static str, Vec<(&'static Method, &'static Parameter)>)> {
    let mut named: Vec<(&str, Vec<(&Method, &Parameter)>)> = vec![];
    for method in METHODS {
        for parameter in method.parameters {
            match named.iter_mut().find(|(name, _)| *name == parameter.name) {
                Some((_, users)) => users.push((method, parameter)),
                None => named.push((parameter.name, vec![(method, parameter)])),
            }
        }
    }
    named
}

/// One line for a flag: who has it and what it is unless set.
fn help(users: &[(&Method, &Parameter)]) -> String {
    let mut texts: Vec<&str> = users.iter().map(|(_, p)| p.help).collect();
    texts.dedup();
    // Methods that stop by different rules each have their own words: 'orthant methods NAME' has them.
    let text = if texts.len() == 1 { texts[0] } else { texts[0].split(" (").next().unwrap_or(texts[0]) };
    let mut groups: Vec<(String, Vec<&str>)> = vec![];
    for (method, parameter) in users {
        let value = default(parameter);
        match groups.iter_mut().find(|(v, _)| *v == value) {
            Some((_, names)) => names.push(method.name),
            None => groups.push((value, vec![method.name])),
        }
    }
    let defaults: Vec<String> =
        groups.iter().map(|(value, names)| format!("{}: {value}", names.join(", "))).collect();
    format!("{text} [{}]", defaults.join("; "))
}

/// A parameter's default in print.
pub fn default(parameter: &Parameter) -> String {
    let x = parameter.default;
    if x.is_nan() {
        "its own choice".into()
    } else if x != 0.0 && (x.abs() < 1e-3 || x.abs() >= 1e6) {
        format!("{x:e}")
    } else {
        x.to_string()
    }
}

fn number(text: &str) -> Result<f64, String> {
    text.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(|| "a number is needed".into())
}

impl Args for MethodValues {
    fn augment_args(command: Command) -> Command {
        parameters().into_iter().fold(command, |command, (name, users)| {
            command.arg(
                Arg::new(name)
                    .long(name)
                    .value_name("X")
                    .value_parser(number)
                    .allow_negative_numbers(true)
                    .help(help(&users))
                    .help_heading("Parameters of the methods"),
            )
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for MethodValues {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let set = |values: Values, (name, _): (&'static str, _)| match matches.get_one::<f64>(name) {
            Some(&value) => values.set(name, value),
            None => values,
        };
        Ok(MethodValues(parameters().into_iter().fold(Values::new(), set)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
