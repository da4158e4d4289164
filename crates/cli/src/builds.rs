//! `rqps builds`: what can be had, what is here, and what it is.

use crate::args::BuildsCommand;
use crate::outcome::Ending;
use crate::screen::Screen;
use anyhow::{Result, bail};
use rqps_lab::Lab;
use rqps_lab::builds::text::{describe, describe_release, flavours, release_json, table};
use rqps_lab::builds::{Found, find, install, list, make, remove, sources, verify};
use rqps_model::BuildSource;

pub(crate) fn builds(command: &BuildsCommand, screen: Screen) -> Result<Ending> {
    let notify = &mut |notice| screen.notice(&notice);
    let mut lab = Lab::open(notify)?;
    match command {
        BuildsCommand::List { json: true } => screen.print(&serde_json::to_string_pretty(&list(&lab)?)?),
        BuildsCommand::List { json: false } => screen.print(&table(&list(&lab)?, screen.terminal_width())),
        BuildsCommand::Flavours => screen.print(&flavours(lab.recipes())),
        BuildsCommand::Make { build, jobs } => {
            lab = lab.with_jobs(*jobs);
            for source in sources(&lab, build)? {
                let facts = make(&lab, &source, notify)?;
                screen.print(&format!("{}  {}", facts.name, facts.folder.display()));
            }
        }
        BuildsCommand::Install { build } => {
            for word in build {
                let facts = install(&lab, word, notify)?;
                screen.print(&format!("{}  {}", facts.name, facts.folder.display()));
            }
        }
        BuildsCommand::Show { build, json } => {
            let text = match find(&lab, build)? {
                Found::Here(facts) if *json => serde_json::to_string_pretty(&*facts)?,
                Found::Here(facts) => describe(&facts),
                Found::Release(release) if *json => serde_json::to_string_pretty(&release_json(release))?,
                Found::Release(release) => describe_release(release),
                Found::Elsewhere(spec) if matches!(spec.source, BuildSource::Source(_)) => {
                    bail!("{} is not compiled; `rqps builds make {build}` compiles it", spec.source)
                }
                Found::Elsewhere(spec) => {
                    bail!("{} is not installed; `rqps builds install {build}` fetches and unpacks it", spec.source)
                }
            };
            screen.print(&text);
        }
        BuildsCommand::Verify { build } => print_verified(&lab, build, screen)?,
        BuildsCommand::Remove { build } => {
            for word in build {
                screen.print(&format!("removed {}", remove(&lab, word)?));
            }
        }
    }
    Ok(Ending::Clean)
}

fn print_verified(lab: &Lab, words: &[String], screen: Screen) -> Result<()> {
    let verified = verify(lab, words)?;
    for (name, damage) in &verified {
        screen.print(&match damage {
            None => format!("{name}  as installed"),
            Some(damage) => format!("{name}  DAMAGED: {damage}"),
        });
    }
    match verified.iter().filter(|(_, damage)| damage.is_some()).count() {
        0 => Ok(()),
        damaged => bail!(
            "{damaged} of {} builds are not as installed; `rqps builds install NAME` makes one again",
            verified.len()
        ),
    }
}
