//! Closed lists of things that have a word: as files have it, as flags take it, as it is shown.
//!
//! In: variants with their words. Out: the enum, with all of its variants, their words, and a `Display` that keeps to a
//! width.

/// A closed list of things that have a word.
#[macro_export]
macro_rules! words {
    ($(#[$of_list:meta])* $list:ident { $($(#[$of_one:meta])* $one:ident = $word:literal,)* }) => {
        $(#[$of_list])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub enum $list {
            $($(#[$of_one])* #[serde(rename = $word)] $one,)*
        }

        impl $list {
            /// All of them, in the order in which they are listed.
            pub const ALL: [$list; [$($word),*].len()] = [$($list::$one),*];

            /// The one with that word.
            pub fn find(word: &str) -> Option<$list> {
                $list::ALL.into_iter().find(|one| one.name() == word)
            }

            /// The word.
            pub const fn name(self) -> &'static str {
                match self {
                    $($list::$one => $word,)*
                }
            }
        }

        impl std::fmt::Display for $list {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
