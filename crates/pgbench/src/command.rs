//! What a script is made of: statements and meta commands, in the order of the file.
//!
//! These are data. A condition knows where to go on; how, [`Script`](crate::Script) says.

use crate::expression::Expr;
use crate::statement::Sql;
use crate::value::EvalError;
use crate::variables::Variables;

/// One command of a script.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// The line of the script that it begins in, counted from 1.
    pub line: usize,
    /// What it does.
    pub what: What,
}

/// What a command does. Targets are indices of commands; one past the last is the end of the script.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// Send a statement.
    Sql(Sql),
    /// `\set`, and `\setrandom` of old.
    Set {
        /// The variable.
        slot: usize,
        /// Its new value.
        expr: Expr,
    },
    /// `\sleep`.
    Sleep(Sleep),
    /// `\shell`: a command of the script's author for this machine. Whoever runs the script decides if it may.
    Shell {
        /// Its words.
        words: Vec<Word>,
    },
    /// `\setshell`: as `\shell`; the first line that it prints must be a whole number.
    SetShell {
        /// The variable that gets it.
        slot: usize,
        /// The command's words.
        words: Vec<Word>,
    },
    /// `\if`.
    If {
        /// Whether to go on with the next command.
        condition: Expr,
        /// Else the `\elif`, `\else` or `\endif` to go on with.
        otherwise: usize,
    },
    /// `\elif`.
    Elif {
        /// Whether to go on with the next command, if all conditions before were false.
        condition: Expr,
        /// Else the `\elif`, `\else` or `\endif` to go on with.
        otherwise: usize,
        /// The `\endif`, for who comes from a branch that was taken.
        end: usize,
    },
    /// `\else`.
    Else {
        /// The `\endif`, for who comes from a branch that was taken.
        end: usize,
    },
    /// `\endif`.
    EndIf,
    /// `\startpipeline`.
    StartPipeline,
    /// `\syncpipeline`.
    SyncPipeline,
    /// `\endpipeline`.
    EndPipeline,
}

/// A word of a shell command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// As it is.
    Text(String),
    /// The text of a variable.
    Variable(usize),
}

/// How long to sleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sleep {
    /// How many of the unit.
    pub amount: Amount,
    /// The unit.
    pub unit: Unit,
}

/// A number that is written in the script, or that a variable holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// In the script.
    Constant(i64),
    /// In a variable.
    Variable(usize),
}

/// Units of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// `us`.
    Microseconds,
    /// `ms`.
    Milliseconds,
    /// `s`, and where no unit is given.
    Seconds,
}

impl Unit {
    /// Microseconds in one.
    const fn micros(self) -> i64 {
        match self {
            Unit::Microseconds => 1,
            Unit::Milliseconds => 1_000,
            Unit::Seconds => 1_000_000,
        }
    }
}

impl Sleep {
    /// The time in microseconds; none if the number is negative.
    pub fn micros(&self, variables: &Variables) -> Result<u64, EvalError> {
        let amount = match self.amount {
            Amount::Constant(amount) => amount,
            Amount::Variable(slot) => variables.leading_int(slot)?,
        };
        Ok(u64::try_from(amount.saturating_mul(self.unit.micros())).unwrap_or(0))
    }
}
