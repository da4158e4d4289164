//! Dumps of sample databases, as pg_dump 15 and 17, mysqldump and mariadb-dump wrote them, on real servers: all of them
//! arrives, and what a build lacks is named at once. `tests/dumps/make` made them.

use crate::own::{file, of_files, restore_with, text, try_load};
use crate::servers::Product;
use rqps_model::Engine;
use rqps_model::own::{Archive, InputFile, OwnData};
use rqps_testkit::LiveServer;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn dump(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dumps").join(name)
}

/// What holds of Pagila wherever it was loaded.
fn is_pagila(server: &LiveServer, what: &str) {
    for (sql, expected) in [
        ("SELECT count(*) FROM public.payment", "40"),
        ("SELECT sum(amount) FROM public.payment", "1025.00"),
        ("SELECT count(*) FROM ONLY public.payment_p2022_01", "15"),
        ("SELECT string_agg(city, ',' ORDER BY city_id) FROM public.city", "Köln,東京"),
        ("SELECT address FROM public.address WHERE address_id = 1", "1 Main\tStreet\\"),
        ("SELECT description FROM public.film WHERE film_id = 7", "A film\nof two lines; no. 7"),
        ("SELECT special_features[2] FROM public.film WHERE film_id = 1", "Deleted \"Scenes\""),
        ("SELECT count(*) FROM public.film WHERE fulltext @@ to_tsquery('english', 'film & line')", "40"),
        ("SELECT encode(picture, 'hex') FROM public.staff WHERE staff_id = 1", "00ff5c2e"),
        ("SELECT about->>'name' FROM public.packages", "a\\b"),
        ("SELECT public.twice(21)", "42"),
        ("SELECT count(*) FROM public.sales_by_store", "2"),
        ("SELECT sum(total_sales) > 0 FROM public.rental_by_category", "t"),
        ("SELECT public.inventory_in_stock(1)", "f"),
        ("SELECT encode(lo_get(4711), 'hex')", "00010203"),
        ("SELECT evtname FROM pg_event_trigger", "told"),
        ("SELECT count(*) FROM pg_publication", "0"),
        ("INSERT INTO public.actor (first_name, last_name) VALUES ('a', 'b') RETURNING actor_id", "21"),
        ("INSERT INTO public.packages (about) VALUES ('{}') RETURNING id", "2"),
    ] {
        assert_eq!(server.ask(sql), [expected], "{what}: {sql}");
    }
}

/// What holds of Sakila wherever it was loaded.
fn is_sakila(server: &LiveServer, what: &str) {
    for (sql, expected) in [
        ("SELECT count(*) FROM payment", "2"),
        ("SELECT hex(group_concat(city ORDER BY city_id)) FROM city", "4BC3B66C6E2CE69DB1E4BAAC"),
        ("SELECT first_name FROM actor WHERE actor_id = 3", "DEFINER=`x`@`y`"),
        ("SELECT last_name FROM actor WHERE actor_id = 2", "Wahl\\berg"),
        ("SELECT create_date FROM customer WHERE customer_id = 1", "0000-00-00 00:00:00"),
        ("SELECT hex(picture) FROM staff WHERE staff_id = 1", "00FF5C27"),
        ("SELECT ST_AsText(place) FROM places", "POINT(6.95 50.93)"),
        ("SELECT film_id FROM film_text WHERE MATCH (title, description) AGAINST ('dinosaur')", "1"),
        ("SELECT count(*) FROM film_list", "2"),
        ("SELECT count(*) FROM actor_info", "3"),
        ("SELECT inventory_in_stock(1)", "0"),
        ("SELECT count(*) FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()", "4"),
        ("SELECT count(*) FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE()", "1"),
    ] {
        assert_eq!(server.ask(sql), [expected], "{what}: {sql}");
    }
    server.ask("INSERT INTO film (title, description, language_id) VALUES ('New', 'unheard', 1)");
    assert_eq!(server.ask("SELECT film_id FROM film_text WHERE title = 'New'"), ["3"], "{what}: a trigger");
}

