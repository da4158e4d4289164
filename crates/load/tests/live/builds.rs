//! The MySQL and MariaDB builds of these tests, installed once into the user's cache as `rqps builds install` does.
//!
//! In: which build. Out: its facts. `RQPS_TEST_MYSQL` and `RQPS_TEST_MARIADB` name others, in the words of `--build`, such as
//! `mysql:8.0.33` or `mariadb:/usr/local/mariadb`.

use rqps_model::BuildSpec;
use rqps_model::facts::BuildFacts;
use rqps_server::{Cache, Catalog, installation};

/// The smallest that the catalog has of each, and the one of those whose plugin stores tables in RocksDB.
const MYSQL: (&str, &str) = ("RQPS_TEST_MYSQL", "mysql:5.7.22");
const MARIADB: (&str, &str) = ("RQPS_TEST_MARIADB", "mariadb:10.2.11");
const ROCKSDB: (&str, &str) = ("RQPS_TEST_ROCKSDB", "mariadb:10.11.18");

/// The MySQL that tests use.
pub(crate) fn mysql() -> BuildFacts {
    install(MYSQL)
}

/// The MariaDB that tests use.
pub(crate) fn mariadb() -> BuildFacts {
    install(MARIADB)
}

/// The MariaDB with a RocksDB plugin.
pub(crate) fn rocksdb() -> BuildFacts {
    install(ROCKSDB)
}

fn install((variable, usual): (&str, &str)) -> BuildFacts {
    let spec = std::env::var(variable).unwrap_or_else(|_| usual.to_owned());
    let spec: BuildSpec = spec.parse().unwrap();
    installation::install(&spec, &Catalog::built_in(), &Cache::open().unwrap(), &mut |_| ()).unwrap()
}
