//! `rqps doctor`: whether this host is fit to measure.

use crate::args::DoctorArgs;
use crate::outcome::Ending;
use crate::screen::Screen;
use anyhow::Result;
use rqps_lab::doctor::{Checkup, Level, text};
use std::time::Duration;

pub(crate) fn doctor(args: &DoctorArgs, screen: Screen) -> Result<Ending> {
    let span = Duration::from_secs(args.seconds);
    let checkup = Checkup::make(args.data.as_deref(), span, &mut |doing| screen.say(doing))?;
    if args.json {
        screen.print(&serde_json::to_string_pretty(&text::json(&checkup))?);
    } else {
        screen.print(&text::describe(&checkup, screen.width(), screen.colour_on_stdout()));
    }
    let has_problem = checkup.findings().iter().any(|finding| finding.level == Level::Problem);
    Ok(if has_problem { Ending::ProblemFound } else { Ending::Clean })
}
