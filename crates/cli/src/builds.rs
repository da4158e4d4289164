//! `rqps builds`: what can be had, what is here, and what it is.

use crate::args::BuildsCommand;
use crate::lab::Lab;
use crate::outcome::Ending;
use crate::screen::Screen;
use anyhow::{Context, Result, bail};
use rqps_campaign::human_bytes;
use rqps_model::facts::BuildFacts;
use rqps_model::{BuildSource, BuildSpec};
use rqps_server::installation;

pub(crate) fn builds(command: &BuildsCommand, screen: Screen) -> Result<Ending> {
    let lab = Lab::open(screen)?;
    match command {
        BuildsCommand::List { json } => list(&lab, *json, screen)?,
        BuildsCommand::Install { build } => {
            for word in build {
                let facts = lab.install(&spec(word)?, screen)?;
                screen.print(&format!("{}  {}", facts.name, facts.folder.display()));
            }
        }
        BuildsCommand::Show { build, json } => {
            let facts = lab.install(&spec(build)?, screen)?;
            screen.print(&if *json { serde_json::to_string_pretty(&facts)? } else { describe(&facts) });
        }
        BuildsCommand::Verify { build } => verify(&lab, build, screen)?,
        BuildsCommand::Remove { build } => {
            for word in build {
                let name = installed_name(&lab, word)?;
                installation::remove(&lab.cache, &name)?;
                screen.print(&format!("removed {name}"));
            }
        }
    }
    Ok(Ending::Clean)
}

fn spec(word: &str) -> Result<BuildSpec> {
    word.parse().with_context(|| format!("build `{word}`"))
}

/// The name in the cache of what `postgres:17.11` or `pg1711_zonky` means.
fn installed_name(lab: &Lab, word: &str) -> Result<String> {
    if !word.contains(':') {
        return Ok(word.to_owned());
    }
    let spec = spec(word)?;
    match &spec.source {
        BuildSource::Catalog(version) => Ok(lab.catalog.find(spec.engine, version)?.build_name()),
        BuildSource::Folder(folder) => bail!("{} is your own folder; rqps never changes it", folder.display()),
    }
}

fn list(lab: &Lab, json: bool, screen: Screen) -> Result<()> {
    let installed = installation::list(&lab.cache)?;
    let find = |name: &str| installed.iter().find(|facts| facts.name == name);
    if json {
        let rows: Vec<serde_json::Value> = lab
            .catalog
            .releases()
            .map(|release| {
                serde_json::json!({
                    "build": format!("{}:{}", release.engine, release.version),
                    "name": release.build_name(),
                    "package": release.package.to_string(),
                    "sha256": release.sha256,
                    "installed": find(&release.build_name()).is_some(),
                })
            })
            .collect();
        screen.print(&serde_json::to_string_pretty(&rows)?);
        return Ok(());
    }
    let mut text = format!("{:<18} {:<16} {:>9}  {}\n", "build", "name", "installed", "package");
    for release in lab.catalog.releases() {
        let size = find(&release.build_name()).map_or("-".to_owned(), |facts| human_bytes(facts.size_bytes));
        text.push_str(&format!(
            "{:<18} {:<16} {size:>9}  {}\n",
            format!("{}:{}", release.engine, release.version),
            release.build_name(),
            release.package
        ));
    }
    text.push_str("\nA folder on this machine is a build, too: --build postgres:/usr/lib/postgresql/15");
    screen.print(&text);
    Ok(())
}

fn describe(facts: &BuildFacts) -> String {
    let rows = [
        ("name", facts.name.clone()),
        ("version", facts.banner.clone()),
        ("origin", facts.origin.clone()),
        ("folder", facts.folder.display().to_string()),
        ("sha256", facts.sha256.clone()),
        ("compiler", facts.compiler.clone()),
        ("flags", facts.flags.clone()),
        ("configure", facts.configure.clone()),
        ("symbols", facts.symbols.clone()),
        ("size", human_bytes(facts.size_bytes)),
        ("extensions", facts.extensions.join(" ")),
    ];
    rows.iter().map(|(label, value)| format!("{label:<11} {value}\n")).collect()
}

fn verify(lab: &Lab, words: &[String], screen: Screen) -> Result<()> {
    let names: Vec<String> = if words.is_empty() {
        installation::list(&lab.cache)?.into_iter().map(|facts| facts.name).collect()
    } else {
        words.iter().map(|word| installed_name(lab, word)).collect::<Result<_>>()?
    };
    let mut damaged = 0;
    for name in &names {
        match installation::verify(&lab.cache, name) {
            Ok(()) => screen.print(&format!("{name}  as installed")),
            Err(error) => {
                damaged += 1;
                screen.print(&format!("{name}  DAMAGED: {error}"));
            }
        }
    }
    if damaged > 0 {
        bail!("{damaged} of {} builds are not as installed; remove them and install them again", names.len());
    }
    Ok(())
}
