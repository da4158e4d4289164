//! The measuring of a campaign, with progress on the screen and an ear for signals.
//!
//! In: a campaign that can be measured. Out: its results, or nothing where the user ended it.

use crate::interrupt;
use crate::progress::Progress;
use crate::screen::Screen;
use anyhow::Result;
use rqps_campaign::{estimate, rounds};
use rqps_lab::Run;
use rqps_lab::run::Ended;
use rqps_model::{Event, EventKind, Plan, human_duration};
use rqps_store::Writer;
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The rounds of a plan, and how long they take where it is the rounds that are given.
pub(crate) fn how_long(plan: &Plan) -> String {
    match plan.time {
        Some(_) => rounds(plan),
        None => format!("{}; about {}", rounds(plan), human_duration(estimate(plan).duration())),
    }
}

/// Measures with progress on the screen; `None` where the user ended it.
pub(crate) fn measure(run: Run<'_>, data: Option<&Path>, screen: Screen) -> Result<Option<Writer>> {
    let is_told = Arc::new(AtomicBool::new(false));
    let (holdings, folder, told_before) = (run.holdings(), run.campaign().folder().to_owned(), Arc::clone(&is_told));
    let stop = interrupt::flag_on_interrupt(move || {
        let told = told_before.load(Ordering::Relaxed);
        interrupt::last_words(&holdings.folders(), &folder, told).iter().for_each(|words| screen.say(words));
    })?;
    let progress = RefCell::new(Progress::new(screen, run.plan()));
    let mut watch = |event: &Event| {
        is_told.fetch_or(matches!(event.kind, EventKind::Interrupted { .. }), Ordering::Relaxed);
        progress.borrow_mut().show(&event.kind);
    };
    let measured = run.measure(data, &mut watch, &stop, &mut |notice| progress.borrow().notice(&notice));
    progress.borrow().end();
    // Whoever interrupts what comes after this has nothing to resume here.
    is_told.store(true, Ordering::Relaxed);
    Ok(match measured? {
        (Ended::Complete, store) => Some(store),
        (Ended::Interrupted, _) => None,
    })
}
