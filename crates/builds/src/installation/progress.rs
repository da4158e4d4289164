//! The steps of an installation, for display.
//!
//! In: nothing. Out: the type that callers are notified with.

use std::time::Duration;

/// A step of an installation, for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Another rqps is installing or compiling; this one waits.
    Waiting,
    /// A package client or `curl` fetches.
    Fetching {
        /// The package's coordinate, or the address.
        coordinate: String,
    },
    /// What was fetched could not be checked, since its digest was not given.
    Unpinned {
        /// The address.
        url: String,
        /// The digest that was computed.
        sha256: String,
    },
    /// The build of an address without a digest is here already and was not fetched again.
    Kept {
        /// Its name.
        name: String,
        /// The digest of what was fetched then.
        sha256: String,
    },
    /// Installed files are no longer what was installed; the build is made again.
    Damaged {
        /// What is wrong, file by file.
        fault: String,
    },
    /// The checksum is computed.
    Verifying,
    /// The archive is unpacked.
    Unpacking,
    /// What a source is, where its name does not say it.
    Source {
        /// Such as its commit.
        about: String,
    },
    /// A step of compiling begins.
    Compiling {
        /// Its number.
        step: usize,
        /// How many there are.
        steps: usize,
        /// What it does.
        name: String,
        /// The flavour.
        flavour: String,
        /// How long the step will still take, once that is known.
        left: Option<Duration>,
    },
    /// The binaries are inspected.
    Inspecting,
    /// The build is there.
    Installed {
        /// Its name.
        name: String,
    },
}
