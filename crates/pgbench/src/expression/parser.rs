//! From tokens to a tree, by how tightly signs bind.
//!
//! In: tokens. Out: a tree, or the first thing that does not fit. Loosest binds OR, then AND, NOT, IS, comparisons
//! (which do not chain), the operators of bits (all alike, `~` among them), sums, products, and the sign of a number.

use super::function::{ARGUMENTS_MAX, Signature, find};
use super::lexer::{Keyword, Lexer, Token};
use super::node::{Node, Operator};
use crate::fault::Unplaced;
use crate::names::Names;
use crate::value::Value;

/// How deep a tree may be, so that neither parsing nor evaluating it runs out of stack.
const DEPTH_MAX: usize = 200;

/// How tightly a sign binds.
mod binding {
    pub(super) const NOTHING: u8 = 0;
    pub(super) const OR: u8 = 1;
    pub(super) const AND: u8 = 2;
    pub(super) const NOT: u8 = 3;
    pub(super) const IS: u8 = 4;
    pub(super) const COMPARISON: u8 = 5;
    pub(super) const BITS: u8 = 6;
    pub(super) const SUM: u8 = 7;
    pub(super) const PRODUCT: u8 = 8;
    pub(super) const SIGN: u8 = 9;
}

/// What stands between two operands.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Infix {
    And,
    Or,
    Operator(Operator),
    /// `a > b` is `b < a`: the right operand is evaluated first.
    Swapped(Operator),
}

/// A tree and how deep it is.
struct Grown {
    node: Node,
    depth: usize,
}

impl Grown {
    fn leaf(node: Node) -> Grown {
        Grown { node, depth: 1 }
    }
}

struct Parser<'a, 'n> {
    lexer: Lexer<'a>,
    at: usize,
    token: Token<'a>,
    names: &'n mut Names,
    /// Operands that are begun and not ended.
    open: usize,
}

/// Parses an expression that reaches to the end of the text.
pub(super) fn parse(text: &str, start: usize, names: &mut Names) -> Result<Node, Unplaced> {
    let mut parser = Parser { lexer: Lexer::new(text, start), at: start, token: Token::End, names, open: 0 };
    parser.advance()?;
    if parser.token == Token::End {
        return Err(Unplaced::new(parser.at, "missing argument: an expression is needed here"));
    }
    let grown = parser.expression(binding::NOTHING)?;
    if parser.token != Token::End {
        return Err(parser.unexpected("an operator or the end of the line"));
    }
    Ok(grown.node)
}

impl Parser<'_, '_> {
    fn advance(&mut self) -> Result<(), Unplaced> {
        (self.at, self.token) = self.lexer.next()?;
        Ok(())
    }

    /// Goes past a sign if it is there.
    fn skip(&mut self, sign: &'static str) -> Result<bool, Unplaced> {
        self.skip_token(Token::Sign(sign))
    }

    fn skip_keyword(&mut self, keyword: Keyword) -> Result<bool, Unplaced> {
        self.skip_token(Token::Keyword(keyword))
    }

    fn skip_token(&mut self, token: Token<'_>) -> Result<bool, Unplaced> {
        let is_there = self.token == token;
        if is_there {
            self.advance()?;
        }
        Ok(is_there)
    }

    fn unexpected(&self, needed: &str) -> Unplaced {
        Unplaced::new(self.at, format!("syntax error, {needed} is needed here"))
    }

    /// An operand that is not deeper than allowed.
    fn grow(&self, node: Node, below: usize) -> Result<Grown, Unplaced> {
        if below >= DEPTH_MAX {
            return Err(self.too_deep());
        }
        Ok(Grown { node, depth: below + 1 })
    }

    fn too_deep(&self) -> Unplaced {
        let advice = "set a variable to a part of it";
        Unplaced::new(self.at, format!("the expression is nested deeper than {DEPTH_MAX}; {advice}"))
    }

