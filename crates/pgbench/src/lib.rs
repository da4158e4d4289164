//! pgbench's scripts: from text to commands, and what their expressions give.
//!
//! In: scripts as they are written for pgbench, its built-ins, seeds. Out: commands, statements with values in them,
//! rows of pgbench's tables. The same seed sends byte for byte what pgbench 15 and later send. Nothing here reads a
//! file or talks to a server; while a script runs, nothing is allocated but for errors.
//!
//! ```
//! use rqps_pgbench::{Names, Script, Step, Streams, Variables};
//!
//! let mut names = Names::new();
//! let script = Script::parse("point", "\\set id random(1, 10 * :scale)\nSELECT :id;", &mut names).expect("no faults");
//! let mut streams = Streams::seeded(42, 1, 1, false);
//! let mut variables = Variables::new(&names);
//! variables.start(0, 10, 42, streams.default_seed.unwrap_or_default());
//! let mut at = 0;
//! let step = script.advance(&mut at, &mut variables, &mut streams.clients[0])?;
//! let Step::Sql(sql) = step else { panic!("{step:?}") };
//! let mut text = Vec::new();
//! sql.write(&variables, &mut text);
//! assert_eq!(text, b"SELECT 82;");
//! # Ok::<(), rqps_pgbench::Failure>(())
//! ```

mod builtin;
mod choice;
mod command;
mod expression;
mod fault;
mod names;
mod number;
mod script;
mod statement;
mod tables;
mod value;
mod variables;

pub use builtin::{BUILTINS, Builtin, BuiltinError};
pub use choice::{Choice, ChoiceError, Streams, ThreadStreams, weighted};
pub use command::{Amount, Command, Sleep, Unit, What, Word};
pub use expression::Expr;
pub use fault::Fault;
pub use names::Names;
pub use script::{Failure, Script, Step};
pub use statement::{Sql, Store};
pub use tables::{DEFAULT_STEPS, InitStep, Partitions, StepsError, Table, Tables, Work, steps};
pub use value::{EvalError, Value};
pub use variables::Variables;
