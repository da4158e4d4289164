//! What an expression gives.
//!
//! In: a tree, variables, a generator. Out: a value. Operands are evaluated from left to right, all of them unless AND,
//! OR or CASE need no more; then NULL among them makes the whole NULL. Nothing is allocated but for errors.

use super::function::{ARGUMENTS_MAX, Function};
use super::node::{Node, Operator};
use crate::value::{EvalError, Value};
use crate::variables::Variables;
use rqps_draw::Random;

type Evaluated = Result<Value, EvalError>;

/// What evaluating needs.
pub(super) struct Evaluation<'a> {
    pub(super) variables: &'a Variables,
    pub(super) random: &'a mut Random,
    /// Gets what `debug` is given.
    pub(super) shown: &'a mut dyn FnMut(Value),
}

impl Evaluation<'_> {
    pub(super) fn eval(&mut self, node: &Node) -> Evaluated {
        match node {
            Node::Constant(value) => Ok(*value),
            Node::Variable(slot) => self.variables.value(*slot),
            Node::Not(inner) => match self.eval(inner)? {
                Value::Null => Ok(Value::Null),
                value => Ok(Value::Boolean(!value.to_boolean()?)),
            },
            Node::Binary(operator, operands) => {
                let [left, right] = &**operands;
                let left = self.eval(left)?;
                binary(*operator, left, self.eval(right)?)
            }
            Node::And(operands) => self.unless(false, operands),
            Node::Or(operands) => self.unless(true, operands),
            Node::Case(arms, otherwise) => {
                for (condition, value) in arms {
                    if self.eval(condition)?.is_true() {
                        return self.eval(value);
                    }
                }
                self.eval(otherwise)
            }
            Node::Call(function, arguments) => self.call(*function, arguments),
        }
    }

    /// AND and OR: the left operand alone if it decides or is NULL. So NULL AND false is NULL, unlike in SQL.
    fn unless(&mut self, decides: bool, operands: &[Node; 2]) -> Evaluated {
        let [left, right] = operands;
        match self.eval(left)? {
            Value::Null => Ok(Value::Null),
            value if value.to_boolean()? == decides => Ok(Value::Boolean(decides)),
            _ => match self.eval(right)? {
                Value::Null => Ok(Value::Null),
                value => Ok(Value::Boolean(value.to_boolean()?)),
            },
        }
    }

    fn call(&mut self, function: Function, arguments: &[Node]) -> Evaluated {
        let mut values = [Value::Null; ARGUMENTS_MAX];
        let values = &mut values[..arguments.len()];
        for (value, argument) in values.iter_mut().zip(arguments) {
            *value = self.eval(argument)?;
        }
        if function == Function::Debug {
            (self.shown)(values[0]);
            return Ok(values[0]);
        }
        if values.contains(&Value::Null) {
            return Ok(Value::Null);
        }
        match function {
            Function::Random | Function::RandomExponential | Function::RandomGaussian | Function::RandomZipfian => {
                self.draw(function, values)
            }
            _ => pure(function, values),
        }
    }

    fn draw(&mut self, function: Function, values: &[Value]) -> Evaluated {
        let (low, high) = (values[0].to_int()?, values[1].to_int()?);
        if low > high {
            return Err(EvalError::EmptyRange);
        }
        if high.checked_sub(low).and_then(|span| span.checked_add(1)).is_none() {
            return Err(EvalError::RangeTooLarge);
        }
        let drawn = match function {
            Function::RandomExponential => {
                let parameter = parameter(values[2], "exponential", "greater than zero", |value| value > 0.0)?;
                self.random.exponential(low, high, parameter)
            }
            Function::RandomGaussian => {
                let parameter = parameter(values[2], "gaussian", "at least 2.000000", |value| value >= 2.0)?;
                self.random.gaussian(low, high, parameter)
            }
            Function::RandomZipfian => {
                let in_range = |value| (1.001..=1000.0).contains(&value);
                let parameter = parameter(values[2], "zipfian", "in range [1.001, 1000]", in_range)?;
                self.random.zipfian(low, high, parameter)
            }
            _ => self.random.uniform(low, high),
        };
        Ok(Value::Int(drawn))
    }
}

/// The parameter of a distribution, if it has one like that.
fn parameter(
    value: Value,
    distribution: &'static str,
    allowed: &'static str,
    is_allowed: impl Fn(f64) -> bool,
) -> Result<f64, EvalError> {
    let value = value.to_double()?;
    if is_allowed(value) { Ok(value) } else { Err(EvalError::Parameter { distribution, allowed, value }) }
}

fn binary(operator: Operator, left: Value, right: Value) -> Evaluated {
    if operator == Operator::Is {
        // Never through text or numbers: 1 IS TRUE is false.
        return Ok(Value::Boolean(left == right));
    }
    if left == Value::Null || right == Value::Null {
        return Ok(Value::Null);
    }
    match operator {
        Operator::Mod => modulo(left.to_int()?, right.to_int()?),
        Operator::BitAnd => Ok(Value::Int(left.to_int()? & right.to_int()?)),
        Operator::BitOr => Ok(Value::Int(left.to_int()? | right.to_int()?)),
        Operator::BitXor => Ok(Value::Int(left.to_int()? ^ right.to_int()?)),
        Operator::ShiftLeft => shift(left.to_int()?, right.to_int()?, i64::wrapping_shl),
        Operator::ShiftRight => shift(left.to_int()?, right.to_int()?, i64::wrapping_shr),
        _ if matches!(left, Value::Double(_)) || matches!(right, Value::Double(_)) => {
            Ok(of_doubles(operator, left.to_double()?, right.to_double()?))
        }
        _ => of_ints(operator, left.to_int()?, right.to_int()?),
    }
}

