//! Whether a value as written means the value that MySQL or MariaDB shows.
//!
//! In: a setting's name, its value as written and as shown. Out: the same, rounded by the server itself, or another. It
//! must not treat a value as equal that the server was not given.

use crate::profile::SettingsForm;

/// How a value stands to what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Likeness {
    /// The same in other words.
    Same,
    /// As near as the server could have it.
    Adjusted,
    /// Something else.
    Other,
}

/// Compares a value as written with the one shown.
pub(super) fn compare(form: &SettingsForm, name: &str, written: &str, shown: &str) -> Likeness {
    if is_same(written, shown) {
        return Likeness::Same;
    }
    let (Some(wanted), Some(got)) = (number(written), number(shown)) else { return Likeness::Other };
    // Nothing is rounded up from 0, which turns something off or leaves the choice to the server.
    let rounding = if wanted > 0.0 { (wanted / 10.0).max(block_bytes(name)) } else { 0.0 };
    let is_in = |names: &[String]| names.iter().any(|known| known == name);
    let rounded = is_in(&form.rounded) && (wanted - got).abs() <= rounding;
    let limited = is_in(&form.limited) && got < wanted;
    let raised = is_in(&form.raised) && got > wanted;
    if rounded || limited || raised { Likeness::Adjusted } else { Likeness::Other }
}

/// The block of a size: the chunks of eight buffer pool instances, the redo log's megabyte, a page for all others.
fn block_bytes(name: &str) -> f64 {
    match name {
        "innodb_buffer_pool_size" => 1_073_741_824.0,
        "innodb_log_file_size" | "innodb_redo_log_capacity" => 1_048_576.0,
        _ => 4096.0,
    }
}

fn is_same(written: &str, shown: &str) -> bool {
    let (written, shown) = (written.trim(), shown.trim());
    if written.eq_ignore_ascii_case(shown) {
        return true;
    }
    if let (Some(wanted), Some(got)) = (number(written), number(shown)) {
        return (wanted - got).abs() <= 1.0e-9 * got.abs();
    }
    match (boolean(written), boolean(shown)) {
        (Some(wanted), Some(got)) => wanted == got,
        _ => is_part_of(written, shown),
    }
}

/// Whether all items of a list with commas are in the list that is shown, in whatever order; other items are those that
/// were not spoken of. Without a comma or an equals sign it is no list.
fn is_part_of(written: &str, shown: &str) -> bool {
    let items = |text: &str| text.split(',').map(|item| item.trim().to_ascii_lowercase()).collect::<Vec<_>>();
    let shown_items = items(shown);
    written.contains([',', '=']) && items(written).iter().all(|item| shown_items.contains(item))
}

/// The two words of a switch, in every form.
pub(super) fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "on" | "true" | "yes" => Some(true),
        "0" | "off" | "false" | "no" | "disabled" => Some(false),
        _ => None,
    }
}

/// A number with a suffix as option files take it.
fn number(text: &str) -> Option<f64> {
    let (digits, factor) = match text.chars().last()? {
        'k' | 'K' => (&text[..text.len() - 1], 1024.0),
        'm' | 'M' => (&text[..text.len() - 1], 1024.0 * 1024.0),
        'g' | 'G' => (&text[..text.len() - 1], 1024.0 * 1024.0 * 1024.0),
        't' | 'T' => (&text[..text.len() - 1], 1024.0 * 1024.0 * 1024.0 * 1024.0),
        _ => (text, 1.0),
    };
    let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
    digits.parse::<f64>().ok().filter(|_| is_number).map(|n| n * factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::Engine;

    #[test]
    fn knows_equal_values_in_other_words() {
        use Likeness::{Adjusted, Other, Same};
        let cases = [
            ("x", "23G", "24696061952", Same),
            ("x", "90", "90.000000", Same),
            ("x", "ON", "1", Same),
            ("x", "0", "OFF", Same),
            ("x", "off", "DISABLED", Same),
            ("x", "1", "OFF", Other),
            ("x", "2", "1", Other),
            ("x", "O_DIRECT", "o_direct", Same),
            ("x", "O_DIRECT", "fsync", Other),
            ("sql_mode", "A,B", "B,A", Same),
            ("sql_mode", "A,B", "A", Other),
            ("optimizer_switch", "mrr=off", "index_merge=on,mrr=off", Same),
            ("optimizer_switch", "mrr=on", "index_merge=on,mrr=off", Other),
            ("x", "binlog", "OFF", Other),
            ("innodb_buffer_pool_size", "716M", "805306368", Adjusted),
            ("innodb_buffer_pool_size", "23G", "134217728", Other),
            ("innodb_buffer_pool_size", "0", "134217728", Other),
            ("innodb_buffer_pool_chunk_size", "128M", "33554432", Adjusted),
            ("innodb_log_file_size", "48M", "50331648", Same),
            ("innodb_log_file_size", "48M", "5242880", Other),
            ("innodb_redo_log_capacity", "100000000", "100663296", Adjusted),
            ("innodb_log_buffer_size", "64M", "100651008", Adjusted),
            ("innodb_log_buffer_size", "64M", "16777216", Other),
            ("query_cache_size", "0", "1048576", Other),
            ("query_cache_size", "1000000", "999424", Adjusted),
            ("sort_buffer_size", "32K", "262144", Other),
            ("max_allowed_packet", "1025", "1024", Adjusted),
            ("innodb_io_capacity", "10000", "200", Other),
            ("innodb_page_cleaners", "4", "1", Adjusted),
            ("innodb_page_cleaners", "1", "4", Other),
        ];
        for (name, written, shown, expected) in cases {
            assert_eq!(
                compare(SettingsForm::of(Engine::Mysql), name, written, shown),
                expected,
                "{name}: {written} against {shown}"
            );
        }
    }
}
