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

/// What a parameter means, and its defaults with the names of the methods that have them.
type Meaning<'a> = (&'a str, Vec<(String, Vec<&'a str>)>);

/// What a flag means to the methods that have it, with its defaults.
fn help(users: &[(&Method, &Parameter)]) -> String {
    // What stands in parentheses is for the method's own page.
    let meaning = |p: &Parameter| p.help.split(" (").next().unwrap_or(p.help);
    let mut meanings: Vec<Meaning> = vec![];
    for (method, parameter) in users {
        let (text, value) = (meaning(parameter), default(parameter));
        let at = meanings.iter().position(|m| m.0 == text).unwrap_or_else(|| {
            meanings.push((text, vec![]));
            meanings.len() - 1
        });
        match meanings[at].1.iter_mut().find(|(v, _)| *v == value) {
            Some((_, names)) => names.push(method.name),
            None => meanings[at].1.push((value, vec![method.name])),
        }
    }
    let in_words = |(text, defaults): &Meaning| {
        let defaults: Vec<String> =
            defaults.iter().map(|(value, names)| format!("{}: {value}", names.join(", "))).collect();
        format!("{text} [{}]", defaults.join("; "))
    };
    capitalised(&meanings.iter().map(in_words).collect::<Vec<_>>().join("; "))
}

/// A symbol such as ρ₀ stays as it is.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

/// A parameter's default in print.
pub fn default(parameter: &Parameter) -> String {
    match parameter.names.get(parameter.default as usize) {
        Some(name) => (*name).into(),
        None if parameter.default.is_nan() => "its own choice".into(),
        None => number(parameter.default),
    }
}

/// A number in print, short.
pub fn number(x: f64) -> String {
    if x != 0.0 && (x.abs() < 1e-3 || x.abs() >= 1e6) { format!("{x:e}") } else { x.to_string() }
}

fn finite(text: &str) -> Result<f64, String> {
    text.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(|| "a number is needed".into())
}

/// A value by its name.
fn named(names: &'static [&'static str]) -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync {
    move |text| {
        let at = names.iter().position(|name| *name == text);
        at.map(|at| at as f64).ok_or_else(|| format!("one of {} is needed", names.join(", ")))
    }
}

impl Args for MethodValues {
    fn augment_args(command: Command) -> Command {
        parameters().into_iter().fold(command, |command, (name, users)| {
            let names = users[0].1.names;
            let arg = Arg::new(name)
                .long(name)
                .allow_negative_numbers(true)
                .help(help(&users))
                .help_heading("Parameters of the methods");
            command.arg(match names {
                [] => arg.value_name("X").value_parser(finite),
                _ => arg.value_name(names.join("|")).value_parser(named(names)),
            })
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
