//! The file format of recorded sessions: lines of hexadecimal bytes by direction, and the outcomes.
//!
//! In: text. Out: exchanges in order. `>` is what the client sent, `<` what the server sent, `=` what
//! a call said, `#` a remark.

use std::fmt::Write;

/// A recorded session.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Transcript {
    pub(crate) remark: String,
    pub(crate) exchanges: Vec<Exchange>,
    pub(crate) outcomes: Vec<String>,
}

/// What the client sent, and what the server answered to it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Exchange {
    pub(crate) client: Vec<u8>,
    pub(crate) server: Vec<u8>,
}

/// Bytes a line.
const LINE_BYTES: usize = 40;

impl Transcript {
    pub(crate) fn parse(text: &str) -> Transcript {
        let mut transcript = Transcript::default();
        for line in text.lines() {
            let (mark, rest) = line.split_once(' ').expect("a line is a mark and its text");
            match mark {
                "#" => transcript.remark = rest.to_owned(),
                ">" => transcript.add_client(&from_hex(rest)),
                "<" => transcript.add_server(&from_hex(rest)),
                "=" => transcript.outcomes.push(rest.to_owned()),
                _ => panic!("a line starts with an unknown mark: {line}"),
            }
        }
        transcript
    }

    pub(crate) fn add_client(&mut self, bytes: &[u8]) {
        match self.exchanges.last_mut() {
            Some(last) if last.server.is_empty() => last.client.extend(bytes),
            _ => self.exchanges.push(Exchange { client: bytes.to_vec(), server: Vec::new() }),
        }
    }

    pub(crate) fn add_server(&mut self, bytes: &[u8]) {
        // A server of MySQL speaks first.
        if self.exchanges.is_empty() {
            self.exchanges.push(Exchange::default());
        }
        let last = self.exchanges.last_mut();
        last.expect("there is one now").server.extend(bytes);
    }

    pub(crate) fn render(&self) -> String {
        let mut text = format!("# {}\n", self.remark);
        for exchange in &self.exchanges {
            for (mark, bytes) in [('>', &exchange.client), ('<', &exchange.server)] {
                for line in bytes.chunks(LINE_BYTES) {
                    text.push(mark);
                    text.push(' ');
                    for byte in line {
                        write!(text, "{byte:02x}").expect("a string takes everything");
                    }
                    text.push('\n');
                }
            }
        }
        for outcome in &self.outcomes {
            writeln!(text, "= {outcome}").expect("a string takes everything");
        }
        text
    }
}

fn from_hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("hexadecimal digits")).collect()
}
