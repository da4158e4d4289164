//! Text from servers and files made fit for a terminal or a table cell: no control characters, wrapped to a width.
//!
//! A server log line may hold escape sequences; nothing that comes from outside reaches a terminal raw. Widths are
//! those of a display, where some letters fill two columns and some none.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that a terminal needs for the text.
pub(crate) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The text in two parts, the first as long as fits into so many columns.
fn split_at_width(text: &str, width: usize) -> (&str, &str) {
    let mut used = 0;
    let over = text.char_indices().find(|(_, c)| {
        used += c.width().unwrap_or(0);
        used > width
    });
    text.split_at(over.map_or(text.len(), |(at, _)| at))
}

/// The text with every control character (line ends and tabs too) turned into a space.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || is_bidirectional(c) { ' ' } else { c }).collect()
}

/// Characters that reorder what is shown around them.
fn is_bidirectional(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

/// Breaks at spaces into lines of at most `width` columns; longer words are cut.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut rest = word;
        loop {
            let line = lines.last_mut().expect("starts with one line");
            let used = self::width(line);
            let gap = usize::from(used > 0);
            let length = self::width(rest);
            if used + gap + length <= width {
                if gap > 0 {
                    line.push(' ');
                }
                line.push_str(rest);
                break;
            }
            if used > 0 {
                lines.push(String::new());
                continue;
            }
            let (head, tail) = split_at_width(rest, width);
            line.push_str(head);
            rest = tail;
            lines.push(String::new());
        }
    }
    lines
}

/// As much as fills `lines` lines of `width` characters, with `ending` where something is missing. What stands between
/// commas is kept or left out as a whole, unless not even the first of it fits.
pub(crate) fn cut(text: &str, width: usize, lines: usize, ending: &str) -> String {
    let fits = |text: &str| wrap(text, width).len() <= lines;
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
    let indent = line.chars().take_while(|c| *c == ' ').count();
    let lines = wrap(line, width.saturating_sub(indent + 2));
    format!("{}{}", " ".repeat(indent), lines.join(&format!("\n{}", " ".repeat(indent + 2))))
}

/// The text cut to `width` columns, with an ellipsis where something is missing.
pub(crate) fn fit(text: &str, width: usize) -> String {
    if self::width(text) <= width {
        return text.to_owned();
    }
    format!("{}…", split_at_width(text, width.saturating_sub(1)).0)
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
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("0123456789abc x", 8), ["01234567", "89abc x"]);
        assert_eq!(wrap("", 8), [""]);
        assert_eq!(wrap("数据 库引擎", 8), ["数据", "库引擎"], "letters that fill two columns");
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
