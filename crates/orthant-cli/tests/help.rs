//! Help fits the screen, and every command's help has an example that parses.

use crate::support::{succeed, texts};

const COMMANDS: &[&str] = &[
    "cluster",
    "compare",
    "advise",
    "choose-k",
    "evaluate",
    "predict",
    "generate",
    "convert",
    "info",
    "methods",
    "demo",
    "reproduce",
    "manual",
    "completions",
];

#[test]
fn the_help_names_every_command_and_fits_a_screen() {
    let folder = tempfile::tempdir().unwrap();
    let (help, _) = succeed(folder.path(), "--help");
    let lines = help.lines().count();
    assert!((20..=40).contains(&lines), "{lines} lines");
    assert!(help.lines().all(|line| line.chars().count() <= 110));
    COMMANDS.iter().for_each(|command| assert!(help.contains(&format!("\n  {command} ")), "{command}"));
}

#[test]
fn every_commands_help_has_an_example() {
    let folder = tempfile::tempdir().unwrap();
    for command in COMMANDS {
        let (help, _) = succeed(folder.path(), &format!("{command} --help"));
        assert!(help.contains("Example"), "{command}");
        assert!(help.contains(&format!("\n  orthant {command}")), "{command}");
    }
    for what in ["synthetic", "plane", "models", "swimmer", "telescope", "scene"] {
        let (help, _) = succeed(folder.path(), &format!("generate {what} --help"));
        assert!(help.contains(&format!("\n  orthant generate {what}")), "{what}");
    }
}

/// An example with a flag that does not exist would be refused for it before any file is looked for.
#[test]
fn examples_use_only_flags_that_exist() {
    let folder = tempfile::tempdir().unwrap();
    let mut tried = 0;
    for command in COMMANDS.iter().filter(|c| !["demo", "generate", "reproduce"].contains(*c)) {
        let (help, _) = succeed(folder.path(), &format!("{command} --help"));
        for example in help.lines().filter_map(|line| line.strip_prefix("  orthant ")) {
            let arguments = example.split(" >").next().unwrap();
            let error = texts(&crate::support::run(folder.path(), arguments)).1;
            assert!(!error.contains("unexpected") && !error.contains("invalid value"), "{example}\n{error}");
            tried += 1;
        }
    }
    assert!(tried >= 10, "{tried}");
}

#[test]
fn every_parameter_of_every_method_is_a_flag() {
    let folder = tempfile::tempdir().unwrap();
    let (help, _) = succeed(folder.path(), "cluster --help");
    let methods = crate::support::object(folder.path(), "methods --json");
    for (name, method) in methods.as_object().unwrap() {
        for parameter in method["parameters"].as_object().unwrap().keys() {
            assert!(help.contains(&format!("--{parameter} ")), "{name}: {parameter}");
        }
        let (about, _) = succeed(folder.path(), &format!("methods {name}"));
        assert!(about.contains(method["title"].as_str().unwrap()));
    }
    let (short, _) = succeed(folder.path(), "methods");
    assert!(methods.as_object().unwrap().keys().all(|name| short.contains(name.as_str())));
}

#[test]
fn completions_know_the_commands() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (script, _) = succeed(folder.path(), &format!("completions {shell}"));
        assert!(script.contains("evaluate") && script.contains("max-iterations"), "{shell}");
    }
}

#[test]
fn help_of_a_command_is_found_either_way() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["cluster", "generate models"] {
        let said = succeed(folder.path(), &format!("help {command}"));
        assert_eq!(said, succeed(folder.path(), &format!("{command} --help")));
    }
}

/// The manual is written from the same declarations: every flag of the help is on the page.
#[test]
fn the_manual_has_a_page_for_every_command_with_every_flag() {
    let folder = tempfile::tempdir().unwrap();
    succeed(folder.path(), "manual --out man");
    succeed(folder.path(), "manual --format markdown --out site");
    for command in COMMANDS {
        let (help, _) = succeed(folder.path(), &format!("{command} --help"));
        let page = |name: String| std::fs::read_to_string(folder.path().join(name)).unwrap();
        let man = page(format!("man/orthant-{command}.1")).replace("\\-", "-");
        let site = page(format!("site/orthant-{command}.md"));
        assert!(man.starts_with(".ie") && site.starts_with(&format!("# orthant {command}\n")), "{command}");
        for flag in help.split_whitespace().filter(|word| word.starts_with("--") && word.len() > 2) {
            let flag: String = flag.chars().take_while(|&c| c == '-' || c.is_ascii_alphanumeric()).collect();
            assert!(man.contains(&flag), "{command}: the man page has no {flag}");
            assert!(site.contains(&flag), "{command}: the page of the site has no {flag}");
        }
        assert_eq!(
            succeed(folder.path(), &format!("manual {command}")).0.trim_end(),
            page(format!("man/orthant-{command}.1")).trim_end()
        );
    }
    assert!(folder.path().join("man/orthant-generate-models.1").exists());
    let (_, error) = texts(&crate::support::run(folder.path(), "manual clusterx"));
    assert!(error.contains("COMMAND: there is no 'clusterx'"), "{error}");
}
