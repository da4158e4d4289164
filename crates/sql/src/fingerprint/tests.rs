//! Which statements are one, and where their values stand.

use super::*;
use proptest::prelude::*;

fn slots(text: &str, dialect: Dialect) -> Vec<String> {
    fingerprint(text, dialect).slots.iter().map(|slot| text[slot.start..slot.end].to_owned()).collect()
}

#[test]
fn statements_that_differ_in_values_have_one_key() {
    for (one, other) in [
        ("SELECT a FROM t_2009 WHERE b = 'x' AND c=-3", "select a from t_2009 where b='y' and C = 4"),
        ("select  1\n -- x\n + a-1", "SELECT 1 + a - 2"),
        ("SELECT * FROM t WHERE a IN (1, 2,3)", "SELECT * FROM t WHERE a IN (7)"),
        ("INSERT INTO t VALUES (1,'a'),(2,'b'), (3,'c')", "insert into t values (4, NULL)"),
        ("INSERT INTO t VALUES (1, now()), (2, now())", "INSERT INTO t VALUES (1, now())"),
        ("SELECT /*+ NO_INDEX */ a /* x */ LIMIT 5", "SELECT /*+ NO_INDEX */ a LIMIT 6"),
    ] {
        assert_eq!(fingerprint(one, Dialect::Mysql).key, fingerprint(other, Dialect::Mysql).key);
    }
    for (one, other) in [
        ("SELECT a FROM t WHERE b IN ($1, $2) AND c = $3", "SELECT a FROM t WHERE b IN ($1 /*, ... */) AND c = $2"),
        ("SELECT a FROM t WHERE b = $1", "SELECT a FROM t WHERE b = 'x'"),
        ("SELECT a = ANY(ARRAY[1, 2])", "SELECT a = ANY(ARRAY[$1 /*, ... */])"),
    ] {
        assert_eq!(fingerprint(one, Dialect::Postgres).key, fingerprint(other, Dialect::Postgres).key);
    }
}

#[test]
fn statements_that_do_other_work_differ() {
    let key = |text| fingerprint(text, Dialect::Postgres).key;
    for (one, other) in [
        ("SELECT a FROM t_1", "SELECT a FROM t_2"),
        ("SELECT a FROM t ORDER BY 1", "SELECT a FROM t ORDER BY 2"),
        ("SELECT a FROM \"T\"", "SELECT a FROM \"t\""),
        ("SELECT a IS NULL", "SELECT a IS NOT NULL"),
        ("SELECT a::numeric(10,2)", "SELECT a::numeric(10,3)"),
        ("SELECT f(1)", "SELECT f(1, 2)"),
    ] {
        assert_ne!(key(one), key(other));
    }
}

#[test]
fn slots_are_where_another_value_could_stand() {
    use Dialect::{Mysql, Postgres};
    for (text, dialect, expected) in [
        ("SELECT 1, a - 1, -2 FROM t WHERE b = -3 AND c IS NULL", Postgres, &["1", "-2", "-3"][..]),
        ("SELECT x, count(*) FROM t GROUP BY 1, f(x, 7) ORDER BY 2 DESC, 1 LIMIT 10", Postgres, &["7", "10"]),
        ("SELECT CAST(a AS decimal(10,2)), b::varchar(5), left(c, 3) FROM t", Postgres, &["3"]),
        ("SELECT a[1], a[1:2], ARRAY[1, 2], ARRAY[[3],[4]]", Postgres, &["1", "2", "3", "4"]),
        ("SELECT B'101', 0xff, $$x$$, $1", Postgres, &["$$x$$", "$1"]),
        ("SELECT a->'$.x', b->>'$.y', 'z' AS 'n', GROUP_CONCAT(c SEPARATOR ', ')", Mysql, &["'z'"]),
        ("INSERT INTO t (a, b) VALUES (NULL, 0xff), (?, \"x\")", Mysql, &["NULL", "0xff", "?", "\"x\""]),
    ] {
        assert_eq!(slots(text, dialect), expected, "{text}");
    }
    let list = fingerprint("SELECT a IN ($1 /*, ... */), $2 /* x */", Dialect::Postgres).slots;
    assert_eq!(list.iter().map(|slot| slot.is_list).collect::<Vec<_>>(), [true, false]);
}

proptest! {
    #[test]
    fn any_text_has_slots_in_order(text in "(?s).{0,60}|[-'\"`$/*\\\\#a:;1 (),?=\n]{0,40}") {
        for dialect in [Dialect::Postgres, Dialect::Mysql, Dialect::Mariadb] {
            let mut at = 0;
            for slot in fingerprint(&text, dialect).slots {
                prop_assert!(slot.start >= at && slot.end > slot.start && text.get(slot.start..slot.end).is_some());
                at = slot.end;
            }
        }
    }
}
