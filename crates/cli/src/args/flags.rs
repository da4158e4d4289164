//! The flags of a campaign, made from the table of its keys: `plan`, `run` and `demo` have them all.
//!
//! In: the keys. Out: clap's arguments with their help, which tells what holds where a flag is not given, for that
//! command and by suite; and after parsing the words as they were typed. What they mean is campaign's to say.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use rqps_campaign::Flag;
use rqps_suites::key::{DefaultValue, Form};
use rqps_suites::{KEYS, Key, SuiteName};

/// The suite that `demo` runs.
const SUITE_OF_DEMO: SuiteName = SuiteName::ALL[0];

/// How long a calibration takes where nothing else is said.
pub(crate) const CALIBRATION_TIME: &str = "10m";

/// Keys that say how several builds are compared, or what a calibration has decided.
const OF_COMPARISONS: [&str; 6] = ["aa", "base", "control", "margin", "rate", "suite"];

/// The flags of a campaign in the order in which they were typed.
#[derive(Debug, Clone, Default)]
pub(crate) struct CampaignFlags(pub(crate) Vec<Flag>);

impl Args for CampaignFlags {
    fn augment_args(command: Command) -> Command {
        command.next_help_heading("Campaign").args(KEYS.iter().map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        CampaignFlags::augment_args(command)
    }
}

impl FromArgMatches for CampaignFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut typed: Vec<(usize, Flag)> = Vec::new();
        for key in KEYS.iter() {
            // A switch that is off stands there as well, without a place.
            let is_typed = matches.value_source(&key.name) == Some(clap::parser::ValueSource::CommandLine);
            let places = matches.indices_of(&key.name).filter(|_| is_typed).into_iter().flatten();
            match &key.form {
                Form::Switch => typed.extend(places.map(|place| (place, Flag::new(&key.name, "true")))),
                _ => {
                    let values = matches.get_many::<String>(&key.name).into_iter().flatten();
                    typed.extend(places.zip(values).map(|(place, value)| (place, Flag::new(&key.name, value))));
                }
            }
        }
        typed.sort_by_key(|(place, _)| *place);
        Ok(CampaignFlags(typed.into_iter().map(|(_, flag)| flag).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = CampaignFlags::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A key as a flag of `plan` and `run`.
fn flag(key: &'static Key) -> Arg {
    let arg = Arg::new(key.name.as_str()).long(key.name.as_str()).help(with_note(&key.about, defaults(key)));
    match &key.form {
        Form::Switch => arg.action(ArgAction::SetTrue),
        // Repeated flags make a list; of other keys the last one wins, which campaign sees to.
        _ => arg.action(ArgAction::Append).value_name(key.value.as_str()).allow_negative_numbers(key.form.is_number()),
    }
}

/// The suites that know the key, unless all do, and what holds where its flag is not given, by suite.
fn defaults(key: &Key) -> Option<String> {
    let suites: Vec<&str> = key.suites.iter().map(|suite| suite.name()).collect();
    let known = (suites.len() < SuiteName::ALL.len()).then(|| format!("suite {}", suites.join(", ")));
    let of_suite = |suite: &SuiteName| key.default_in(*suite).filter(|own| **own != key.default);
    let mut others =
        key.suites.iter().filter_map(|suite| Some(format!("{suite}: {}", of_suite(suite)?.text()))).peekable();
    // A switch that is off needs no words, unless another suite has it on.
    let usual = if others.peek().is_some() { Some(key.default.text()) } else { told(&key.default) };
    let usual = usual.map(|text| format!("default: {text}"));
    let notes: Vec<String> = known.into_iter().chain(usual).chain(others).collect();
    (!notes.is_empty()).then(|| format!("[{}]", notes.join("; ")))
}

/// A flag of `demo`, which has values of its own and one suite.
pub(super) fn of_demo(arg: Arg) -> Arg {
    let Some(key) = arg.get_long().and_then(Key::find) else { return arg };
    let Some(usual) = key.default_in(SUITE_OF_DEMO) else { return arg.hide(true) };
    if key.name == "quick" {
        let value = |name: &str| of_preset("demo --quick", name).unwrap_or_default();
        let (rows, seconds, rounds) = (value("rows"), value("read-seconds"), value("rounds"));
        return arg.help(format!("Smaller still: {rows} rows, {seconds} seconds per test, {rounds} rounds"));
    }
    // The demo has a number of rounds, and so no time.
    let usual = if key.name == "time" { None } else { told(usual) };
    let own = of_preset("demo", &key.name).or_else(|| usual.map(str::to_owned));
    arg.help(with_note(&key.about, own.map(|text| format!("[default: {text}]"))))
}

/// A flag of `calibrate`, which compares one build with itself.
pub(super) fn of_calibrate(arg: Arg) -> Arg {
    let Some(key) = arg.get_long().and_then(Key::find) else { return arg };
    if !key.is_of(SUITE_OF_DEMO) || OF_COMPARISONS.contains(&key.name.as_str()) {
        return arg.hide(true);
    }
    match key.name.as_str() {
        "build" => arg.help("Build to measure twice, such as postgres:17.11"),
        "time" => arg.help(with_note(&key.about, Some(format!("[default: {CALIBRATION_TIME}]")))),
        _ => arg,
    }
}

/// What the base is, the same before a campaign and after it.
pub(super) fn about_base() -> &'static str {
    Key::find("base").map_or("", |key| &key.about)
}

/// A switch is off, and what is none needs no words.
fn told(default: &DefaultValue) -> Option<&str> {
    Some(default.text()).filter(|text| *text != "false" && !text.starts_with("none"))
}

/// What a preset of the demo says for a key, several values with commas between.
fn of_preset(preset: &str, name: &str) -> Option<String> {
    let words = SUITE_OF_DEMO.preset(preset).into_iter().flat_map(|preset| &preset.words);
    let values: Vec<&str> = words.filter(|(key, _)| key == name).map(|(_, value)| value.as_str()).collect();
    (!values.is_empty()).then(|| values.join(",").replace(',', ", "))
}

fn with_note(about: &str, note: Option<String>) -> String {
    [Some(about.to_owned()), note].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use crate::args::{CampaignArgs, Cli, Command, PlanArgs, RunArgs};
    use clap::{CommandFactory, Parser};

    #[test]
    fn each_command_tells_its_own_defaults() {
        let help = |command: &str, flag: &str| {
            let root = Cli::command();
            let command = root.find_subcommand(command).expect("there");
            let arg = command.get_arguments().find(|arg| arg.get_long() == Some(flag)).expect("a flag");
            if arg.is_hide_set() { "hidden".to_owned() } else { arg.get_help().expect("help").to_string() }
        };
        for (command, flag, end) in [
            ("run", "rows", "[suite sysbench, insert; default: 1000000; insert: from the scale]"),
            ("plan", "rounds", "[default: as many as fit in the time; insert: 3; tproc-c: 6]"),
            ("run", "time", "[default: 15m; insert: as long as its rounds take; tproc-c: as long as its rounds take]"),
            ("demo", "time", "tests that are decided make room for the others"),
            ("demo", "aa", "the report begins with it"),
            ("run", "slice", "[default: 3; insert: 100; tproc-c: 100]"),
            ("run", "warmup", "[suite sysbench, tproc-c, own; default: 1; tproc-c: 2]"),
            ("run", "rate", "[suite sysbench, own]"),
            ("run", "until-decided", "the time is the limit [suite sysbench, own]"),
            ("run", "scale", "[suite insert; default: small]"),
            ("run", "margin", "[default: 0.02]"),
            ("demo", "rows", "[default: 100000]"),
            ("demo", "build", "[default: postgres:16.15, postgres:17.11]"),
            ("demo", "rounds", "[default: 5]"),
            ("demo", "margin", "[default: 0.02]"),
            ("demo", "scale", "hidden"),
            ("demo", "quick", "50000 rows, 0.5 seconds per test, 3 rounds"),
            ("calibrate", "time", "[default: 10m]"),
            ("calibrate", "aa", "hidden"),
            ("calibrate", "warehouses", "hidden"),
        ] {
            assert!(help(command, flag).ends_with(end), "{command} --{flag}: {}", help(command, flag));
        }
        assert!(["quick", "build"].iter().all(|flag| !help("run", flag).ends_with(']')), "they have none");
        assert!(help("demo", "tests").contains("point-query, range-covered-pk"), "{}", help("demo", "tests"));
    }

    #[test]
    fn flags_come_as_typed() {
        let typed = |line: &str| -> Vec<String> {
            let cli = Cli::try_parse_from(line.split(' ')).expect("understood");
            let Command::Run(RunArgs { planned: PlanArgs { campaign: CampaignArgs { flags, .. }, .. }, .. }) =
                cli.command
            else {
                panic!("{cli:?}")
            };
            flags.0.into_iter().map(|flag| format!("{}={}", flag.name, flag.value)).collect()
        };
        assert_eq!(
            typed("rqps run --rows 5 x.toml --build a --tests a,b --quick --build b --rows -1 --tests c"),
            ["rows=5", "build=a", "tests=a,b", "quick=true", "build=b", "rows=-1", "tests=c"]
        );
        assert!(typed("rqps run x.toml").is_empty());
    }
}
