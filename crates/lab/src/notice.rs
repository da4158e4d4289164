//! What is worth telling while a command gets ready; what happens in a campaign are events of its own.

use rqps_builds::Progress;
use rqps_model::BuildSpec;

/// Something that a user wants to know.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// An rqps that was killed had left something behind, which is gone now.
    LeftoversRemoved {
        /// Server processes that still ran.
        processes: usize,
        /// Folders.
        folders: usize,
    },
    /// A build is being installed.
    Build {
        /// As it was named.
        build: Box<BuildSpec>,
        /// How far it is.
        step: Progress,
    },
    /// These tests are left out for now, since the time that is left will hardly decide them; none any more, if there
    /// is none.
    GivenUp(Vec<String>),
    /// A sentence that the user must know now.
    Warning(String),
}

/// Receives notices in order.
pub type Notify<'a> = dyn FnMut(Notice) + 'a;
