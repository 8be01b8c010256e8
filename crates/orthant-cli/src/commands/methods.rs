//! `orthant methods`: the table of methods.

use anyhow::Result;
use orthant::algorithms::{Goal, METHODS, Method};
use orthant::pipeline::DEFAULT_METHOD;
use serde_json::{Map, Value, json};

use crate::args::{MethodsArgs, default, number};
use crate::naming::find;
use crate::output::{print, print_json};

/// Runs the command.
pub fn run(args: &MethodsArgs) -> Result<()> {
    let chosen: Vec<&Method> = match &args.name {
        Some(name) => vec![find("NAME", name)?],
        None => METHODS.iter().collect(),
    };
    if args.json {
        let all: Map<String, Value> = chosen.iter().map(|m| (m.name.to_string(), object(m))).collect();
        return print_json(&all);
    }
    match args.name {
        Some(_) => print(&in_full(chosen[0])),
        None => print(&in_short(&chosen)),
    }
}

/// Two lines each.
fn in_short(methods: &[&Method]) -> String {
    let mut text = String::new();
    for m in methods {
        let parameters: Vec<String> =
            m.parameters.iter().map(|p| format!("{} {}", p.name, default(p))).collect();
        text.push_str(&format!("{:<22} {}\n", m.name, m.summary));
        text.push_str(&format!("{:<22} start {}; {}\n", "", m.starts.join(" or "), parameters.join(", ")));
    }
    text.push_str(&format!(
        "\nUnless a method is named, cluster lets the data choose the model (auto); {DEFAULT_METHOD} is that of ONMF. 'orthant methods NAME' tells more about one.\n"
    ));
    text
}

fn in_full(m: &Method) -> String {
    let yes = |b: bool| if b { "yes" } else { "no" };
    let goal = if m.goal == Goal::Least { "less is better" } else { "more is better" };
    let mut text = format!("{} ({}): {}\n\n", m.name, m.title, m.summary);
    let mut say = |name: &str, what: String| text.push_str(&format!("  {name:<26}{what}\n"));
    say("objective", format!("{}, {goal}", m.objective));
    say("starts", m.starts.join(", "));
    say("negative entries", yes(m.signed).into());
    say("zero points in clusters", yes(m.rule.distance).into());
    say("new points go by", m.rule.words.into());
    text.push_str("\nParameters:\n");
    for p in m.parameters {
        let (least, most) = p.range;
        let kind = if p.whole { "whole, " } else { "" };
        let range = match p.names {
            [] => format!("{kind}{} to {}", number(least), number(most)),
            names => names.join(", "),
        };
        let name = format!("--{}", p.name);
        text.push_str(&format!("  {name:<18}{}\n  {:<18}{range}; unless set: {}\n", p.help, "", default(p)));
    }
    text.push_str(&format!("\nExample:\n  orthant cluster DATA -k K --algorithm {}\n", m.name));
    text
}

fn object(m: &Method) -> Value {
    let parameters: Map<String, Value> = m
        .parameters
        .iter()
        .map(|p| {
            let about = json!({"default": p.default, "least": p.range.0, "most": p.range.1, "whole": p.whole, "names": p.names, "help": p.help});
            (p.name.to_string(), about)
        })
        .collect();
    json!({
        "title": m.title,
        "summary": m.summary,
        "starts": m.starts,
        "objective": m.objective,
        "better": if m.goal == Goal::Least { "less" } else { "more" },
        "negative_entries": m.signed,
        "parameters": parameters,
    })
}
