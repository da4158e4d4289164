//! What kind of MySQL server is at the other end, and single values from it.
//!
//! In: a session. Out: product and version, which decide about words such as RESET MASTER, and the values of variables and
//! of questions with one answer. It changes nothing.

use crate::error::LoadError;
use rqps_wire::Session;
use std::fmt;

/// Product and version of a server that speaks MySQL's protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Product {
    is_mariadb: bool,
    version: [u32; 3],
}

impl Product {
    /// Asks a server.
    pub(crate) fn of(session: &mut Session) -> Result<Product, LoadError> {
        Ok(Product::read(&single(session, "SELECT VERSION()")?))
    }

    /// From what VERSION() says, such as `8.0.33` or `10.11.19-MariaDB-0+deb12u1`.
    fn read(text: &str) -> Product {
        let numbers = text.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().unwrap_or(0));
        let mut version = [0; 3];
        version.iter_mut().zip(numbers).for_each(|(place, number)| *place = number);
        Product { is_mariadb: text.contains("MariaDB"), version }
    }

    /// Whether it is a MySQL from `mysql` on or a MariaDB from `mariadb` on; `None` is never.
    pub(crate) fn is_since(&self, mysql: Option<[u32; 3]>, mariadb: Option<[u32; 3]>) -> bool {
        let since = if self.is_mariadb { mariadb } else { mysql };
        since.is_some_and(|since| self.version >= since)
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.version;
        write!(f, "{} {major}.{minor}.{patch}", if self.is_mariadb { "MariaDB" } else { "MySQL" })
    }
}

/// The rows of a question.
pub(crate) fn rows(session: &mut Session, sql: &str) -> Result<Vec<Vec<Option<String>>>, LoadError> {
    Ok(session.query(sql).map_err(LoadError::wire("asking the server"))?.rows)
}

/// The one value that a question asks for.
pub(crate) fn single(session: &mut Session, sql: &str) -> Result<String, LoadError> {
    let first = rows(session, sql)?.into_iter().next().and_then(|row| row.into_iter().next());
    first.flatten().ok_or_else(|| LoadError::Shape(format!("the server has no answer to {sql}")))
}

/// A global variable, if this version has it.
pub(crate) fn variable(session: &mut Session, name: &str) -> Result<Option<String>, LoadError> {
    named(session, "VARIABLES", name)
}

/// A global status value, if this version has it.
pub(crate) fn status(session: &mut Session, name: &str) -> Result<Option<String>, LoadError> {
    named(session, "STATUS", name)
}

fn named(session: &mut Session, what: &str, name: &str) -> Result<Option<String>, LoadError> {
    let found = rows(session, &format!("SHOW GLOBAL {what} LIKE '{name}'"))?;
    Ok(found.into_iter().next().and_then(|row| row.into_iter().nth(1)).flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_read_and_compared_within_their_own_line() {
        let check = |text: &str, shown: &str, is_since: bool| {
            let product = Product::read(text);
            assert_eq!(product.to_string(), shown);
            assert_eq!(product.is_since(Some([8, 0, 16]), Some([10, 6, 0])), is_since, "{text}");
            assert!(!product.is_since(None, None));
        };
        check("5.7.22-log", "MySQL 5.7.22", false);
        check("8.0.15", "MySQL 8.0.15", false);
        check("8.0.33-0ubuntu0.22.04.2", "MySQL 8.0.33", true);
        check("9.4.0", "MySQL 9.4.0", true);
        check("10.2.11-MariaDB", "MariaDB 10.2.11", false);
        check("10.11.19-MariaDB-0+deb12u1", "MariaDB 10.11.19", true);
        check("12.3.1-MariaDB-log", "MariaDB 12.3.1", true);
    }
}
