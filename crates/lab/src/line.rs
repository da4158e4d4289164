//! Text that fits a line of a terminal.

/// One line of at most this many characters.
pub(crate) fn cut(text: &str, width: usize) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.chars().count() > width {
        true => line.chars().take(width - 1).chain(['…']).collect(),
        false => line.to_owned(),
    }
}
