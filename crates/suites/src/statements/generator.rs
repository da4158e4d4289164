//! The words that name how a statement's parameters are made, and what each means.
//!
//! In comes a word of a workload file; out goes a [`Generator`] with the number and type of the parameters it fills.
//! Nothing is drawn here: `load` does that. A new word is a line in [`Generator::WORDS`] and an arm there.

/// How one or more parameters of a statement are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generator {
    /// A number drawn uniformly from 1 to the rows of a table; serves for `id` and for `k`.
    Id,
    /// A number from 1 to the rows of a table by Zipf's law with exponent 0.8; 1 is the most frequent.
    IdZipfian,
    /// Always 1.
    One,
    /// The last of R numbers that begin with the parameter before: it + R - 1.
    LastOfRange,
    /// The parameter before + R, so that a BETWEEN holds R + 1 numbers.
    FirstPlusRange,
    /// R numbers, each drawn as `Id`.
    Ids,
    /// Ten numbers, each drawn as `Id`.
    TenIds,
    /// The R numbers from the middle of the table on: rows/2 + 1 to rows/2 + R.
    HotIds,
    /// The number that the last `Id` of the statement before drew.
    SameId,
    /// A new string for column `c`.
    NewC,
    /// A new string for column `pad`.
    NewPad,
}

/// How many numbers [`Generator::TenIds`] draws.
const TEN: usize = 10;

impl Generator {
    /// Every word with its generator.
    pub const WORDS: [(&'static str, Generator); 11] = [
        ("id", Generator::Id),
        ("id-zipfian", Generator::IdZipfian),
        ("one", Generator::One),
        ("last-of-range", Generator::LastOfRange),
        ("first-plus-range", Generator::FirstPlusRange),
        ("ids", Generator::Ids),
        ("ten-ids", Generator::TenIds),
        ("hot-ids", Generator::HotIds),
        ("same-id", Generator::SameId),
        ("new-c", Generator::NewC),
        ("new-pad", Generator::NewPad),
    ];

    /// The generator that `word` names.
    pub fn parse(word: &str) -> Option<Generator> {
        Generator::WORDS.iter().find(|(known, _)| *known == word).map(|(_, generator)| *generator)
    }

    /// How many parameters it fills in a test of range `range`.
    pub const fn width(self, range: u32) -> usize {
        match self {
            Generator::Ids | Generator::HotIds => range as usize,
            Generator::TenIds => TEN,
            _ => 1,
        }
    }

    /// Whether it fills `{list}` in place of a numbered parameter.
    pub const fn is_list(self) -> bool {
        matches!(self, Generator::Ids | Generator::TenIds | Generator::HotIds)
    }
}
