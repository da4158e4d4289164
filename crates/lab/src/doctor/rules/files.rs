//! The disk of the data folder, and how many files may be open.
//!
//! In: a checkup. Out: a finding a rule.

use super::super::checkup::Checkup;
use super::super::finding::Finding;
use rqps_campaign::human_bytes;

/// A flush that is faster is not made by a device.
const FLUSH_US_MIN: f64 = 5.0;

/// Flushes whose slowest hundredth takes so many times the median make durable commits uneven.
const FLUSH_UNEVEN: f64 = 10.0;

/// What MySQL asks for, and sessions of thousands of clients.
const OPEN_FILES_MIN: u64 = 10_000;

pub(super) fn flushes(checkup: &Checkup) -> Option<Finding> {
    let about = "flushes";
    let place = format!("{} on {}", checkup.host.filesystem, checkup.host.device);
    let Some(flush) = &checkup.trials.flush else {
        return Some(Finding::note(
            about,
            format!("not tried: {place} makes no file without a name here"),
            "How long a durable commit takes on this disk is not known.",
            "Choose another folder with --data DIR or RQPS_DATA.",
        ));
    };
    let found = format!("{:.0} µs, the slowest hundredth {:.0} µs ({place})", flush.median_us, flush.p99_us);
    Some(if flush.median_us < FLUSH_US_MIN {
        Finding::note(
            about,
            found,
            "Nothing was written to a device, so durable commits (profiles that end in _sync) cost nothing here.",
            "Measure durable commits on a disk: --data DIR or RQPS_DATA.",
        )
    } else if flush.p99_us > FLUSH_UNEVEN * flush.median_us {
        Finding::note(
            about,
            found,
            "Durable commits (profiles that end in _sync) and checkpoints are as uneven as the disk.",
            "Use a disk with a cache that survives a power failure, or profiles without durable commits.",
        )
    } else {
        Finding::good(about, found)
    })
}

pub(super) fn copies(checkup: &Checkup) -> Option<Finding> {
    let about = "copies of data";
    let free = checkup.system.disk_free_bytes.map(|bytes| format!("; {} free", human_bytes(bytes))).unwrap_or_default();
    if checkup.host.reflink {
        return Some(Finding::good(about, format!("share blocks ({}){free}", checkup.host.filesystem)));
    }
    Some(Finding::note(
        about,
        format!("are written in full ({}){free}", checkup.host.filesystem),
        "Each round begins with a copy of the data for each server, which takes time and room.",
        "A folder on XFS (made with reflink=1, the default) or Btrfs copies at once: --data DIR or RQPS_DATA.",
    ))
}

pub(super) fn open_files(checkup: &Checkup) -> Option<Finding> {
    let about = "open files";
    let Some(limit) = checkup.system.open_files_limit else { return Some(Finding::good(about, "no limit")) };
    let found = format!("at most {limit} of a process");
    if limit >= OPEN_FILES_MIN {
        return Some(Finding::good(about, found));
    }
    Some(Finding::note(
        about,
        found,
        "Each session takes one of the client's, and MySQL keeps fewer tables open where it may not open enough.",
        "Raise the hard limit: `nofile` in /etc/security/limits.conf, LimitNOFILE= of the unit, `docker --ulimit`.",
    ))
}
