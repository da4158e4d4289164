//! Whole latency histograms, one for each statement kind and one for events, in nanoseconds.
//!
//! In and out: histograms by kind, and the text of `latency.hdr`. The text is a histogram log as the HdrHistogram
//! libraries and their viewers read it: comment lines, then one line a kind with its name as tag, and the histogram
//! compressed (V2) in base64. Histograms of the same kind can be added over rounds, slices and clients.

use crate::error::StoreError;
use crate::stored_file::StoredFile;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializer};
use rqps_model::Part;
use rqps_model::part::LATENCY;
use std::collections::BTreeMap;
use std::time::Duration;

/// Histograms in nanoseconds by statement kind.
pub type Latencies = BTreeMap<String, Histogram<u64>>;

/// The kind under which whole events (transactions of a test) are kept.
pub const EVENT: &str = "event";

/// The kind of events that failed.
pub const FAILED_EVENT: &str = "event-failed";

/// In the log the largest value of each line is there for people: in milliseconds.
const NS_PER_MS: f64 = 1e6;

/// The histograms of a sample as its part; an error where the name of a kind would break a line.
pub fn latency_part(latencies: &Latencies, seconds: f64) -> Result<Part, StoreError> {
    let unwritable = |why| StoreError::Unwritable { what: LATENCY.to_owned(), why };
    let bytes = if latencies.is_empty() { Vec::new() } else { render(latencies, seconds).map_err(unwritable)? };
    Ok(Part { name: LATENCY.to_owned(), bytes })
}

/// The text, or why it cannot be written.
fn render(latencies: &Latencies, seconds: f64) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment("[Histogram log format version 1.3]")
        .add_comment("rqps: latencies in ns; Tag = statement kind; start s, length s, largest ms, histogram")
        .with_max_value_divisor(NS_PER_MS)
        .begin_log_with(&mut text, &mut serializer)
        .map_err(|error| error.to_string())?;
    let length = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    for (kind, histogram) in latencies {
        let tag = Tag::new(kind).filter(|tag| !tag.is_empty());
        let tag = tag.ok_or_else(|| format!("statement kind `{kind}` is empty or has a blank, comma or line end"))?;
        log.write_histogram(histogram, Duration::ZERO, length, Some(tag)).map_err(|error| error.to_string())?;
    }
    Ok(text)
}

/// The histograms of a text.
pub(crate) fn parse(file: &StoredFile, text: &[u8]) -> Result<Latencies, StoreError> {
    let line_of = |offset: usize| Some(1 + text.iter().take(offset).filter(|&&byte| byte == b'\n').count());
    let mut latencies = Latencies::new();
    let mut deserializer = Deserializer::new();
    for entry in IntervalLogIterator::new(text) {
        let entry =
            entry.map_err(|hdrhistogram::serialization::interval_log::LogIteratorError::ParseError { offset }| {
                file.damage(line_of(offset), "not a line of a histogram log")
            })?;
        let LogEntry::Interval(interval) = entry else { continue };
        let encoded = interval.encoded_histogram();
        let line = line_of(encoded.as_ptr().addr() - text.as_ptr().addr());
        let Some(tag) = interval.tag() else { return Err(file.damage(line, "no statement kind (Tag=)")) };
        let bytes = STANDARD.decode(encoded).map_err(|error| file.damage(line, error.to_string()))?;
        let histogram: Histogram<u64> = deserializer
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| file.damage(line, format!("histogram of `{}`: {error}", tag.as_str())))?;
        if latencies.insert(tag.as_str().to_owned(), histogram).is_some() {
            return Err(file.damage(line, format!("`{}` for the second time", tag.as_str())));
        }
    }
    Ok(latencies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn file() -> StoredFile {
        StoredFile { path: "latency.hdr".into(), expected: "a histogram log", remedy: "delete it".into() }
    }

    fn histogram(values: &[u64]) -> Histogram<u64> {
        let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).expect("bounds");
        values.iter().for_each(|&value| histogram.record(value).expect("in range"));
        histogram
    }

    #[test]
    fn what_is_written_comes_back_and_adds_up() {
        let kinds = [("point_select", &[40_000, 41_000, 9_000_000][..]), (EVENT, &[]), ("BEGIN", &[1])];
        let latencies: Latencies = kinds.iter().map(|(kind, values)| ((*kind).to_owned(), histogram(values))).collect();
        let text = render(&latencies, 12.5).expect("written");
        let lines: Vec<&str> = std::str::from_utf8(&text).expect("text").lines().collect();
        assert_eq!(lines.len(), 3 + latencies.len(), "{lines:#?}");
        assert!(lines[5].starts_with("Tag=point_select,0.000,12.500,9.003,HISTFAA"), "{}", lines[5]);
        let mut back = parse(&file(), &text).expect("read");
        assert_eq!(back, latencies);
        let sum = back.get_mut("point_select").expect("there");
        sum.add(&latencies["point_select"]).expect("same bounds");
        assert_eq!(sum.len(), 6);
    }

    #[test]
    fn a_kind_that_would_break_the_line_is_refused() {
        for kind in ["", "a b", "a,b", "a\nb"] {
            let latencies = Latencies::from([(kind.to_owned(), histogram(&[1]))]);
            assert!(render(&latencies, 1.0).is_err(), "{kind:?}");
        }
    }

    #[test]
    fn broken_lines_are_named() {
        let latencies = Latencies::from([(EVENT.to_owned(), histogram(&[5, 6, 7]))]);
        let text = String::from_utf8(render(&latencies, 1.0).expect("written")).expect("text");
        let broken = [
            text.replace("HISTF", "HIST!"),
            text.replace("Tag=event,", ""),
            format!("{text}{}\n", text.lines().last().expect("a line")),
            text.replace("Tag=event,0.000,", "Tag=event;zero;"),
        ];
        let told = broken.map(|broken| parse(&file(), broken.as_bytes()).expect_err("broken").to_string());
        expect![[r#"
            damaged result file latency.hdr:4: Invalid symbol 33, offset 4.; expected a histogram log; delete it
            damaged result file latency.hdr:4: no statement kind (Tag=); expected a histogram log; delete it
            damaged result file latency.hdr:5: `event` for the second time; expected a histogram log; delete it
            damaged result file latency.hdr:4: not a line of a histogram log; expected a histogram log; delete it"#]]
        .assert_eq(&told.join("\n"));
        for cut in 0..text.len() {
            // Whatever is left is read or refused, without a panic.
            drop(parse(&file(), &text.as_bytes()[..cut]));
        }
    }
}
