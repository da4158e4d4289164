//! SQL as text: tokens, statements, dumps, heads of archives, names of values, literals.
//!
//! In: text in a dialect. Out: its parts. It asks no server, and judges nothing that the words alone don't say.

pub mod archive;
mod dialect;
pub mod dump;
mod fingerprint;
mod literal;
mod split;
mod statement_kind;
mod statements;
mod template;
mod token;

pub use dialect::Dialect;
pub use fingerprint::{Fingerprint, Slot, SlotValue, fingerprint};
pub use literal::{Literal, redact};
pub use statement_kind::{first_word, has_order_by, is_read, is_transaction_border, is_transaction_control, writes};
pub use statements::{Statement, replace_words, statements};
pub use template::{Piece, Template};
pub use token::{Token, TokenKind, Tokens, tokens, unclosed};
