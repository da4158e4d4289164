//! Sources and how they are compiled: the content of a source, the flavours and recipes, what the machine lacks, and
//! the steps themselves.
//!
//! In: a source as asked for. Out: an installation folder, made by an account without rights, from a copy: the user's
//! tree is read and never written to. It must not publish a build.

mod ccache;
pub mod compile;
pub mod content;
pub mod git;
pub mod needs;
pub mod pace;
pub mod recipe;
pub mod tree;

#[cfg(test)]
mod tests;
