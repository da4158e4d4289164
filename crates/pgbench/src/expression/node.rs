//! The tree that an expression is.
//!
//! It holds what pgbench's grammar makes of an expression: `a > b` is `b < a`, `-x` is `0 - x` and `~x` is `-1 # x`, so
//! that operands are evaluated in the same order.

use super::function::Function;
use crate::value::Value;

/// What has two operands and always evaluates both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Eq,
    Ne,
    Lt,
    Le,
    Is,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
}

/// A part of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Constant(Value),
    Variable(usize),
    Not(Box<Node>),
    Binary(Operator, Box<[Node; 2]>),
    And(Box<[Node; 2]>),
    Or(Box<[Node; 2]>),
    /// Conditions with their values, and the value of `ELSE`.
    Case(Box<[(Node, Node)]>, Box<Node>),
    Call(Function, Box<[Node]>),
}
