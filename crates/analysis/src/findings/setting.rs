//! A setting that differs from the base's, and why it may touch a test.

use serde::{Deserialize, Serialize};

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingFindings {
    /// Its name.
    pub name: String,
    /// On the base; `None` where the base has no such setting.
    pub from: Option<String>,
    /// On the build; `None` where it has no such setting.
    pub to: Option<String>,
    /// What of the test it may touch.
    pub touches: Touch,
}

/// What a setting has an effect on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Touch {
    /// How statements are planned, and a statement of the test has another plan.
    Plans,
    /// How changes are made durable, and the test writes.
    Writes,
    /// How the data device is read, and the test reads it.
    Reads,
    /// Memory of a statement that sorts or hashes, and one of the test does.
    Sorting,
    /// Every statement.
    All,
}

impl Touch {
    /// All of them, as they are ranked.
    pub const ALL: [Touch; 5] = [Touch::Plans, Touch::Writes, Touch::Reads, Touch::Sorting, Touch::All];

    /// The word that stands for it in files.
    pub const fn name(self) -> &'static str {
        match self {
            Touch::Plans => "plans",
            Touch::Writes => "writes",
            Touch::Reads => "reads",
            Touch::Sorting => "sorting",
            Touch::All => "all",
        }
    }
}