/// Shifts as the processors of today do it for C: by the lowest six bits of the distance.
#[expect(clippy::unnecessary_wraps, reason = "an arm like the others")]
fn shift(value: i64, distance: i64, by: fn(i64, u32) -> i64) -> Evaluated {
    let distance = u32::try_from(distance & 63).expect("six bits");
    Ok(Value::Int(by(value, distance)))
}

fn modulo(left: i64, right: i64) -> Evaluated {
    match right {
        0 => Err(EvalError::DivisionByZero),
        _ => Ok(Value::Int(left.wrapping_rem(right))),
    }
}

fn of_doubles(operator: Operator, left: f64, right: f64) -> Value {
    match operator {
        Operator::Add => Value::Double(left + right),
        Operator::Sub => Value::Double(left - right),
        Operator::Mul => Value::Double(left * right),
        Operator::Div => Value::Double(left / right),
        #[expect(clippy::float_cmp, reason = "what the script asks for")]
        Operator::Eq => Value::Boolean(left == right),
        #[expect(clippy::float_cmp, reason = "what the script asks for")]
        Operator::Ne => Value::Boolean(left != right),
        Operator::Lt => Value::Boolean(left < right),
        Operator::Le => Value::Boolean(left <= right),
        _ => unreachable!("operators of whole numbers are done before"),
    }
}

fn of_ints(operator: Operator, left: i64, right: i64) -> Evaluated {
    let checked = |result: Option<i64>, operation| result.map(Value::Int).ok_or(EvalError::OutOfRange { operation });
    match operator {
        Operator::Add => checked(left.checked_add(right), "add"),
        Operator::Sub => checked(left.checked_sub(right), "sub"),
        Operator::Mul => checked(left.checked_mul(right), "mul"),
        Operator::Div if right == 0 => Err(EvalError::DivisionByZero),
        Operator::Div => checked(left.checked_div(right), "div"),
        Operator::Eq => Ok(Value::Boolean(left == right)),
        Operator::Ne => Ok(Value::Boolean(left != right)),
        Operator::Lt => Ok(Value::Boolean(left < right)),
        Operator::Le => Ok(Value::Boolean(left <= right)),
        _ => unreachable!("operators of any number are done before"),
    }
}

/// Functions that draw nothing, of values that are there.
fn pure(function: Function, values: &[Value]) -> Evaluated {
    let double = |of: fn(f64) -> f64| Ok(Value::Double(of(values[0].to_double()?)));
    match function {
        Function::Abs => match values[0] {
            Value::Double(value) => Ok(Value::Double(if value < 0.0 { -value } else { value })),
            value => Ok(Value::Int(value.to_int()?.wrapping_abs())),
        },
        Function::Double => double(|value| value),
        Function::Exp => double(f64::exp),
        Function::Ln => double(f64::ln),
        Function::Sqrt => double(f64::sqrt),
        Function::Greatest => extreme(values, |new, old| new > old, |new, old| new > old),
        Function::Least => extreme(values, |new, old| new < old, |new, old| new < old),
        Function::Int => Ok(Value::Int(values[0].to_int()?)),
        Function::Mod => modulo(values[0].to_int()?, values[1].to_int()?),
        Function::Pi => Ok(Value::Double(std::f64::consts::PI)),
        Function::Power => Ok(Value::Double(values[0].to_double()?.powf(values[1].to_double()?))),
        Function::HashMurmur2 => Ok(Value::Int(rqps_draw::hash_murmur2(values[0].to_int()?, values[1].to_int()?))),
        Function::HashFnv1a => Ok(Value::Int(rqps_draw::hash_fnv1a(values[0].to_int()?, values[1].to_int()?))),
        Function::Permute => {
            let (index, size, seed) = (values[0].to_int()?, values[1].to_int()?, values[2].to_int()?);
            if size <= 0 {
                return Err(EvalError::PermuteSize);
            }
            // The index is taken as an unsigned number: of 10, -1 is 5 and not 9.
            let index = index.cast_unsigned() % size.cast_unsigned();
            Ok(Value::Int(rqps_draw::permute(index.cast_signed(), size, seed)))
        }
        _ => unreachable!("functions that draw are done before"),
    }
}

/// The least or the greatest: of doubles if any is one, where what does not compare leaves the older one.
fn extreme(values: &[Value], double: fn(f64, f64) -> bool, int: fn(i64, i64) -> bool) -> Evaluated {
    if values.iter().any(|value| matches!(value, Value::Double(_))) {
        let mut kept = values[0].to_double()?;
        for value in &values[1..] {
            let value = value.to_double()?;
            // C's MIN(kept, value) takes the second where they do not compare or are equal.
            if !double(kept, value) {
                kept = value;
            }
        }
        return Ok(Value::Double(kept));
    }
    let mut kept = values[0].to_int()?;
    for value in &values[1..] {
        let value = value.to_int()?;
        if !int(kept, value) {
            kept = value;
        }
    }
    Ok(Value::Int(kept))
}
