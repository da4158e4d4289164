//! Defaults in the help of `plan`, `run` and `demo`, taken from the campaign's own words, so that help and behaviour cannot
//! differ.
//!
//! In: a flag as declared. Out: the flag with what holds where it is not said, for that command and by suite.

use clap::Arg;
use rqps_campaign::key::{INSERT, Key, SYSBENCH, Unsaid};
use rqps_campaign::preset::{DEMO, QUICK_DEMO};

/// For `plan` and `run`.
pub(super) fn of_run(arg: Arg) -> Arg {
    let Some(key) = key_of(&arg) else { return arg };
    let note = match (key.default_in(SYSBENCH), key.default_in(INSERT)) {
        (Some(sysbench), Some(insert)) if sysbench == insert => told(sysbench).map(|text| format!("[default: {text}]")),
        (Some(sysbench), Some(insert)) => Some(format!("[default: {}; insert: {}]", sysbench.text(), insert.text())),
        (Some(sysbench), None) => Some(only_in(SYSBENCH, sysbench)),
        (None, Some(insert)) => Some(only_in(INSERT, insert)),
        (None, None) => None,
    };
    with_note(arg, note)
}

/// For `demo`, which has values of its own and no Insert Benchmark.
pub(super) fn of_demo(arg: Arg) -> Arg {
    let Some(key) = key_of(&arg) else { return arg };
    let Some(usual) = key.default_in(SYSBENCH) else { return arg.hide(true) };
    if key.name == "quick" {
        let value = |name: &str| of_preset(QUICK_DEMO, name).unwrap_or_default();
        let (rows, seconds, rounds) = (value("rows"), value("read-seconds"), value("rounds"));
        return arg.help(format!("Smaller still: {rows} rows, {seconds} seconds a test, {rounds} rounds"));
    }
    let own = of_preset(DEMO, key.name).or_else(|| told(usual).map(str::to_owned));
    with_note(arg, own.map(|text| format!("[default: {text}]")))
}

fn key_of(arg: &Arg) -> Option<&'static Key> {
    Key::find(arg.get_long()?)
}

/// A switch is off, and what is none needs no words.
fn told(unsaid: Unsaid) -> Option<&'static str> {
    Some(unsaid.text()).filter(|text| *text != "false" && !text.starts_with("none"))
}

fn only_in(suite: &str, unsaid: Unsaid) -> String {
    let default = told(unsaid).map(|text| format!("; default: {text}")).unwrap_or_default();
    format!("[suite {suite}{default}]")
}

/// What a preset says for a key, several values with commas between.
fn of_preset(preset: &[(&str, &str)], name: &str) -> Option<String> {
    let said: Vec<&str> = preset.iter().filter(|(key, _)| *key == name).map(|(_, value)| *value).collect();
    (!said.is_empty()).then(|| said.join(", ").replace(',', ", ").replace(",  ", ", "))
}

fn with_note(arg: Arg, note: Option<String>) -> Arg {
    let Some(note) = note else { return arg };
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    arg.help(format!("{help} {note}"))
}

#[cfg(test)]
mod tests {
    use crate::args::Cli;
    use clap::CommandFactory;

    #[test]
    fn each_command_tells_its_own_defaults() {
        let help = |command: &str, flag: &str| {
            let root = Cli::command();
            let command = root.find_subcommand(command).expect("there");
            let arg = command.get_arguments().find(|arg| arg.get_long() == Some(flag)).expect("a flag");
            if arg.is_hide_set() { "hidden".to_owned() } else { arg.get_help().expect("help").to_string() }
        };
        for (command, flag, end) in [
            ("run", "rows", "[default: 1000000; insert: as the scale has it]"),
            ("plan", "rounds", "[default: 6; insert: 3]"),
            ("run", "slice", "[suite sysbench; default: 10]"),
            ("run", "rate", "[suite sysbench]"),
            ("run", "scale", "[suite insert; default: small]"),
            ("run", "margin", "[default: 0.02]"),
            ("run", "quick", "about a minute for each build"),
            ("run", "build", "repeat it"),
            ("demo", "rows", "[default: 100000]"),
            ("demo", "build", "[default: postgres:16.15, postgres:17.11]"),
            ("demo", "rounds", "[default: 5]"),
            ("demo", "margin", "[default: 0.02]"),
            ("demo", "scale", "hidden"),
            ("demo", "quick", "50000 rows, 0.5 seconds a test, 3 rounds"),
        ] {
            assert!(help(command, flag).ends_with(end), "{command} --{flag}: {}", help(command, flag));
        }
        assert!(help("demo", "tests").contains("point-query, range-covered-pk"), "{}", help("demo", "tests"));
    }
}
