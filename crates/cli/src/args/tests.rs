//! The commands that README.md and docs/ tell people to type are understood: by the parser, and their campaign's words
//! by the campaign. Whether they also run is CI's business.

use super::{Cli, Command, PlanArgs, RunArgs};
use clap::{CommandFactory, Parser};
use rqps_builds::Catalog;
use rqps_campaign::Files;
use rqps_lab::input_files::InputFiles;
use rqps_lab::vocabulary::vocabulary;
use rqps_model::own::InputFile;
use rqps_server::Profiles;
use rqps_suites::Suite;
use std::fs;
use std::path::{Path, PathBuf};

/// Lines that a reader would copy into a shell: in a fence, or set in by four spaces, with `rqps` in front.
fn commands(text: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut is_fenced = false;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        }
        let code = line.trim_start().trim_start_matches("$ ");
        if (is_fenced || line.starts_with("    ")) && code.starts_with("rqps ") {
            let mut command = code.to_owned();
            while command.ends_with('\\') {
                command.pop();
                command.push_str(lines.next().unwrap_or_default().trim_start());
            }
            commands.push(command);
        }
    }
    commands
}

/// Splits a line as a shell would, up to a comment, a pipe or a redirection.
fn split(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, '|' | '>' | '<' | ';' | '&') => break,
            (None, '#') if word.is_none() => break,
            (None, ' ') => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = fs::read_dir(root.join("docs")).expect("the docs").flatten().map(|entry| entry.path());
    let mut documents: Vec<PathBuf> = docs.filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    documents.extend([root.join("README.md"), root.join("examples/small-datum/README.md")]);
    documents.sort();
    documents
}

/// The files that documents name: those of the project, and stand-ins for the reader's own workload and scripts.
struct DocumentFiles;

impl DocumentFiles {
    /// The example stands for a workload of the reader's, with all that it names.
    fn found(path: &Path) -> PathBuf {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        [root.join(path), root.join("examples/shop").join(path)]
            .into_iter()
            .find(|path| path.exists())
            .unwrap_or_else(|| path.to_owned())
    }
}

impl Files for DocumentFiles {
    fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        match path.to_str() {
            Some("pay.sql" | "look.sql") => Ok(b"SELECT 1;\n".to_vec()),
            _ => InputFiles::default().read(&Self::found(path)),
        }
    }

    fn digest(&self, path: &Path) -> Result<InputFile, String> {
        InputFiles::default().digest(&Self::found(path))
    }
}

/// What is wrong with a command.
fn fault(line: &str) -> Option<String> {
    let cli = match Cli::try_parse_from(split(line)) {
        Ok(cli) => cli,
        // Asking for help or the version is a command, too.
        Err(error) => return (error.exit_code() != 0).then(|| error.to_string()),
    };
    let (file, flags, command) = match &cli.command {
        Command::Plan(PlanArgs { file, campaign })
        | Command::Run(RunArgs { planned: PlanArgs { file, campaign }, .. }) => {
            (file.as_ref(), &campaign.flags, rqps_campaign::Command::Run)
        }
        Command::Demo(args) => (None, &args.flags, rqps_campaign::Command::Demo),
        _ => return None,
    };
    // What a file would say besides is not known here, so only faults of the flags themselves count.
    let vocabulary = vocabulary(&Catalog::built_in(), &Profiles::built_in(), &Suite::built_in(), &[]);
    let reading = rqps_campaign::read(None, &flags.0, command, &vocabulary, &DocumentFiles);
    let told: Vec<String> = reading.diagnostics.iter().map(ToString::to_string).collect();
    (file.is_none() && reading.campaign.is_none()).then(|| told.join("\n"))
}

#[test]
fn every_command_in_the_documents_is_understood() {
    let mut faults = Vec::new();
    let mut count = 0;
    for document in documents() {
        for command in commands(&fs::read_to_string(&document).expect("text")) {
            count += 1;
            faults.extend(fault(&command).map(|why| format!("{}: {command}\n{why}", document.display())));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 0, "the documents show commands");
}

#[test]
fn every_example_of_the_help_is_understood() {
    let examples = commands(&super::EXAMPLES.replace("\n  ", "\n    "));
    assert!(examples.len() >= 4, "{examples:?}");
    for example in examples {
        // Two spaces and more are followed by what the command does.
        let command = example.split("   ").next().expect("a first part");
        assert_eq!(fault(command), None, "{command}");
    }
}

#[test]
fn lines_are_found_and_split_as_a_shell_would() {
    let text =
        "Try `rqps x`.\n\n    rqps demo   # quickly\n\n```sh\n$ rqps run \\\n    --tests 'a b,c*' | head -1\nls\n```\n";
    let found: Vec<Vec<String>> = commands(text).iter().map(|line| split(line)).collect();
    assert_eq!(found, [vec!["rqps", "demo"], vec!["rqps", "run", "--tests", "a b,c*"]]);
    assert!(fault("rqps run --rownds 3").is_some_and(|why| why.contains("--rounds")));
    assert!(fault("rqps run --build postgres:1.1 --build postgres:17.11").is_some_and(|why| why.contains("17.11")));
    assert_eq!(fault("rqps compare --help"), None);
}

#[test]
fn the_parser_is_sound_and_flags_are_the_keys_of_a_campaign() {
    Cli::command().debug_assert();
    let run = Cli::command().find_subcommand("run").expect("there").clone();
    let flags: Vec<String> = run.get_arguments().filter_map(|arg| arg.get_long()).map(str::to_owned).collect();
    for key in rqps_suites::KEYS.iter() {
        assert!(flags.iter().any(|flag| flag == &key.name), "{} has a flag", key.name);
    }
    let flag = |name: &str| {
        rqps_suites::Key::find(name).is_some() || ["results", "data", "jobs", "json", "explain"].contains(&name)
    };
    assert!(flags.iter().all(|name| flag(name)), "{flags:?}");
}

#[test]
fn the_help_names_every_size_of_the_insert_benchmark() {
    let vocabulary = vocabulary(&Catalog::built_in(), &Profiles::built_in(), &Suite::built_in(), &[]);
    let run = Cli::command().find_subcommand("run").expect("there").clone();
    let scale = run.get_arguments().find(|arg| arg.get_long() == Some("scale")).expect("a flag");
    let help = scale.get_help().expect("help").to_string();
    for name in vocabulary.suites.iter().flat_map(|suite| suite.scales.keys()) {
        assert!(help.contains(name.as_str()), "{name} in {help}");
    }
}
