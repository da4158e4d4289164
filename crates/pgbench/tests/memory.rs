//! What is drawn and evaluated between two statements allocates nothing, once buffers have grown.

use rqps_draw::Random;
use rqps_pgbench::{Builtin, Names, Script, Step, Table, Tables, Variables};

const SCRIPT: &str = "\
\\set a random_zipfian(1, 1000, 1.1) + random_gaussian(1, 10, 3) * random_exponential(1, 10, 2)
\\set b permute(:a, 5000) / 3.0 - hash(:a) % least(7, :a, 9) + ln(:scale)
\\set c CASE WHEN :a > 500 AND NOT :b IS NULL THEN sqrt(:b * :b) ELSE :text END
\\if :a > :c OR debug(:text) = 5
SELECT ':a', :b, :c, :text, :undefined;
\\elif :text
\\sleep :a us
\\else
SELECT :text;
\\endif
";

#[test]
fn a_script_runs_without_allocating() {
    let mut names = Names::new();
    let scripts = [("own", SCRIPT), ("tpcb-like", Builtin::find("tpcb-like").expect("there").text)]
        .map(|(name, text)| Script::parse(name, text, &mut names).expect("no faults"));
    let text = names.find("text").expect("used");
    let mut variables = Variables::new(&names);
    variables.start(0, 10, 42, -7);
    let mut random = Random::seeded(42);
    let mut out = Vec::new();
    let mut run = |times: usize| {
        for time in 0..times {
            variables.set_text(text, ["5.25", "12"][time / 2 % 2]);
            let script = &scripts[time % 2];
            let mut at = 0;
            loop {
                match script.advance(&mut at, &mut variables, &mut random).expect("values") {
                    Step::End => break,
                    Step::Sql(sql) => {
                        out.clear();
                        sql.write(&variables, &mut out);
                        for slot in sql.slots() {
                            out.clear();
                            variables.write(*slot, &mut out);
                        }
                    }
                    _ => {}
                }
            }
        }
    };
    run(100);
    let counted = allocation_counter::measure(|| run(2000));
    assert_eq!(counted.count_total, 0);
}

#[test]
fn rows_are_written_without_allocating() {
    let tables = Tables::new(30_000);
    let mut out = Vec::with_capacity(1 << 10);
    let counted = allocation_counter::measure(|| {
        for row in 0..1000 {
            out.clear();
            tables.write_row(Table::Accounts, 2_000_000_000 + row, &mut out);
            tables.write_row(Table::Tellers, row, &mut out);
        }
    });
    assert_eq!(counted.count_total, 0);
}
