//! `orthant manual`: man pages and Markdown, from the same declarations as the help.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::{Arg, Command, CommandFactory};
use orthant::read::write_whole;

use crate::args::{Cli, ManualArgs, ManualFormat};
use crate::output::print_as_it_is;

/// Runs the command.
pub fn run(args: &ManualArgs) -> Result<()> {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    match &args.out {
        Some(folder) => {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("{}: cannot be made", folder.display()))?;
            write_all(&program, "orthant", args.format, folder)
        }
        None => print_as_it_is(&page(find(&program, &args.command)?, args.format)?),
    }
}

fn find<'c>(program: &'c Command, words: &[String]) -> Result<&'c Command> {
    let mut found = program;
    for word in words {
        let Some(next) = found.find_subcommand(word) else {
            bail!("COMMAND: there is no '{}'", words.join(" "))
        };
        found = next;
    }
    Ok(found)
}

/// A file for a command and for each of its commands: `orthant-generate-models.1`.
fn write_all(command: &Command, name: &str, format: ManualFormat, folder: &Path) -> Result<()> {
    let ending = if format == ManualFormat::Man { "1" } else { "md" };
    let text = page(command, format)?;
    write_whole(&folder.join(format!("{name}.{ending}")), |out| out.write_all(text.as_bytes()))?;
    for inner in command.get_subcommands() {
        write_all(inner, &format!("{name}-{}", inner.get_name()), format, folder)?;
    }
    Ok(())
}

fn page(command: &Command, format: ManualFormat) -> Result<String> {
    match format {
        ManualFormat::Man => {
            let mut written = vec![];
            // The whole list of flags would be a page by itself; it follows anyway.
            let usage = usage(command);
            let name = command.get_bin_name().unwrap_or(command.get_name()).replace(' ', "-");
            clap_mangen::Man::new(command.clone().override_usage(usage))
                .title(name)
                .source(concat!("orthant ", env!("CARGO_PKG_VERSION")))
                .manual("User Commands")
                .render(&mut written)?;
            Ok(String::from_utf8(written)?)
        }
        ManualFormat::Markdown => Ok(markdown(command)?),
    }
}

/// What the command does, how it is called, every argument under its heading, examples.
fn markdown(command: &Command) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    let name = command.get_bin_name().unwrap_or(command.get_name());
    writeln!(text, "# {name}\n")?;
    if let Some(about) = command.get_long_about().or(command.get_about()) {
        writeln!(text, "{}\n", plain(&about.to_string()))?;
    }
    writeln!(text, "```text\n{}\n```\n", usage(command))?;
    if command.has_subcommands() {
        writeln!(text, "## Commands\n")?;
        for inner in command.get_subcommands() {
            let file = inner.get_bin_name().unwrap_or(inner.get_name()).replace(' ', "-");
            let about = inner.get_about().map(|about| plain(&about.to_string())).unwrap_or_default();
            writeln!(text, "- [`{}`]({file}.md): {about}", inner.get_name())?;
        }
        writeln!(text)?;
    }
    let shown: Vec<&Arg> = command.get_arguments().filter(|a| !a.is_hide_set()).collect();
    let mut headings: Vec<&str> = vec![];
    for argument in &shown {
        let heading = heading(argument);
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    for title in headings {
        writeln!(text, "## {title}\n")?;
        for argument in shown.iter().filter(|argument| heading(argument) == title) {
            describe(argument, &mut text)?;
        }
    }
    if let Some(after) = command.get_after_help() {
        // Examples are indented under a line that names them.
        let after = after.to_string();
        let (examples, more) = after_help(&after);
        if !examples.is_empty() {
            writeln!(text, "## Examples\n\n```sh\n{}\n```\n", examples.join("\n"))?;
        }
        if !more.is_empty() {
            writeln!(text, "{}\n", plain(&more))?;
        }
    }
    Ok(text)
}

fn usage(command: &Command) -> String {
    command.clone().render_usage().to_string().trim_start_matches("Usage: ").to_string()
}

fn heading(argument: &Arg) -> &str {
    argument.get_help_heading().unwrap_or(if argument.is_positional() { "Arguments" } else { "Options" })
}

/// `-o`, `--out` with its value, its help, its default and what may be said.
fn describe(argument: &Arg, text: &mut String) -> std::fmt::Result {
    let mut names: Vec<String> = argument.get_short().map(|short| format!("-{short}")).into_iter().collect();
    names.extend(argument.get_long().map(|long| format!("--{long}")));
    let value = argument.get_value_names().unwrap_or_default().join(" ");
    let said = match (names.is_empty(), argument.get_action().takes_values()) {
        (true, _) => value,
        (false, true) => format!("{} {value}", names.join(", ")),
        (false, false) => names.join(", "),
    };
    let mut help = argument.get_help().map(|help| plain(&help.to_string())).unwrap_or_default();
    let defaults: Vec<_> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if !defaults.is_empty() && argument.get_action().takes_values() {
        write!(help, " (default: `{}`)", defaults.join(" "))?;
    }
    let possible: Vec<String> =
        argument.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
    if !possible.is_empty() && argument.get_action().takes_values() {
        write!(help, " One of {}.", possible.join(", "))?;
    }
    writeln!(text, "`{said}`\n: {}\n", if help.is_empty() { "—" } else { &help })
}

/// The examples, which are indented, and the paragraphs around them.
fn after_help(text: &str) -> (Vec<&str>, String) {
    let examples = text.lines().filter_map(|line| line.strip_prefix("  ")).collect();
    let others = text.lines().filter(|line| !line.starts_with("  ") && !line.starts_with("Example"));
    (examples, others.collect::<Vec<_>>().join("\n").trim().to_string())
}

/// Text that Markdown leaves as it is.
fn plain(text: &str) -> String {
    text.replace('<', "&lt;").replace('*', "\\*").replace('_', "\\_").replace('[', "\\[")
}
