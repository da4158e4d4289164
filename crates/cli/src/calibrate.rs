//! `rqps calibrate`: the noise of this host, measured and kept, or listed.

use crate::args::{CALIBRATION_TIME, CalibrateArgs, CampaignArgs, CampaignFlags};
use crate::outcome::{self, Ending};
use crate::run;
use crate::screen::Screen;
use anyhow::Result;
use rqps_campaign::{Command, Flag};
use rqps_lab::results::Literals;
use rqps_lab::{floors, results};

/// Keys that say how long a campaign takes.
const LENGTHS: [&str; 3] = ["time", "rounds", "quick"];

pub(crate) fn calibrate(args: &CalibrateArgs, screen: Screen) -> Result<Ending> {
    let json = args.campaign.json;
    if args.list {
        let kept = floors::list()?;
        screen.print(&match json {
            true => serde_json::to_string_pretty(&kept)?,
            false => floors::text::list(&kept, &floors::this_host()),
        });
        return Ok(Ending::Clean);
    }
    let typed = &args.campaign.flags.0;
    let mut flags = vec![Flag::new("aa", "true")];
    if !typed.iter().any(|flag| LENGTHS.contains(&flag.name.as_str())) {
        flags.push(Flag::new("time", CALIBRATION_TIME));
    }
    flags.extend(typed.iter().cloned());
    let campaign = CampaignArgs { flags: CampaignFlags(flags), ..args.campaign.clone() };
    let Some(store) = run::measured(None, &campaign, Command::Run, None, screen)? else {
        return Ok(Ending::Interrupted);
    };
    let findings = results::compare(&store, None, Literals::Hidden)?;
    let calibration = floors::calibration(&store, &findings)?;
    let kept = floors::keep(&calibration)?;
    let ending = match json {
        true => {
            results::write(&store, &findings)?;
            screen.print(&serde_json::to_string_pretty(&calibration)?);
            outcome::ending(&store)?
        }
        false => outcome::report(&store, false, screen)?,
    };
    screen.say(&format!("kept for rqps plan: {}", kept.display()));
    Ok(ending)
}
