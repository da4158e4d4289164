//! The first rows of an answer, for programs whose next statement depends on them.
//!
//! In: rows as the protocol modules read them, as many as the statement asks for. Out: values as text, or as the number
//! that is asked for. The memory of one answer serves the next, so that nothing is allocated once it has its size.
//! Where nothing is asked for, nothing is read. Instead of the first rows it may be the last one of each result, with
//! the names of its columns: for programs that go on from answers whose columns nobody knows before.

/// In place of a number of rows: the last one of each result.
pub(crate) const KEPT_LAST: usize = usize::MAX;

/// Room for the values of an answer and their bytes, made before the first: the answers that transactions go on from
/// fit, so that a session takes no more memory the longer it is open. The longest of them are TPROC-C's customers of
/// one name: up to 75 rows of 4 values, as names are drawn.
const VALUES: usize = 320;
const BYTES: usize = 3072;

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
    /// Whether the last row of each result is kept, with names, instead of the first ones.
    keeps_last: bool,
    /// Where each name ends in the bytes.
    names: Vec<usize>,
    results: Vec<KeptResult>,
    /// Whether a result with columns has begun and not ended.
    is_open: bool,
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
            self.keeps_last = wanted == KEPT_LAST;
        }
        if wanted > 0 && self.values.capacity() == 0 {
            self.make_room();
        }
    }

    #[cold]
    fn make_room(&mut self) {
        // Written once, since the kernel gives a page only when it is.
        self.values.resize(VALUES, (0, false));
        self.bytes.resize(BYTES, 0);
        self.clear();
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.values.clear();
        self.types.clear();
        self.names.clear();
        self.results.clear();
        self.is_open = false;
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

    /// A result of an answer is over.
    #[inline]
    pub(crate) fn end_result(&mut self) {
        if self.wants_names() {
            self.end_last();
        } else {
            self.begin_result();
        }
    }

    /// A row follows.
    pub(crate) fn begin_row(&mut self) {
        if self.keeps_last {
            self.replace_last_row();
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
        if !self.keeps_last {
            self.count += 1;
        }
    }
}

/// A result: names and values lie in the bytes of [`Rows`].
#[derive(Clone, Copy, Debug)]
struct KeptResult {
    /// Its first name, and where in the bytes that begins.
    name: usize,
    names_at: usize,
    columns: usize,
    /// Its first value, and where in the bytes that begins.
    value: usize,
    row_at: usize,
    rows: u64,
}

/// The last row of a result.
#[derive(Clone, Copy, Debug)]
pub struct LastRow<'r> {
    all: &'r Rows,
    result: KeptResult,
}

impl<'r> LastRow<'r> {
    /// How many rows the result had; none where a statement gives no rows at all.
    pub fn rows(&self) -> u64 {
        self.result.rows
    }

    /// The columns: their names, and their values unless they are NULL; nothing if there was no row.
    pub fn columns(&self) -> impl Iterator<Item = (&'r [u8], Option<&'r [u8]>)> {
        let (all, result) = (self.all, self.result);
        let columns = if result.rows > 0 { result.columns } else { 0 };
        (0..columns).map(move |column| {
            let name = result.name + column;
            let name_at = if column == 0 { result.names_at } else { all.names[name - 1] };
            let value = result.value + column;
            let value_at = if column == 0 { result.row_at } else { all.values[value - 1].0 };
            let (end, is_null) = all.values[value];
            (&all.bytes[name_at..all.names[name]], (!is_null).then(|| &all.bytes[value_at..end]))
        })
    }
}

impl Rows {
    /// The results of the last answer, where their last rows were asked for.
    pub fn last(&self) -> impl DoubleEndedIterator<Item = LastRow<'_>> {
        self.results.iter().map(|result| LastRow { all: self, result: *result })
    }

    /// Whether names are wanted.
    pub(crate) fn wants_names(&self) -> bool {
        self.keeps_last && self.wanted > 0
    }

    /// A result with columns begins.
    pub(crate) fn begin_names(&mut self) {
        self.is_open = true;
        let (names_at, name, value) = (self.bytes.len(), self.names.len(), self.values.len());
        self.results.push(KeptResult { name, names_at, columns: 0, value, row_at: names_at, rows: 0 });
    }

    /// The next column's name.
    pub(crate) fn push_name(&mut self, name: &[u8]) {
        self.bytes.extend_from_slice(name);
        self.names.push(self.bytes.len());
        if let Some(result) = self.results.last_mut() {
            result.columns += 1;
            result.row_at = self.bytes.len();
        }
    }

    /// A row takes the place of the one before it in its result.
    fn replace_last_row(&mut self) {
        if let Some(result) = self.results.last_mut() {
            result.rows += 1;
            self.bytes.truncate(result.row_at);
            self.values.truncate(result.value);
        }
    }

    /// A result is over, perhaps one without columns.
    fn end_last(&mut self) {
        if !std::mem::take(&mut self.is_open) {
            self.begin_names();
            self.is_open = false;
        }
        self.count = self.results.len();
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

    fn row(rows: &mut Rows, values: &[Option<&str>]) {
        rows.begin_row();
        for value in values {
            rows.push(value.map(|value| move |bytes: &mut Vec<u8>| bytes.extend_from_slice(value.as_bytes())));
        }
        rows.end_row(values.len());
    }

    #[test]
    fn the_longest_answer_takes_no_more_memory_than_the_first() {
        let mut rows = Rows::default();
        let mut room = |count: usize| {
            rows.begin(count);
            (0..count).for_each(|_| row(&mut rows, &["2999", "-12345.67", "sixteen letters ", "OE"].map(Some)));
            (rows.values.capacity(), rows.bytes.capacity())
        };
        assert_eq!(room(1), room(75));
    }

    #[test]
    fn the_last_row_of_each_result_is_kept_with_its_names() {
        let mut rows = Rows::default();
        for _ in 0..3 {
            rows.begin(KEPT_LAST);
            rows.begin_names();
            rows.push_name(b"id");
            rows.push_name(b"note");
            for values in [[Some("1"), Some("long text")], [Some("22"), None]] {
                assert!(rows.wants_more());
                row(&mut rows, &values);
            }
            rows.end_result();
            // An UPDATE; then a result that is empty.
            rows.end_result();
            rows.begin_names();
            rows.push_name(b"x");
            rows.end_result();
            let seen: Vec<(u64, Vec<_>)> = rows.last().map(|last| (last.rows(), last.columns().collect())).collect();
            let first = vec![(&b"id"[..], Some(&b"22"[..])), (b"note", None)];
            assert_eq!(seen, [(2, first), (0, vec![]), (0, vec![])]);
        }
        rows.begin(0);
        assert_eq!((rows.last().count(), rows.wants_names(), rows.wants_more()), (0, false, false));
    }
}