    /// An operand and what follows it, as long as that binds at least as tightly as `least`.
    fn expression(&mut self, least: u8) -> Result<Grown, Unplaced> {
        self.open += 1;
        if self.open > DEPTH_MAX {
            return Err(self.too_deep());
        }
        let mut left = self.operand()?;
        let mut is_comparison = false;
        loop {
            let (bound, infix) = match self.token {
                Token::Keyword(Keyword::Is | Keyword::IsNull | Keyword::NotNull) if least <= binding::IS => {
                    left = self.is(left)?;
                    is_comparison = false;
                    continue;
                }
                token => match infix(token) {
                    Some(infix) if infix.0 >= least => infix,
                    _ => break,
                },
            };
            if is_comparison && bound == binding::COMPARISON {
                return Err(Unplaced::new(self.at, "syntax error, comparisons do not chain; use AND or parentheses"));
            }
            is_comparison = bound == binding::COMPARISON;
            self.advance()?;
            let right = self.expression(bound + 1)?;
            let depth = left.depth.max(right.depth);
            let node = match infix {
                Infix::And => Node::And(Box::new([left.node, right.node])),
                Infix::Or => Node::Or(Box::new([left.node, right.node])),
                Infix::Operator(operator) => Node::Binary(operator, Box::new([left.node, right.node])),
                Infix::Swapped(operator) => Node::Binary(operator, Box::new([right.node, left.node])),
            };
            left = self.grow(node, depth)?;
        }
        self.open -= 1;
        Ok(left)
    }

    /// What may follow `IS`, and the words that say the same.
    fn is(&mut self, left: Grown) -> Result<Grown, Unplaced> {
        let keyword = self.token;
        self.advance()?;
        let (is_negated, value) = match keyword {
            Token::Keyword(Keyword::IsNull) => (false, Value::Null),
            Token::Keyword(Keyword::NotNull) => (true, Value::Null),
            _ => {
                let is_negated = self.skip_keyword(Keyword::Not)?;
                let value = match self.token {
                    Token::Keyword(Keyword::Null) => Value::Null,
                    Token::Keyword(Keyword::True) => Value::Boolean(true),
                    Token::Keyword(Keyword::False) => Value::Boolean(false),
                    _ => return Err(self.unexpected("NULL, TRUE or FALSE")),
                };
                self.advance()?;
                (is_negated, value)
            }
        };
        let is = Node::Binary(Operator::Is, Box::new([left.node, Node::Constant(value)]));
        let grown = self.grow(is, left.depth)?;
        if is_negated { self.grow(Node::Not(Box::new(grown.node)), grown.depth) } else { Ok(grown) }
    }

    /// A number, a variable, a call, something in parentheses, or a sign with what it applies to.
    fn operand(&mut self) -> Result<Grown, Unplaced> {
        let token = self.token;
        let at = self.at;
        match token {
            Token::Keyword(Keyword::Null) => self.constant(Value::Null),
            Token::Keyword(Keyword::True) => self.constant(Value::Boolean(true)),
            Token::Keyword(Keyword::False) => self.constant(Value::Boolean(false)),
            Token::Int(value) => self.constant(Value::Int(value)),
            Token::Double(value) => self.constant(Value::Double(value)),
            Token::Variable(name) => {
                let slot = self.names.intern(name);
                self.advance()?;
                Ok(Grown::leaf(Node::Variable(slot)))
            }
            Token::Name(name) => {
                let unknown = || Unplaced::new(at, format!("unexpected function name ({name})"));
                let signature = find(name).ok_or_else(unknown)?;
                self.advance()?;
                self.call(at, name, signature)
            }
            Token::Keyword(Keyword::Case) => self.case(),
            Token::Sign("(") => {
                self.advance()?;
                let inner = self.expression(binding::NOTHING)?;
                if self.skip(")")? { Ok(inner) } else { Err(self.unexpected("an operator or )")) }
            }
            Token::Sign("-" | "+" | "~") | Token::Keyword(Keyword::Not) => self.prefixed(token),
            Token::IntLimit => {
                Err(Unplaced::new(at, "bigint constant overflow (9223372036854775808); only its negative fits"))
            }
            _ => Err(self.unexpected("a number, a variable or a function")),
        }
    }

    fn constant(&mut self, value: Value) -> Result<Grown, Unplaced> {
        self.advance()?;
        Ok(Grown::leaf(Node::Constant(value)))
    }

    /// What begins with `-`, `+`, `~` or NOT.
    fn prefixed(&mut self, sign: Token<'_>) -> Result<Grown, Unplaced> {
        self.advance()?;
        if sign == Token::Sign("-") && self.token == Token::IntLimit {
            return self.constant(Value::Int(i64::MIN));
        }
        let bound = match sign {
            Token::Sign("~") => binding::BITS + 1,
            Token::Sign(_) => binding::SIGN,
            _ => binding::NOT,
        };
        let inner = self.expression(bound)?;
        let from = |int, operator, inner| {
            let constant = Node::Constant(Value::Int(int));
            Node::Binary(operator, Box::new([constant, inner]))
        };
        match sign {
            Token::Sign("-") => self.grow(from(0, Operator::Sub, inner.node), inner.depth),
            Token::Sign("~") => self.grow(from(-1, Operator::BitXor, inner.node), inner.depth),
            Token::Sign(_) => Ok(inner),
            _ => self.grow(Node::Not(Box::new(inner.node)), inner.depth),
        }
    }