/// An archive of `tests/dumps`, unpacked to where it can be read.
fn archive(name: &str, folder: &Path, pg_restore: &Path) -> InputFile {
    let path = folder.join(name.trim_end_matches(".gz").trim_end_matches(".folder.tar"));
    match name.ends_with(".folder.tar.gz") {
        true => {
            let unpacked = Command::new("tar").arg("-C").arg(folder).arg("-xzf").arg(dump(name)).status().unwrap();
            assert!(unpacked.success());
            std::fs::rename(folder.join("folder"), &path).unwrap();
        }
        false => {
            let to = std::fs::File::create(&path).unwrap();
            let unpacked = Command::new("gzip").arg("-dc").arg(dump(name)).stdout(Stdio::from(to)).status().unwrap();
            assert!(unpacked.success());
        }
    }
    let archive = Archive {
        version: String::new(),
        pg_dump: String::new(),
        pg_restore: pg_restore.to_owned(),
        pg_restore_version: String::new(),
    };
    InputFile { archive: Some(archive), ..file(&path) }
}

#[test]
fn what_pg_dump_wrote_arrives_whole() {
    let server = Product::Postgres.start();
    for name in ["pagila-15.sql.gz", "pagila-17.sql.gz"] {
        let left = try_load(&server, &of_files(&[file(&dump(name))])).unwrap().left.unwrap();
        for part in ["ALTER ... OWNER TO", "GRANT", "CREATE PUBLICATION", "ALTER DEFAULT PRIVILEGES"] {
            assert!(left.contains(part), "{name}: {part} in {left}");
        }
        is_pagila(&server, name);
    }
}

#[test]
fn archives_arrive_through_pg_restore() {
    let Some(pg_restore) = newest_pg_restore() else { return };
    let (server, folder) = (Product::Postgres.start(), tempfile::tempdir().unwrap());
    for name in ["pagila-15.dump.gz", "pagila-15.tar.gz", "pagila-15.folder.tar.gz"] {
        let file = archive(name, folder.path(), &pg_restore);
        let left = try_load(&server, &of_files(&[file])).unwrap().left.unwrap();
        assert!(left.contains("read by pg_restore"), "{left}");
        is_pagila(&server, name);
    }
    // One that breaks off is no success.
    let file = archive("pagila-15.dump.gz", folder.path(), &pg_restore);
    let whole = std::fs::read(&file.path).unwrap();
    std::fs::write(&file.path, &whole[..whole.len() - 2000]).unwrap();
    let told = restore_with(&file, &mut Vec::new()).unwrap_err().to_string();
    assert!(told.contains("pg_restore"), "{told}");
}

/// Debian's, which the CI has too.
fn newest_pg_restore() -> Option<PathBuf> {
    Some(PathBuf::from("/usr/lib/postgresql/15/bin/pg_restore")).filter(|path| path.exists())
}

