//! Whether disk and memory have room for a campaign, known before it begins.
//!
//! In: a plan, and folders. Out: lines for `rqps plan`; for `rqps run` a warning, or an error where the disk has no
//! chance. The need is a rule of thumb, so only twice of what is free is refused.

use crate::doctor::memory_available;
use anyhow::{Result, bail};
use rqps_campaign::{estimate, human_bytes};
use rqps_machine::free_bytes;
use rqps_model::Plan;
use std::path::Path;

/// Above this part of what is free there is a warning.
const TIGHT: f64 = 0.8;

/// Above so many times of what is free there is no chance, however wrong the estimate is.
const HOPELESS: f64 = 2.0;

/// What servers may take of the memory; where data and results go, and what is free there.
pub fn describe(plan: &Plan, data: &Path, results: &Path) -> String {
    let free = free_bytes(data).map_or_else(|_| String::new(), |free| format!(", {} free", human_bytes(free)));
    let needed = human_bytes(estimate(plan).disk_bytes);
    let data =
        format!("data under {}{free}, about {needed} needed; results in {}\n", data.display(), results.display());
    memory(plan, memory_available()).unwrap_or_default() + &data
}

/// The memory that servers are sized for, beside what there is.
fn memory(plan: &Plan, available: Option<u64>) -> Option<String> {
    let (servers, each) = (plan.servers_together() as u32, plan.machine?.memory_bytes);
    let of_all = u64::from(servers) * each;
    let sized = match servers {
        1 => format!("a server sized for {}", human_bytes(each)),
        _ => format!("{servers} servers sized for {} each", human_bytes(each)),
    };
    let available = available?;
    let tight = if of_all as f64 * TIGHT > available as f64 { ": that is tight" } else { "" };
    Some(format!("memory     {sized}, {} available{tight}\n", human_bytes(available)))
}

/// Refuses a campaign that cannot fit; a warning where it is tight.
pub fn check(plan: &Plan, data: &Path) -> Result<Option<String>> {
    let Ok(free) = free_bytes(data) else { return Ok(None) };
    verdict(estimate(plan).disk_bytes, free, data)
}

fn verdict(needed: u64, free: u64, data: &Path) -> Result<Option<String>> {
    let need = format!(
        "the data needs about {}, and {} is free under {}",
        human_bytes(needed),
        human_bytes(free),
        data.display()
    );
    let remedy = "take fewer rows (--rows) or builds, or another disk (--data DIR)";
    let part = needed as f64 / free.max(1) as f64;
    if part > HOPELESS {
        bail!("{need}; {remedy}");
    }
    Ok((part > TIGHT).then(|| format!("{need}: that is tight; if it runs full, {remedy}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::settings::MachineClass;

    #[test]
    fn memory_is_told_beside_what_servers_are_sized_for() {
        let each = 8 << 30;
        let machine = Some(MachineClass { cores: 2, memory_bytes: each });
        let plan = Plan { machine, ..rqps_madeup::Recipe::new(2, 2, 3, 1).plan() };
        let told = |available| memory(&plan, Some(available)).expect("known");
        assert!(told(2 * each).contains("2 servers sized for") && told(2 * each).ends_with("available\n"));
        assert!(told(each).ends_with("that is tight\n"), "{}", told(each));
    }

    #[test]
    fn what_cannot_fit_is_refused_and_what_is_tight_is_a_warning() {
        let verdict = |needed, free| verdict(needed, free, Path::new("/data"));
        assert_eq!(verdict(100, 1000).expect("fits"), None);
        assert!(verdict(900, 1000).expect("may fit").expect("a warning").contains("tight"));
        let refused = verdict(2_300_000_000_000, 29_000_000_000).expect_err("no chance").to_string();
        assert_eq!(
            refused,
            "the data needs about 2.3 TB, and 29 GB is free under /data; take fewer rows (--rows) or builds, or another disk (--data DIR)"
        );
    }
}
