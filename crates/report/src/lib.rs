//! Findings → bytes: the page, the terminal's table, text tables, TSV, CSV, Markdown and JSON.
//!
//! In: [`Findings`](rqps_analysis::findings::Findings), which hold everything a report says. Out: strings; the caller
//! writes or prints them. It queries no store, runs nothing, reads no clock: the same findings give the same bytes.
//! Whatever came from a server or a file is escaped where it is rendered.

mod blocked;
mod columns;
mod crossing;
mod files;
mod footnote;
mod functions;
mod grid;
mod growth;
mod html;
mod interval;
mod json;
mod latency;
mod markdown;
mod metric;
mod not_sampled;
mod number;
mod order;
mod plans;
mod planted;
mod pprof;
mod rounds;
mod statement_times;
mod statement_work;
mod suite;
mod svg;
mod syscalls;
mod terminal;
mod text;
mod verdict_style;
mod waits;
mod why;
mod work;

pub use files::files;
pub use html::{ReportError, html};
pub use json::compare_json;
pub use markdown::{explain_markdown, markdown};
pub use pprof::pprof;
pub use terminal::terminal;
pub use why::{explain, explain_json};
