//! The first rows of an answer, for programs whose next statement depends on them.
//!
//! In: rows as the protocol modules read them, as many as the statement asks for. Out: values as text, or as the number
//! that is asked for. The memory of one answer serves the next, so that nothing is allocated once it has its size.
//! Where nothing is asked for, nothing is read.

/// The rows that were kept of the last answer.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    bytes: Vec<u8>,
    /// Where each value ends in the bytes, and whether it is NULL.
    values: Vec<(usize, bool)>,
    columns: usize,
    count: usize,
    /// Rows that are still to be kept.
    wanted: usize,
    /// MySQL's types of the columns, as it sends them before the rows: type, and whether it is unsigned.
    pub(crate) types: Vec<(u8, bool)>,
    /// Whether MySQL's rows come in binary form.
    pub(crate) is_binary: bool,
}

impl Rows {
    /// Rows as an answer would have them, for whoever stands in for a server.
    pub fn of(rows: &[&[Option<&str>]]) -> Rows {
        let mut kept = Rows::default();
        kept.begin(rows.len());
        for row in rows {
            for value in *row {
                kept.push(value.map(|value| |bytes: &mut Vec<u8>| bytes.extend_from_slice(value.as_bytes())));
            }
            kept.end_row(row.len());
        }
        kept
    }

    /// How many rows were kept.
    pub fn count(&self) -> usize {
        self.count
    }

    /// A value as text, counted from 0; nothing if it is NULL or was not kept.
    pub fn text(&self, row: usize, column: usize) -> Option<&[u8]> {
        if row >= self.count || column >= self.columns {
            return None;
        }
        let index = row * self.columns + column;
        let start = index.checked_sub(1).map_or(0, |before| self.values[before].0);
        let (end, is_null) = self.values[index];
        (!is_null).then(|| &self.bytes[start..end])
    }

    /// A value as an integer; nothing if it is none.
    pub fn integer(&self, row: usize, column: usize) -> Option<i64> {
        self.parsed(row, column)
    }

    /// A value as a floating-point number; nothing if it is none.
    pub fn float(&self, row: usize, column: usize) -> Option<f64> {
        self.parsed(row, column)
    }

    fn parsed<T: std::str::FromStr>(&self, row: usize, column: usize) -> Option<T> {
        std::str::from_utf8(self.text(row, column)?).ok()?.parse().ok()
    }

    /// Another answer is awaited, of which so many rows are to be kept.
    #[inline]
    pub(crate) fn begin(&mut self, wanted: usize) {
        self.wanted = wanted;
        if self.count > 0 || wanted > 0 {
            self.clear();
        }
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.values.clear();
        self.types.clear();
        self.columns = 0;
        self.count = 0;
    }

    /// Whether the next row is to be kept.
    #[inline]
    pub(crate) fn wants_more(&self) -> bool {
        self.count < self.wanted
    }

    /// Another result of the same answer begins: rows of another shape don't belong to those that are there.
    pub(crate) fn begin_result(&mut self) {
        self.types.clear();
        if self.count > 0 {
            self.wanted = self.count;
        }
    }

    /// Adds a value to the row that is being read; `write` appends its text.
    pub(crate) fn push(&mut self, write: Option<impl FnOnce(&mut Vec<u8>)>) {
        let is_null = write.is_none();
        if let Some(write) = write {
            write(&mut self.bytes);
        }
        self.values.push((self.bytes.len(), is_null));
    }

    /// The row is complete.
    pub(crate) fn end_row(&mut self, columns: usize) {
        self.columns = columns;
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_row_and_column_and_the_memory_is_used_again() {
        let mut rows = Rows::default();
        for answer in 0..3 {
            rows.begin(2);
            let mut kept = 0;
            while rows.wants_more() {
                for value in [Some("12"), None, Some("x")] {
                    rows.push(value.map(|value| move |bytes: &mut Vec<u8>| bytes.extend_from_slice(value.as_bytes())));
                }
                rows.end_row(3);
                kept += 1;
            }
            assert_eq!((kept, rows.count()), (2, 2), "{answer}");
            assert_eq!((rows.integer(1, 0), rows.text(1, 1), rows.text(0, 2)), (Some(12), None, Some(&b"x"[..])));
            assert_eq!(
                (rows.float(0, 0), rows.integer(0, 2), rows.text(2, 0), rows.text(0, 3)),
                (Some(12.0), None, None, None)
            );
        }
        let room = rows.bytes.capacity();
        rows.begin(0);
        assert_eq!((rows.count(), rows.wants_more(), rows.bytes.capacity()), (0, false, room));
    }
}