#[test]
fn what_a_build_lacks_is_named_at_once_with_its_remedy() {
    let (server, folder) = (Product::Postgres.start(), tempfile::tempdir().unwrap());
    let sql = "CREATE EXTENSION vector;\nCREATE TABLE a (v vector(3));\nINSERT INTO a VALUES ('[1,2,3]');\n\
               CREATE TABLE b (t text COLLATE \"xx_YY\");\nCREATE TABLE c (id int);\nCOPY c FROM stdin;\n1\nx\n\\.\n\
               CREATE POLICY p ON c TO reader USING (true);\nCREATE POLICY q ON c TO reader, writer USING (true);\n\
               SET ROLE writer;\nCREATE INDEX i ON a USING hnsw (v);\n";
    let told = try_load(&server, &of_files(&[text(&folder, "shop.sql", sql)])).unwrap_err();
    for part in [
        "extension \"vector\" is not available",
        "shop.sql:1)",
        "collation \"xx_YY\" for encoding \"UTF8\" does not exist",
        "shop.sql:4)",
        "role \"reader\" does not exist (error 42704",
        "shop.sql:10, 2 times)",
        "role \"writer\" does not exist (error 22023",
        "more errors, which may follow",
        "CREATE ROLE",
        "`replace`",
        "`ignore`",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
    // With the roles in front of it and the rest ignored or replaced, it loads.
    let roles =
        "CREATE ROLE reader; CREATE ROLE writer; ALTER ROLE writer SUPERUSER; GRANT ALL ON DATABASE x TO reader;";
    let rest = "CREATE TABLE b (t text COLLATE \"C\");\nCREATE TABLE c (id int);\n\
                CREATE POLICY p ON c TO reader, writer USING (true);\n";
    let data = of_files(&[text(&folder, "roles.sql", roles), text(&folder, "rest.sql", rest)]);
    for _ in 0..2 {
        try_load(&server, &data).unwrap();
    }
    let two = "CREATE DATABASE one;\n\\connect one\nCREATE TABLE t (id int);\n\\connect two\n";
    let told = try_load(&server, &of_files(&[text(&folder, "two.sql", two)])).unwrap_err();
    assert!(told.contains("two.sql:4: the dump holds several databases, one and two"), "{told}");
}

#[test]
fn what_mysqldump_wrote_arrives_whole_or_what_is_missing_is_named() {
    let server = Product::Mysql.start();
    let old = of_files(&[file(&dump("sakila-mysql-5.7.sql.gz"))]);
    try_load(&server, &old).unwrap();
    is_sakila(&server, "5.7");
    let data = of_files(&[file(&dump("sakila-mysql-8.0.sql.gz"))]);
    match try_load(&server, &data) {
        Ok(report) => {
            assert!(report.left.is_some_and(|left| left.contains("SET GTID_PURGED")));
            is_sakila(&server, "8.0");
        }
        Err(told) => {
            assert!(told.contains("nknown collation: 'utf8mb4_0900_ai_ci' (error 1273"), "{told}");
            let by = ("utf8mb4_0900_ai_ci".to_owned(), "utf8mb4_unicode_ci".to_owned());
            try_load(&server, &OwnData { replace: [(Engine::Mysql, [by].into())].into(), ..data }).unwrap();
            is_sakila(&server, "8.0 with another collation");
        }
    }
}

#[test]
fn what_mariadb_dump_wrote_arrives_whole() {
    let server = Product::Mariadb.start();
    for name in ["sakila-mariadb-11.4.sql.gz", "sakila-mysql-5.7.sql.gz"] {
        try_load(&server, &of_files(&[file(&dump(name))])).unwrap();
        is_sakila(&server, name);
    }
}

#[test]
fn an_sql_mode_is_the_users_and_what_a_server_gives_is_told() {
    let (server, folder) = (Product::Mysql.start(), tempfile::tempdir().unwrap());
    let sql = "CREATE TABLE t (d date NOT NULL); INSERT INTO t VALUES ('0000-00-00');";
    let strict = "STRICT_ALL_TABLES,NO_ZERO_DATE";
    let mut data = of_files(&[text(&folder, "zero.sql", sql)]);
    let given = |data: &OwnData| try_load(&server, data).map(|report| report.given);
    data.sql_mode.insert(Engine::Mysql, strict.to_owned());
    let told = given(&data).unwrap_err();
    assert!(told.contains("zero.sql:1: ") && told.contains("0000-00-00"), "{told}");
    data.sql_mode.insert(Engine::Mysql, String::new());
    let names: Vec<&str> = given(&data).unwrap().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["collation"]);
    data.sql_mode.clear();
    data.ignore = vec!["1292".to_owned()];
    let given = given(&data).unwrap();
    assert!(given.iter().any(|(name, _)| *name == "sql-mode"), "{given:?}");
}
