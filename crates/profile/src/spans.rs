//! Spans of time, as lists in order.
//!
//! In: nanoseconds. Out: what lies in them.

use std::ops::Range;

/// Whether a moment is in one of the spans, which are in order.
pub(crate) fn is_within(spans: &[Range<u64>], time_ns: u64) -> bool {
    let after = spans.partition_point(|span| span.start <= time_ns);
    after > 0 && time_ns < spans[after - 1].end
}

/// How much of a time lies in the spans, which are in order.
pub(crate) fn overlap(spans: &[Range<u64>], time: &Range<u64>) -> u64 {
    let from = spans.partition_point(|span| span.end <= time.start);
    let inside = spans[from..].iter().take_while(|span| span.start < time.end);
    inside.map(|span| span.end.min(time.end).saturating_sub(span.start.max(time.start))).sum()
}

/// What lies in spans of both lists, which are in order.
pub(crate) fn both(a: &[Range<u64>], b: &[Range<u64>]) -> Vec<Range<u64>> {
    let pairs = a.iter().flat_map(|a| b.iter().map(move |b| a.start.max(b.start)..a.end.min(b.end)));
    pairs.filter(|span| span.start < span.end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_time_in_counted_spans_counts() {
        let spans = [100..200, 300..400, 500..600];
        let of = |time: Range<u64>| overlap(&spans, &time);
        assert_eq!([of(0..50), of(200..300), of(150..160), of(150..350), of(0..u64::MAX)], [0, 0, 10, 100, 300]);
        assert_eq!([of(600..700), of(399..501)], [0, 2]);
    }

    #[test]
    fn what_is_in_both_lists_stays_in_order() {
        assert_eq!(
            both(&[100..200, 300..400], &[150..180, 190..320, 390..500]),
            [150..180, 190..200, 300..320, 390..400]
        );
    }
}
