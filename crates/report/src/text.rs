//! Text from servers and files made fit for a terminal or a table cell: no control characters, wrapped to a width.
//!
//! A server log line may hold escape sequences; nothing that comes from outside reaches a terminal raw. Widths are
//! those of a display, where some letters fill two columns and some none.

use textwrap::{Options, WordSplitter};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// No text is broken into narrower lines.
const NARROWEST: usize = 8;

/// Columns that a terminal needs for the text.
pub(crate) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The text with every control character (line ends and tabs too) turned into a space.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || is_bidirectional(c) { ' ' } else { c }).collect()
}

/// Characters that reorder what is shown around them.
fn is_bidirectional(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

/// The text broken at spaces into lines of at most `width` columns, the first begun by one indent and the others by
/// another; longer words are cut.
pub(crate) fn wrap(text: &str, width: usize, first: &str, rest: &str) -> Vec<String> {
    let options = Options::new(width.max(NARROWEST)).initial_indent(first).subsequent_indent(rest);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines = textwrap::wrap(&words, options.word_splitter(WordSplitter::NoHyphenation));
    lines.into_iter().map(Into::into).collect()
}

/// Rows below a test: what stands first is a column, the rest wrapped beside it.
pub(crate) fn aligned(rows: &[(String, String)], width: usize) -> Vec<String> {
    let column = rows.iter().map(|(first, _)| self::width(first)).max().unwrap_or(0);
    let lines = rows.iter().flat_map(|(first, words)| {
        let padding = " ".repeat(column - self::width(first));
        wrap(words, width, &format!("        {first}{padding}  "), &" ".repeat(column + 10))
    });
    lines.collect()
}

/// As much as fills `lines` lines of `width` characters, with `ending` where something is missing. What stands between
/// commas is kept or left out as a whole, unless not even the first of it fits.
pub(crate) fn cut(text: &str, width: usize, lines: usize, ending: &str) -> String {
    let fits = |text: &str| wrap(text, width, "", "").len() <= lines;
    let mut words: Vec<&str> = text.split_whitespace().collect();
    if fits(text) {
        return words.join(" ");
    }
    let ends_item = |word: &str| word.ends_with([',', ';']);
    let fill = |words: &[&str]| format!("{}{ending}", words.join(" ").trim_end_matches([',', ';']));
    let mut items = (1..words.len()).rev().filter(|end| ends_item(words[end - 1]) && fits(&fill(&words[..*end])));
    if let Some(end) = items.next() {
        return fill(&words[..end]);
    }
    loop {
        words.pop();
        let short = fill(&words);
        if words.is_empty() || fits(&short) {
            return short;
        }
    }
}

/// The line broken to `width`, every further line indented two deeper than the first.
pub(crate) fn wrap_indented(line: &str, width: usize) -> String {
    if self::width(line) <= width {
        return line.to_owned();
    }
    let indent = " ".repeat(line.len() - line.trim_start_matches(' ').len());
    wrap(line, width, &indent, &format!("{indent}  ")).join("\n")
}

/// The text cut to `width` columns, with an ellipsis where something is missing.
pub(crate) fn fit(text: &str, width: usize) -> String {
    if self::width(text) <= width {
        return text.to_owned();
    }
    let mut used = 1;
    let over = text.char_indices().find(|(_, c)| {
        used += c.width().unwrap_or(0);
        used > width
    });
    format!("{}…", &text[..over.map_or(text.len(), |(at, _)| at)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_never_pass() {
        assert_eq!(plain("a\u{1b}[31mred\r\nb\tc\u{9b}2J"), "a [31mred  b c 2J");
        assert_eq!(plain("x\u{202e}y"), "x y");
    }

    #[test]
    fn wraps_at_spaces_and_cuts_long_words() {
        assert_eq!(wrap("one two three", 8, "", ""), ["one two", "three"]);
        assert_eq!(wrap("0123456789abc x", 8, "", ""), ["01234567", "89abc x"]);
        assert_eq!(wrap("", 8, "", ""), [""]);
        assert_eq!(wrap("数据 库引擎", 8, "", ""), ["数据", "库引擎"], "letters that fill two columns");
    }

    #[test]
    fn cuts_at_words_and_says_so() {
        assert_eq!(cut("one two three", 8, 2, " …"), "one two three");
        assert_eq!(cut("one, two, three, four", 10, 2, " …"), "one, two, three …");
        assert_eq!(cut("one, two, three, four", 10, 1, " …"), "one, two …");
        assert_eq!(cut("a 1 instead of 2, b 3 instead of 4", 20, 1, " …"), "a 1 instead of 2 …", "whole items");
        assert_eq!(cut("a 1 instead of 22222222, b", 13, 1, " …"), "a 1 instead …");
    }

    #[test]
    fn marks_what_was_cut() {
        assert_eq!(fit("point-query", 20), "point-query");
        assert_eq!(fit("point-query", 6), "point…");
        assert_eq!(fit("数据库引擎", 6), "数据…", "letters that fill two columns");
    }
}
