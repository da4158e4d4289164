//! `rqps own`: a first workload file from what a server saw.

use crate::args::OwnCommand;
use crate::outcome::Ending;
use crate::screen::Screen;
use anyhow::Result;
use rqps_lab::own::{Source, Wish, first_workload, text};

const HOUR_SECONDS: f64 = 3600.0;

const DAY_SECONDS: f64 = 24.0 * HOUR_SECONDS;

pub(crate) fn own(command: &OwnCommand, screen: Screen) -> Result<Ending> {
    let (source, args) = match command {
        OwnCommand::PgStatStatements(args) => (Source::PgStatStatements, args),
        OwnCommand::PostgresLog(args) => (Source::PostgresLog, args),
        OwnCommand::SlowLog(args) => (Source::SlowLog, args),
    };
    let days = args.days.map(|days| days * DAY_SECONDS);
    let written = first_workload(&Wish {
        source,
        files: args.files.clone(),
        out: args.out.clone(),
        top: args.top.get(),
        seconds: days.or(args.hours.map(|hours| hours * HOUR_SECONDS)),
        database: args.database.clone(),
        sampled: args.sampled,
        overwrites: args.force,
    })?;
    written.choice.notes.iter().for_each(|note| screen.warn(note));
    screen.print(&match args.json {
        true => serde_json::to_string_pretty(&text::json(&written))?,
        false => text::table(&written, screen.width()),
    });
    Ok(Ending::Clean)
}
