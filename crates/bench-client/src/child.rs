//! Running another program to its end and telling what CPU time it took, from the kernel's own accounting.
//!
//! In: a command. Out: its output and the user and system seconds that the kernel charged for it (with its waited-for
//! children). One child at a time: the figures are differences of this process's totals over ended children.

use anyhow::{Context, Result, bail};
use rqps_machine::proc_stat::PidStat;
use std::process::Command;

/// A program that ran to its end.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Standard output.
    pub(crate) stdout: String,
    /// User and system CPU seconds; the kernel tells them in hundredths.
    pub(crate) cpu_s: f64,
}

/// Runs `command` to its end; a failure carries what it said.
pub(crate) fn run(command: &mut Command) -> Result<Finished> {
    let before = ended_children_cpu_s()?;
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(if output.stderr.is_empty() { &output.stdout } else { &output.stderr });
        bail!("{command:?} ended with {}: {}", output.status, said.trim());
    }
    let cpu_s = ended_children_cpu_s()? - before;
    Ok(Finished { stdout: String::from_utf8_lossy(&output.stdout).into_owned(), cpu_s })
}

/// CPU seconds of all children that have ended.
fn ended_children_cpu_s() -> Result<f64> {
    let stat = std::fs::read("/proc/self/stat").context("cannot read /proc/self/stat")?;
    let stat = PidStat::parse(&stat).context("/proc/self/stat has no children's times")?;
    Ok((stat.children_user + stat.children_system) as f64 / rustix::param::clock_ticks_per_second() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charges_a_child_for_what_it_burns() {
        let busy = run(Command::new("sh").args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo done"]))
            .expect("a shell");
        assert_eq!(busy.stdout, "done\n");
        assert!(busy.cpu_s > 0.0, "{busy:?}");
    }

    #[test]
    fn tells_what_a_failed_child_said() {
        let error = run(Command::new("sh").args(["-c", "echo no luck >&2; exit 3"])).expect_err("fails");
        assert!(error.to_string().contains("no luck"), "{error}");
    }
}
