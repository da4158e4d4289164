//! The binary `rqps`: arguments in, exit code out. Every command is a few calls into the crates that do the work.

mod args;
mod builds;
mod calibrate;
mod doctor;
mod explain;
mod interrupt;
mod measure;
mod outcome;
mod own;
mod progress;
mod run;
mod screen;

use args::{Cli, Command};
use clap::Parser;
use outcome::Ending;
use rqps_lab::guard;
use screen::Screen;
use std::process::ExitCode;

/// Exit code where the user's words, files or machine are at fault.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let screen = Screen::new(cli.color);
    match dispatch(&cli.command, screen) {
        Ok(ending) => ExitCode::from(ending.code()),
        Err(error) => {
            screen.error(&error);
            ExitCode::from(USAGE)
        }
    }
}

fn dispatch(command: &Command, screen: Screen) -> anyhow::Result<Ending> {
    match command {
        Command::Plan(args) => run::plan(args, screen),
        Command::Run(args) => run::run(args, screen),
        Command::Resume(args) => run::resume(args, screen),
        Command::More(args) => run::more(args, screen),
        Command::Demo(args) => run::demo(args, screen),
        Command::Calibrate(args) => calibrate::calibrate(args, screen),
        Command::Status(args) => outcome::status(args, screen),
        Command::Compare(args) => outcome::compare(args, screen),
        Command::Explain(args) => explain::explain(args, screen),
        Command::Report(args) => outcome::rewrite(args, screen),
        Command::Builds(command) => builds::builds(command, screen),
        Command::Own(command) => own::own(command, screen),
        Command::Doctor(args) => doctor::doctor(args, screen),
        &Command::Guard { pid, start_ticks } => guard::clear_after(pid, start_ticks).map(|()| Ending::Clean),
    }
}
