//! Sampled stacks → a profile as pprof reads it.
//!
//! In: the stacks of a treatment in a test. Out: the bytes of pprof's message `Profile`, not yet compressed. The format
//! is that of profile.proto in github.com/google/pprof; of its fields only those are written that stacks of names have.

use rqps_analysis::SampledStacks;
use std::collections::HashMap;

/// The values of a sample, with their units. The last one is that of the builds' comparison: a second of it is a
/// microsecond per operation.
const VALUES: [(&str, &str); 3] =
    [("samples", "count"), ("cpu", "nanoseconds"), ("cpu_of_a_million_operations", "nanoseconds")];

/// A message of protocol buffers.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// A field with a whole number.
    fn number(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }

    /// A field with bytes: text, a message, packed numbers.
    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn packed(&mut self, field: u64, numbers: impl Iterator<Item = u64>) {
        let mut packed = Message::default();
        numbers.for_each(|number| packed.varint(number));
        self.bytes(field, &packed.0);
    }
}

/// Texts by their place in the table; the first one is empty.
#[derive(Default)]
struct Texts<'a> {
    places: HashMap<&'a str, u64>,
    table: Vec<&'a str>,
}

impl<'a> Texts<'a> {
    fn place(&mut self, text: &'a str) -> u64 {
        if self.table.is_empty() {
            self.table.push("");
        }
        *self.places.entry(text).or_insert_with(|| {
            self.table.push(text);
            self.table.len() as u64 - 1
        })
    }
}

/// The profile as a message.
pub fn pprof(sampled: &SampledStacks) -> Vec<u8> {
    let mut texts = Texts::default();
    let mut functions: HashMap<&str, u64> = HashMap::new();
    let mut profile = Message::default();
    for (kind, unit) in VALUES {
        profile.bytes(1, &value_type(&mut texts, kind, unit).0);
    }
    for stack in &sampled.stacks {
        // The innermost function is the first one. Each function is a place in the code of its own.
        let ids: Vec<u64> = stack.functions.iter().rev().map(|name| function(&mut functions, name)).collect();
        let nanoseconds = [stack.samples * sampled.period_ns, (stack.us_per_op * 1e9).round() as u64];
        let mut sample = Message::default();
        sample.packed(1, ids.into_iter());
        sample.packed(2, std::iter::once(stack.samples).chain(nanoseconds));
        profile.bytes(2, &sample.0);
    }
    let mut named: Vec<(&str, u64)> = functions.into_iter().collect();
    named.sort_by_key(|(_, id)| *id);
    for (name, id) in named {
        let (mut line, mut location, mut function) = (Message::default(), Message::default(), Message::default());
        line.number(1, id);
        location.number(1, id);
        location.bytes(4, &line.0);
        profile.bytes(4, &location.0);
        function.number(1, id);
        function.number(2, texts.place(name));
        profile.bytes(5, &function.0);
    }
    let (kind, unit) = VALUES[1];
    profile.bytes(11, &value_type(&mut texts, kind, unit).0);
    profile.number(10, sampled.counted_ns);
    profile.number(12, sampled.period_ns);
    profile.number(14, texts.place(VALUES[2].0));
    texts.table.iter().for_each(|text| profile.bytes(6, text.as_bytes()));
    profile.0
}

fn value_type<'a>(texts: &mut Texts<'a>, kind: &'a str, unit: &'a str) -> Message {
    let mut message = Message::default();
    message.number(1, texts.place(kind));
    message.number(2, texts.place(unit));
    message
}

/// The number of a function, from 1.
fn function<'a>(functions: &mut HashMap<&'a str, u64>, name: &'a str) -> u64 {
    let next = functions.len() as u64 + 1;
    *functions.entry(name).or_insert(next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_analysis::SampledStack;

    #[test]
    fn numbers_are_written_seven_bits_at_a_time() {
        let mut message = Message::default();
        message.number(1, 300);
        message.packed(2, [1, 127, 128].into_iter());
        assert_eq!(message.0, [0x08, 0xac, 0x02, 0x12, 0x04, 0x01, 0x7f, 0x80, 0x01]);
    }

    #[test]
    fn a_stack_has_its_innermost_function_first() {
        let stack = SampledStack { functions: vec!["main".to_owned(), "f".to_owned()], samples: 2, us_per_op: 1.5 };
        let bytes = pprof(&SampledStacks { period_ns: 1000, counted_ns: 5, stacks: vec![stack] });
        // Function f is number 1 and main number 2; 2 samples, 2 µs, 1.5 s.
        let mut values = Message::default();
        values.packed(1, [1, 2].into_iter());
        values.packed(2, [2, 2000, 1_500_000_000].into_iter());
        let mut sample = Message::default();
        sample.bytes(2, &values.0);
        assert!(bytes.windows(sample.0.len()).any(|part| part == sample.0), "{bytes:?}");
        assert!(
            ["main", "cpu", "nanoseconds"]
                .iter()
                .all(|text| { bytes.windows(text.len()).any(|part| part == text.as_bytes()) })
        );
    }
}
