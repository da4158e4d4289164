//! Keeps the tables of `docs/statistics.md` true to what the simulations measure.
//!
//! In: a table's name, its text and a tolerance. Out: a failed test where a number of the
//! document is further from the measured one than the tolerance. With `UPDATE_EXPECT=1` in
//! the environment the document's table is replaced instead. The tolerance is there since
//! another libm may turn a replicate or two.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

/// Tests run side by side and may all rewrite the document.
static DOCUMENT: Mutex<()> = Mutex::new(());

/// A rate as the tables print it.
pub(crate) fn cell(rate: f64) -> String {
    format!("{rate:.3}")
}

/// Renders a Markdown table.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
    let rule = line(vec!["---"; header.len()]);
    let rows = rows.iter().map(|row| line(row.iter().map(String::as_str).collect()));
    format!("{}{rule}{}", line(header.to_vec()), rows.collect::<String>())
}

/// Compares the document's table `name` with the measured one.
pub(crate) fn check(name: &str, measured: &str, tolerance: f64) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/statistics.md");
    let _guard = DOCUMENT.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let text = fs::read_to_string(&path).unwrap();
    let opening = format!("<!-- measured: {name} -->\n");
    let start =
        text.find(&opening).unwrap_or_else(|| panic!("no table `{name}` in {}", path.display())) + opening.len();
    let end = start + text[start..].find("<!-- end -->").expect("every measured table has its end mark");
    println!("{name}\n{measured}");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, format!("{}{measured}{}", &text[..start], &text[end..])).unwrap();
        return;
    }
    let written = &text[start..end];
    assert_eq!(written.lines().count(), measured.lines().count(), "table `{name}` has other rows");
    for (written, measured) in written.lines().zip(measured.lines()) {
        let (written, measured): (Vec<_>, Vec<_>) = (written.split('|').collect(), measured.split('|').collect());
        assert_eq!(written.len(), measured.len(), "table `{name}`: {written:?}");
        for (written, measured) in written.iter().zip(&measured) {
            let agree = match (written.trim().parse::<f64>(), measured.trim().parse::<f64>()) {
                (Ok(written), Ok(measured)) => (written - measured).abs() <= tolerance,
                _ => written.trim() == measured.trim(),
            };
            assert!(agree, "table `{name}` says {written}, measured {measured}; UPDATE_EXPECT=1 rewrites it");
        }
    }
}
