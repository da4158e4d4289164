//! `rqps doctor`: whether this host is fit to measure, and settings of the kernel that make it fitter.

use crate::args::DoctorArgs;
use crate::outcome::Ending;
use crate::screen::Screen;
use anyhow::{Result, ensure};
use rqps_lab::doctor::apply::{Kernel, Outcome};
use rqps_lab::doctor::{Checkup, kept, text};
use rqps_model::checkup::Level;
use std::time::Duration;

pub(crate) fn doctor(args: &DoctorArgs, screen: Screen) -> Result<Ending> {
    if args.undo {
        return told(&Kernel::here().undo()?, args.json, screen);
    }
    let span = Duration::from_secs(args.seconds);
    let checkup = Checkup::make(args.data.as_deref(), span, &mut |doing| screen.say(doing))?;
    if let Err(error) = kept::keep(&checkup) {
        screen.warn(&format!("what was found is not kept for campaigns: {error:#}"));
    }
    if args.apply {
        if !args.json {
            screen.print(&text::describe(&checkup, screen.width(), screen.colour_on_stdout()));
        }
        return told(&Kernel::here().apply(&checkup.findings())?, args.json, screen);
    }
    if args.json {
        screen.print(&serde_json::to_string_pretty(&text::json(&checkup))?);
    } else {
        screen.print(&text::describe(&checkup, screen.width(), screen.colour_on_stdout()));
    }
    let has_problem = checkup.findings().iter().any(|finding| finding.level == Level::Problem);
    Ok(if has_problem { Ending::ProblemFound } else { Ending::Clean })
}

/// Prints what was changed; that something could not be is an error.
fn told(outcome: &Outcome, json: bool, screen: Screen) -> Result<Ending> {
    if json {
        screen.print(&serde_json::to_string_pretty(outcome)?);
    } else {
        screen.print(&text::changes(outcome));
    }
    ensure!(outcome.refused.is_empty(), "left as they are:\n  {}", outcome.refused.join("\n  "));
    Ok(Ending::Clean)
}