    fn case(&mut self) -> Result<Grown, Unplaced> {
        self.advance()?;
        let mut arms = Vec::new();
        let mut depth = 1;
        while self.skip_keyword(Keyword::When)? {
            let condition = self.expression(binding::NOTHING)?;
            if !self.skip_keyword(Keyword::Then)? {
                return Err(self.unexpected("an operator or THEN"));
            }
            let value = self.expression(binding::NOTHING)?;
            depth = depth.max(condition.depth).max(value.depth);
            arms.push((condition.node, value.node));
        }
        if arms.is_empty() {
            return Err(self.unexpected("WHEN"));
        }
        let mut otherwise = Node::Constant(Value::Null);
        let has_else = self.skip_keyword(Keyword::Else)?;
        if has_else {
            let grown = self.expression(binding::NOTHING)?;
            depth = depth.max(grown.depth);
            otherwise = grown.node;
        }
        if !self.skip_keyword(Keyword::End)? {
            return Err(self.unexpected(if has_else {
                "an operator or END"
            } else {
                "an operator, WHEN, ELSE or END"
            }));
        }
        self.grow(Node::Case(arms.into(), Box::new(otherwise)), depth)
    }

    /// The arguments of a function, whose name was at `at`.
    fn call(&mut self, at: usize, name: &str, signature: Signature) -> Result<Grown, Unplaced> {
        if !self.skip("(")? {
            return Err(self.unexpected("( with arguments"));
        }
        let mut arguments = Vec::new();
        let mut depth = 0;
        if !self.skip(")")? {
            loop {
                let grown = self.expression(binding::NOTHING)?;
                depth = depth.max(grown.depth);
                arguments.push(grown.node);
                if self.skip(")")? {
                    break;
                }
                if !self.skip(",")? {
                    return Err(self.unexpected("an operator, a comma or )"));
                }
            }
        }
        let (fewest, most) = signature.arguments;
        if !(fewest..=most).contains(&arguments.len()) {
            return Err(Unplaced::new(at, wrong_number(name, arguments.len(), fewest, most)));
        }
        if signature.is_seeded && arguments.len() < most {
            arguments.push(Node::Variable(Names::DEFAULT_SEED));
            depth = depth.max(1);
        }
        self.grow(Node::Call(signature.function, arguments.into()), depth)
    }
}

fn wrong_number(name: &str, given: usize, fewest: usize, most: usize) -> String {
    if most == ARGUMENTS_MAX {
        return match given {
            0 => format!("at least one argument expected ({name})"),
            _ => format!("too many function arguments, maximum is {most} ({name})"),
        };
    }
    let takes = if fewest == most { fewest.to_string() } else { format!("{fewest} or {most}") };
    format!("unexpected number of arguments ({name}): it takes {takes}, not {given}")
}

/// What a token does between two operands, and how tightly it binds.
fn infix(token: Token<'_>) -> Option<(u8, Infix)> {
    let operator = |bound, operator| Some((bound, Infix::Operator(operator)));
    match token {
        Token::Keyword(Keyword::Or) => Some((binding::OR, Infix::Or)),
        Token::Keyword(Keyword::And) => Some((binding::AND, Infix::And)),
        Token::Sign(">") => Some((binding::COMPARISON, Infix::Swapped(Operator::Lt))),
        Token::Sign(">=") => Some((binding::COMPARISON, Infix::Swapped(Operator::Le))),
        Token::Sign("<") => operator(binding::COMPARISON, Operator::Lt),
        Token::Sign("<=") => operator(binding::COMPARISON, Operator::Le),
        Token::Sign("=") => operator(binding::COMPARISON, Operator::Eq),
        Token::Sign("<>") => operator(binding::COMPARISON, Operator::Ne),
        Token::Sign("|") => operator(binding::BITS, Operator::BitOr),
        Token::Sign("#") => operator(binding::BITS, Operator::BitXor),
        Token::Sign("&") => operator(binding::BITS, Operator::BitAnd),
        Token::Sign("<<") => operator(binding::BITS, Operator::ShiftLeft),
        Token::Sign(">>") => operator(binding::BITS, Operator::ShiftRight),
        Token::Sign("+") => operator(binding::SUM, Operator::Add),
        Token::Sign("-") => operator(binding::SUM, Operator::Sub),
        Token::Sign("*") => operator(binding::PRODUCT, Operator::Mul),
        Token::Sign("/") => operator(binding::PRODUCT, Operator::Div),
        Token::Sign("%") => operator(binding::PRODUCT, Operator::Mod),
        _ => None,
    }
}
