//! Whether the disk has room for a campaign, known before it begins.
//!
//! In: a plan, and folders. Out: a line for `rqps plan`; for `rqps run` a warning, or an error where there is no
//! chance. The need is a rule of thumb, so only twice of what is free is refused.

use anyhow::{Result, bail};
use rqps_campaign::{estimate, human_bytes};
use rqps_machine::free_bytes;
use rqps_model::Plan;
use std::path::Path;

/// Above this part of what is free there is a warning.
const TIGHT: f64 = 0.8;

/// Above so many times of what is free there is no chance, however wrong the estimate is.
const HOPELESS: f64 = 2.0;

/// Where data and results go, and what is free there.
pub fn describe(plan: &Plan, data: &Path, results: &Path) -> String {
    let free = free_bytes(data).map_or_else(|_| String::new(), |free| format!(", {} free", human_bytes(free)));
    let needed = human_bytes(estimate(plan).disk_bytes);
    format!("data under {}{free}, about {needed} needed; results in {}\n", data.display(), results.display())
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
