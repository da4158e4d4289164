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
            What::CreateDatabase { name, says } => {
                let says: Vec<String> = says.iter().map(|(what, value)| format!(" {what}={value}")).collect();
                format!("{line}: database {name}{}", says.concat())
            }
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
        "5: database shop CHARACTER SET=utf8mb4",
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
    assert!(matches!(dump.next(), Some(Err(DumpError::Encoding { line: 1, .. }))));
}

#[test]
fn a_table_of_many_columns_has_rows_too() {
    let columns: Vec<String> = (0..200).map(|number| format!("c{number}")).collect();
    let text = format!("COPY t ({}) FROM stdin;\n1\n\\.\n", columns.join(", "));
    let items = items(&text, Dialect::Postgres);
    assert!(items[0].starts_with("1: copy COPY t") && items[1..] == ["2: rows \"1\\n\"", "3: end"], "{items:?}");
}

#[test]
fn a_long_statement_is_read_in_time() {
    // Were each line looked at again with all before it, this would take minutes.
    let mut text = String::from("INSERT INTO t VALUES (0)");
    (0..400_000).for_each(|number| text.push_str(&format!(",\n({number})")));
    text.push(';');
    assert_eq!(items(&text, Dialect::Mysql).len(), 1);
}

#[test]
fn what_breaks_other_loaders_is_left_out_or_sent_as_it_is() {
    let postgres = [
        (
            "CREATE DATABASE \"my shop-2\" WITH TEMPLATE = template0;\n\\connect -reuse-previous=on \"dbname='my shop-2'\"\n",
            vec!["1: database my shop-2", "2: connect my shop-2"],
        ),
        ("\\connect shop\n\\c \"Shop\"\n", vec!["1: connect shop", "2: connect Shop"]),
        ("SET transaction_timeout = 0;", vec!["1: SET transaction_timeout = 0"]),
        ("SET default_tablespace = fast;", vec!["1: without SET default_tablespace"]),
        ("SET default_tablespace = '';", vec!["1: SET default_tablespace = ''"]),
        ("SET default_table_access_method = heap;", vec!["1: SET default_table_access_method = heap"]),
        ("SET SESSION AUTHORIZATION 'app';", vec!["1: without SET SESSION AUTHORIZATION"]),
        ("SET ROLE app;", vec!["1: SET ROLE app"]),
        ("COMMENT ON EXTENSION hstore IS 'x;y';", vec!["1: without COMMENT ON EXTENSION"]),
        ("COMMENT ON PUBLICATION p IS 'x';", vec!["1: without COMMENT ON PUBLICATION"]),
        ("COMMENT ON TABLE public.t IS 'x';", vec!["1: COMMENT ON TABLE public.t IS 'x'"]),
        ("CREATE PUBLICATION p FOR ALL TABLES;", vec!["1: without CREATE PUBLICATION"]),
        ("ALTER SUBSCRIPTION s DISABLE;", vec!["1: without ALTER SUBSCRIPTION"]),
        ("CREATE TABLESPACE fast LOCATION '/x';", vec!["1: without CREATE TABLESPACE"]),
        ("SECURITY LABEL FOR x ON TABLE t IS 'y';", vec!["1: without SECURITY LABEL"]),
        ("CREATE ROLE app NOLOGIN;", vec!["1: CREATE ROLE app NOLOGIN"]),
        ("ALTER ROLE app PASSWORD 'x';", vec!["1: without ALTER ROLE"]),
        ("CREATE USER MAPPING FOR app SERVER s;", vec!["1: CREATE USER MAPPING FOR app SERVER s"]),
        ("ALTER LARGE OBJECT 16 OWNER TO app;", vec!["1: without ALTER ... OWNER TO"]),
        ("SELECT pg_catalog.lo_create('16');", vec!["1: SELECT pg_catalog.lo_create('16')"]),
        (
            "SELECT * FROM pg_catalog.pg_restore_attribute_stats('version', 180000::integer);",
            vec!["1: without statistics"],
        ),
        ("ALTER DATABASE shop SET work_mem = '1GB';", vec!["1: without ALTER DATABASE"]),
        ("CREATE DATABASE shop WITH TEMPLATE = template0;", vec!["1: database shop"]),
        (
            "CREATE DATABASE \"locale\" WITH ENCODING = 'UTF8' LOCALE_PROVIDER = libc LOCALE = 'en_US.UTF-8';",
            vec!["1: database locale ENCODING=UTF8 LOCALE=en_US.UTF-8"],
        ),
        (
            "CREATE DATABASE shop WITH TEMPLATE = template0 LC_COLLATE = 'de_DE.UTF-8' LC_CTYPE = 'C';",
            vec!["1: database shop LC_COLLATE=de_DE.UTF-8 LC_CTYPE=C"],
        ),
        ("CREATE SCHEMA public;CREATE SCHEMA app;", vec!["1: without CREATE SCHEMA public", "1: CREATE SCHEMA app"]),
        (
            "CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION f();",
            vec!["1: CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION f()"],
        ),
    ];
    let mysql = [
        ("/*M!999999\\- enable the sandbox mode */ \nSELECT 1;", vec!["2: SELECT 1"]),
        ("SELECT 1;\n/*!999999\\- enable the sandbox mode */ \nSELECT 2;", vec!["1: SELECT 1", "3: SELECT 2"]),
        (
            "/*M!100616 SET @OLD_NOTE_VERBOSITY=@@NOTE_VERBOSITY */;",
            vec!["1: /*M!100616 SET @OLD_NOTE_VERBOSITY=@@NOTE_VERBOSITY */"],
        ),
        (
            "SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ 'a:1-5,\nb:1-7,\nc:1';\nSELECT 1;",
            vec!["1: without SET GTID_PURGED", "4: SELECT 1"],
        ),
        ("/* SET @@GLOBAL.GTID_PURGED='+a:1-5';*/\nSELECT 1;", vec!["2: SELECT 1"]),
        ("SET @MYSQLDUMP_TEMP_LOG_BIN = @@SESSION.SQL_LOG_BIN;", vec!["1: without SET SQL_LOG_BIN"]),
        ("SET @@SESSION.SQL_LOG_BIN= 0;", vec!["1: without SET SQL_LOG_BIN"]),
        ("SET GLOBAL gtid_slave_pos='0-1-2';", vec!["1: without SET gtid_slave_pos"]),
        ("CHANGE MASTER TO MASTER_LOG_FILE='x';", vec!["1: without CHANGE MASTER"]),
        ("/*!40000 DROP DATABASE IF EXISTS `shop`*/;", vec!["1: without DROP DATABASE"]),
        (
            "DROP SCHEMA IF EXISTS shop; CREATE SCHEMA shop; USE shop;",
            vec!["1: without DROP SCHEMA", "1: database shop", "1: use shop"],
        ),
        (
            "CREATE DATABASE /*!32312 IF NOT EXISTS*/ `collate` /*!40100 DEFAULT CHARACTER SET latin1 COLLATE \
             latin1_german1_ci */ /*!80016 DEFAULT ENCRYPTION='N' */; CREATE SCHEMA t CHARSET = utf8;",
            vec!["1: database collate CHARACTER SET=latin1 COLLATE=latin1_german1_ci", "1: database t CHARSET=utf8"],
        ),
        (
            "LOCK TABLES `t` WRITE; /*!40000 ALTER TABLE `t` DISABLE KEYS */;UNLOCK TABLES;",
            vec!["1: LOCK TABLES `t` WRITE", "1: /*!40000 ALTER TABLE `t` DISABLE KEYS */", "1: UNLOCK TABLES"],
        ),
        (
            "DELIMITER $$\n/*!50106 CREATE*/ /*!50117 DEFINER=`a`@`%`*/ /*!50106 EVENT `e` ON SCHEDULE EVERY 1 DAY DO BEGIN /* why */ DELETE FROM t; END */ $$\nDELIMITER ;\n",
            vec![
                "2: /*!50106 CREATE*/ /*!50117 */ /*!50106 EVENT `e` ON SCHEDULE EVERY 1 DAY DO BEGIN /* why */ DELETE FROM t; END */",
            ],
        ),
        (
            "INSERT INTO t VALUES ('0000-00-00','SQL_LOG_BIN');",
            vec!["1: INSERT INTO t VALUES ('0000-00-00','SQL_LOG_BIN')"],
        ),
    ];
    for (text, expected) in postgres {
        assert_eq!(items(text, Dialect::Postgres), expected, "{text}");
    }
    for (text, expected) in mysql {
        assert_eq!(items(text, Dialect::Mysql), expected, "{text}");
        assert_eq!(items(text, Dialect::find("mariadb").expect("known")), expected, "{text}");
    }
}
