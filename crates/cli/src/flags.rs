//! The flags of a campaign as words.
//!
//! In: what was typed. Out: each flag with its value, in the order of the help.

use crate::args::CampaignFlags;
use rqps_campaign::Flag;

/// The flags as words, in the order of the help.
pub(crate) fn words(flags: &CampaignFlags) -> Vec<Flag> {
    let many =
        |name: &'static str, values: &[String]| values.iter().map(|value| Flag::new(name, value)).collect::<Vec<_>>();
    let list = |name: &'static str, values: &[String]| {
        if values.is_empty() { Vec::new() } else { vec![Flag::new(name, values.join(","))] }
    };
    let one = |name: &'static str, value: &Option<String>| {
        value.iter().map(|value| Flag::new(name, value)).collect::<Vec<_>>()
    };
    let quick = if flags.quick { vec![Flag::new("quick", "true")] } else { Vec::new() };
    [
        one("name", &flags.name),
        many("build", &flags.build),
        one("base", &flags.base),
        one("suite", &flags.suite),
        one("scale", &flags.scale),
        list("tests", &flags.tests),
        one("tables", &flags.tables),
        one("rows", &flags.rows),
        one("rows-written", &flags.rows_written),
        list("clients", &flags.clients),
        list("write-rates", &flags.write_rates),
        one("read-seconds", &flags.read_seconds),
        one("write-seconds", &flags.write_seconds),
        one("rest-seconds", &flags.rest_seconds),
        one("catch-up-seconds", &flags.catch_up_seconds),
        one("warmup", &flags.warmup),
        one("rounds", &flags.rounds),
        one("slice", &flags.slice),
        one("interleave", &flags.interleave),
        one("seed", &flags.seed),
        list("profile", &flags.profile),
        list("storage-engine", &flags.storage_engine),
        many("set", &flags.set),
        one("placement", &flags.placement),
        one("rate", &flags.rate),
        one("machine", &flags.machine),
        one("margin", &flags.margin),
        quick,
    ]
    .concat()
}
