//! What is checked on each server after a test, outside of counted time.
//!
//! In: the samples of the test. Out: their failures and warnings; arms on which a chain of tests is broken.

use crate::ConductError;
use crate::arm::Arm;
use crate::bench::Bench;
use crate::job::Output;
use crate::piece::Piece;
use crate::supervise::supervised;
use rqps_load::suite;
use rqps_store::SampleParts;
use std::time::Instant;

/// After a test was run, and nothing of it is observed any more: what its suite checks on each server. One that was
/// lost is started again where that tells what is lost with it.
pub(super) fn check_data(
    piece: &Piece<'_>,
    arms: &mut [Arm<'_>],
    all: &mut [SampleParts],
    output: &mut Output<'_, '_>,
) -> Result<(), ConductError> {
    let (begun, Bench { job, stop, .. }) = (Instant::now(), piece.bench);
    for (SampleParts { sample, .. }, arm) in all.iter_mut().zip(arms) {
        let has_failed = sample.failure.is_some();
        if has_failed {
            if !piece.planned.counts_acknowledged() || sample.record.is_none() || !arm.may_start() {
                continue;
            }
            arm.start(job.lease, stop)?;
        }
        let Some(server) = &arm.server else { continue };
        let doing = format!("checking the data of {}", arm.name());
        let checked = supervised(server, stop, || {
            let checked = match has_failed {
                false => piece.planned.check(server.target(), sample).map(|()| None),
                true => piece.planned.look_for_losses(server.target(), sample),
            };
            checked.map_err(ConductError::load(doing))
        });
        let told = match checked {
            Err(ConductError::Interrupted) => return Err(ConductError::Interrupted),
            Err(error) => Some(error.to_string()),
            Ok(told) => told,
        };
        if let Some(told) = told {
            let failure = sample.failure.take().map_or(String::new(), |failure| format!("{failure}; "));
            sample.failure = Some(failure + &told);
        }
        if let Some(failure) = &sample.failure {
            output.warn(format!("{} failed in {}: {failure}", piece.test.name, arm.name()));
        }
    }
    output.eta.add_overhead(begun.elapsed());
    Ok(())
}

/// After a test that others build on was run: on which arms it failed, and behind the last one whether the tables hold
/// what they should.
pub(super) fn check_chains(
    piece: &Piece<'_>,
    is_last: bool,
    arms: &mut [Arm<'_>],
    all: &mut [SampleParts],
    output: &mut Output<'_, '_>,
) -> Result<(), ConductError> {
    let Bench { job, stop, .. } = piece.bench;
    for (SampleParts { sample, .. }, arm) in all.iter_mut().zip(arms) {
        match (&sample.failure, &arm.server) {
            (Some(_), _) if arm.broken.is_some() => {}
            (Some(failure), _) => {
                arm.broken = Some(piece.test.name.clone());
                output.warn(format!("{} failed in {}: {failure}", piece.test.name, arm.name()));
            }
            (None, Some(server)) if is_last => {
                let begun = Instant::now();
                let check = || Ok(suite::check_rows(job.plan, &arm.chain, &server.endpoint()));
                sample.warnings.extend(supervised(server, stop, check)?);
                output.eta.add_overhead(begun.elapsed());
            }
            _ => {}
        }
    }
    Ok(())
}
