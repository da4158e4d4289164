//! Spans of time, in order and without overlap.

use std::ops::Range;

/// Whether a moment is in one of the spans, which are in order.
pub(crate) fn is_within(spans: &[Range<u64>], time_ns: u64) -> bool {
    let after = spans.partition_point(|span| span.start <= time_ns);
    after > 0 && time_ns < spans[after - 1].end
}

/// What lies in spans of both lists, which are in order.
pub(crate) fn both(a: &[Range<u64>], b: &[Range<u64>]) -> Vec<Range<u64>> {
    let pairs = a.iter().flat_map(|a| b.iter().map(move |b| a.start.max(b.start)..a.end.min(b.end)));
    pairs.filter(|span| span.start < span.end).collect()
}
