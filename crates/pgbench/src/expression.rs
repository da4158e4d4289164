//! Expressions of `\set`, `\if` and `\elif`.
//!
//! In: the rest of a line, with the names of variables. Out: a tree that evaluates without allocating, in exactly the
//! order in which pgbench evaluates, since the order decides which value is drawn for what.

mod eval;
mod function;
mod lexer;
mod node;
mod parser;

use crate::fault::{Fault, Unplaced};
use crate::names::Names;
use crate::value::{EvalError, Value};
use crate::variables::Variables;
use rqps_draw::Random;

/// An expression that is ready to be evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    root: node::Node,
}

impl Expr {
    /// Parses a text that is an expression and nothing else.
    pub fn parse(text: &str, names: &mut Names) -> Result<Expr, Fault> {
        Expr::parse_from(text, 0, names).map_err(|fault| fault.place(text))
    }

    /// Parses what stands in `text` from `start` on.
    pub(crate) fn parse_from(text: &str, start: usize, names: &mut Names) -> Result<Expr, Unplaced> {
        parser::parse(text, start, names).map(|root| Expr { root })
    }

    /// The expression `NULL`.
    pub(crate) fn null() -> Expr {
        Expr { root: node::Node::Constant(Value::Null) }
    }

    /// The value. `debug(x)` is x and shows nothing.
    pub fn eval(&self, variables: &Variables, random: &mut Random) -> Result<Value, EvalError> {
        self.eval_showing(variables, random, &mut |_| {})
    }

    /// The value; each `debug(x)` on the way hands x to `shown`.
    pub fn eval_showing(
        &self,
        variables: &Variables,
        random: &mut Random,
        shown: &mut dyn FnMut(Value),
    ) -> Result<Value, EvalError> {
        eval::Evaluation { variables, random, shown }.eval(&self.root)
    }
}

#[cfg(test)]
mod tests;
