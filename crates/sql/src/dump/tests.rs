//! Small dumps, and what a loader gets of them.

use super::*;

fn items(text: &str, dialect: Dialect) -> Vec<String> {
    let shown = |item: Result<Item, DumpError>| match item {
        Ok(Item { line, what }) => match what {
            What::Statement(sql) => format!("{line}: {sql}"),
            What::Copy(sql) => format!("{line}: copy {sql}"),
            What::CopyRows(rows) => format!("{line}: rows {:?}", String::from_utf8_lossy(&rows)),
            What::CopyEnd => format!("{line}: end"),
            What::Connect(name) => format!("{line}: connect {name}"),
            What::Use(name) => format!("{line}: use {name}"),
            What::CreateDatabase(name) => format!("{line}: database {name}"),
            What::LeftOut { what, .. } => format!("{line}: without {what}"),
        },
        Err(error) => format!("error {error}"),
    };
    Dump::new(text.as_bytes(), dialect).map(shown).collect()
}

#[test]
fn a_dump_of_pg_dump() {
    let text = r"--
-- PostgreSQL database dump
--
\restrict abc
SET client_encoding = 'UTF8';
SELECT pg_catalog.set_config('search_path', '', false);
CREATE FUNCTION public.f() RETURNS integer LANGUAGE sql
    AS $$ SELECT 1; $$;
CREATE FUNCTION public.g() RETURNS integer LANGUAGE sql
    BEGIN ATOMIC
 SELECT CASE WHEN true THEN 1 ELSE 2 END;
END;
ALTER FUNCTION public.f() OWNER TO app;
CREATE TABLE public.t (a integer, b text DEFAULT 'x;y');
COPY public.t (a, b) FROM stdin;
1	a;b
2	it's \\.
\.

GRANT ALL ON TABLE public.t TO app;
CREATE INDEX i ON public.t (a);
\unrestrict abc
";
    let expected = [
        "5: SET client_encoding = 'UTF8'",
        "6: SELECT pg_catalog.set_config('search_path', '', false)",
        "7: CREATE FUNCTION public.f() RETURNS integer LANGUAGE sql\n    AS $$ SELECT 1; $$",
        "9: CREATE FUNCTION public.g() RETURNS integer LANGUAGE sql\n    BEGIN ATOMIC\n SELECT CASE WHEN true THEN 1 ELSE 2 \
         END;\nEND",
        "13: without ALTER ... OWNER TO",
        "14: CREATE TABLE public.t (a integer, b text DEFAULT 'x;y')",
        "15: copy COPY public.t (a, b) FROM stdin",
        "16: rows \"1\\ta;b\\n2\\tit's \\\\\\\\.\\n\"",
        "18: end",
        "20: without GRANT",
        "21: CREATE INDEX i ON public.t (a)",
    ];
    assert_eq!(items(text, Dialect::Postgres), expected);
}

#[test]
fn a_dump_of_mysqldump() {
    let text = r"/*!999999\- enable the sandbox mode */
-- MySQL dump 10.13
/*!40101 SET NAMES utf8mb4 */;
SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ 'abc:1-5';
CREATE DATABASE /*!32312 IF NOT EXISTS*/ `shop` /*!40100 DEFAULT CHARACTER SET utf8mb4 */;
USE `shop`;
DROP TABLE IF EXISTS `t`;
CREATE TABLE `t` (`a` int, `b` text); # the table
INSERT INTO `t` VALUES (1,'it\'s; so'),(2,'DEFINER=`x`@`y`');
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=`app`@`%`*/ /*!50003 TRIGGER `tr` BEFORE INSERT ON `t` FOR EACH ROW BEGIN SET NEW.a = 1; END */;;
CREATE DEFINER=`app`@`%` PROCEDURE `p`()
BEGIN
  SELECT 1;
END ;;
DELIMITER ;
";
    let expected = [
        "3: /*!40101 SET NAMES utf8mb4 */",
        "4: without SET GTID_PURGED",
        "5: database shop",
        "6: use shop",
        "7: DROP TABLE IF EXISTS `t`",
        "8: CREATE TABLE `t` (`a` int, `b` text)",
        "9: INSERT INTO `t` VALUES (1,'it\\'s; so'),(2,'DEFINER=`x`@`y`')",
        "11: /*!50003 CREATE*/ /*!50017 */ /*!50003 TRIGGER `tr` BEFORE INSERT ON `t` FOR EACH ROW BEGIN SET NEW.a = 1; END */",
        "12: CREATE PROCEDURE `p`()\nBEGIN\n  SELECT 1;\nEND",
    ];
    assert_eq!(items(text, Dialect::Mysql), expected);
}

#[test]
fn what_cannot_be_read_is_told_with_its_line() {
    for (text, part) in [
        ("SELECT 1;\n\\i other.sql\n", "line 2: `\\i`"),
        ("SELECT 1;\nSELECT 'x\n;\n", "line 2: the string"),
        ("COPY t FROM stdin;\n1\n", "line 1: the rows"),
        ("PGDMP\x01\x0e", "pg_restore"),
    ] {
        let told = items(text, Dialect::Postgres).pop().expect("something");
        assert!(told.contains(part), "{told}");
    }
    let mut dump = Dump::new(&b"SELECT '\xff';"[..], Dialect::Mysql);
    assert!(matches!(dump.next(), Some(Err(DumpError::Encoding { line: 1 }))));
}

#[test]
fn a_long_statement_is_read_in_time() {
    // Were each line looked at again with all before it, this would take minutes.
    let mut text = String::from("INSERT INTO t VALUES (0)");
    (0..400_000).for_each(|number| text.push_str(&format!(",\n({number})")));
    text.push(';');
    assert_eq!(items(&text, Dialect::Mysql).len(), 1);
}
