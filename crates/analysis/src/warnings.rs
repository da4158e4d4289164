//! What a reader must know beside the numbers: like-for-like faults, failed trials, noise, a client that was the limit.
//!
//! In: what was read and judged. Out: [`Warning`]s of a cell, a treatment and the campaign. Each is one that would have
//! caught a wrong or unlike published comparison. A warning changes no verdict.

pub(crate) mod campaign;
pub(crate) mod cell;
mod client;
pub(crate) mod judged;
pub(crate) mod observed;
mod plan_changes;
mod rates;
pub(crate) mod treatment;
mod unlike_builds;

use crate::findings::Warning;
use rqps_model::WarningKind;

fn warning(kind: WarningKind, cause: String, advice: &str) -> Warning {
    let advice = (!advice.is_empty()).then(|| advice.to_owned());
    Warning { kind, cause, advice, in_full: None }
}
