//! Where a server listens and as whom to log in; and with that, what those who load and observe need to know of it:
//! its version, and what stores its tables.
//!
//! In: plain values from the one that started the server. Out: the same, shown in one line for messages. It opens
//! nothing: `socket.rs` does. A password never appears in what is shown. The only file of this crate that asks which
//! engine a server is.

use rqps_model::{Engine, StorageEngine, Version};
use std::fmt;
use std::path::{Path, PathBuf};

/// A client/server protocol. Engines that speak the same protocol share an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// PostgreSQL frontend/backend protocol, version 3.0.
    Postgres,
    /// MySQL client/server protocol, version 10, as MySQL and MariaDB speak it.
    Mysql,
}

impl Protocol {
    /// What an engine speaks.
    pub const fn of(engine: Engine) -> Protocol {
        match engine {
            Engine::Postgres => Protocol::Postgres,
            Engine::Mysql | Engine::Mariadb => Protocol::Mysql,
        }
    }
}

/// What servers of that protocol are called.
impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Protocol::Postgres => "PostgreSQL",
            Protocol::Mysql => "MySQL or MariaDB",
        })
    }
}

/// The way to a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// A Unix socket.
    Unix {
        /// The socket itself; PostgreSQL's is named `.s.PGSQL.<port>`.
        path: PathBuf,
    },
    /// TCP; with TLS where the protocol's options say so.
    Tcp {
        /// Host name or address.
        host: String,
        /// Port number.
        port: u16,
    },
}

impl Transport {
    /// The kind of it: `unix` or `tcp`.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Transport::Unix { .. } => "unix",
            Transport::Tcp { .. } => "tcp",
        }
    }

    /// The Unix socket that a PostgreSQL server makes for a port in a directory.
    pub fn postgres_socket(directory: &Path, port: u16) -> Transport {
        Transport::Unix { path: directory.join(format!(".s.PGSQL.{port}")) }
    }
}

/// A server and the account to use there.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The database system that the server is.
    pub engine: Engine,
    /// The way to it.
    pub transport: Transport,
    /// The user (role) to log in as.
    pub user: String,
    /// The password, if the server may ask for one.
    pub password: Option<String>,
    /// The database to connect to.
    pub database: String,
    /// Settings of the new session. PostgreSQL takes them as startup parameters, such as `application_name`.
    /// For MySQL they are session variables, set after the login, but for two: `charset` (`latin1` if absent, a
    /// name or a collation's number) and `tls`: `disabled` (as on Unix sockets if absent), `preferred` (as on TCP) or
    /// `required`. TLS encrypts; it does not check who the server is, since test servers have certificates of their
    /// own.
    pub options: Vec<(String, String)>,
}

impl Endpoint {
    /// The protocol that the server speaks.
    pub const fn protocol(&self) -> Protocol {
        Protocol::of(self.engine)
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Transport::Unix { path } => write!(f, "{}", path.display()),
            Transport::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Transport::Tcp { host, port } => write!(f, "{host}:{port}"),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, database {}", self.transport, self.database)
    }
}

/// By hand, so that a password cannot reach a log.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("engine", &self.engine)
            .field("transport", &self.transport)
            .field("user", &self.user)
            .field("password", &self.password.as_ref().map(|_| "(hidden)"))
            .field("database", &self.database)
            .field("options", &self.options)
            .finish()
    }
}

/// A running server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The way to it.
    pub endpoint: Endpoint,
    /// Its version.
    pub version: Version,
    /// What stores its tables, where the engine leaves a choice.
    pub storage: Option<StorageEngine>,
}

impl Target {
    /// The database system that it is.
    pub const fn engine(&self) -> Engine {
        self.endpoint.engine
    }

    /// What stores the tables of MySQL and MariaDB: InnoDB where nothing else was chosen.
    pub fn mysql_storage(&self) -> StorageEngine {
        self.storage.unwrap_or(StorageEngine::Innodb)
    }

    /// Whether it is a MySQL from `mysql` on or a MariaDB from `mariadb` on; `None` is never.
    pub fn is_since(&self, mysql: Option<[u32; 3]>, mariadb: Option<[u32; 3]>) -> bool {
        let since = match self.engine() {
            Engine::Postgres => None,
            Engine::Mysql => mysql,
            Engine::Mariadb => mariadb,
        };
        let own = [self.version.part(0), self.version.part(1), self.version.part(2)];
        since.is_some_and(|since| own >= since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_without_the_password() {
        let endpoint = Endpoint {
            engine: Engine::Postgres,
            transport: Transport::Unix { path: "/run/pg/.s.PGSQL.5433".into() },
            user: "bench".into(),
            password: Some("sesame".into()),
            database: "lab".into(),
            options: Vec::new(),
        };
        assert_eq!(endpoint.to_string(), "/run/pg/.s.PGSQL.5433, database lab");
        assert!(!format!("{endpoint:?}").contains("sesame"));
        let tcp = Transport::Tcp { host: "::1".into(), port: 5432 };
        assert_eq!(tcp.to_string(), "[::1]:5432");
    }

    #[test]
    fn versions_are_compared_within_their_own_line() {
        let check = |engine: Engine, version: &str, is_since: bool| {
            let endpoint = Endpoint {
                engine,
                transport: Transport::Unix { path: "/run/s".into() },
                user: "u".into(),
                password: None,
                database: "d".into(),
                options: Vec::new(),
            };
            let target = Target { endpoint, version: version.parse().unwrap(), storage: None };
            assert_eq!(target.is_since(Some([8, 0, 16]), Some([10, 6, 0])), is_since, "{engine} {version}");
            assert!(!target.is_since(None, None));
        };
        check(Engine::Mysql, "5.7.22", false);
        check(Engine::Mysql, "8.0.15", false);
        check(Engine::Mysql, "8.0.33", true);
        check(Engine::Mysql, "9.4.0", true);
        check(Engine::Mariadb, "10.2.11", false);
        check(Engine::Mariadb, "10.11.19", true);
        check(Engine::Mariadb, "12.3.1", true);
        check(Engine::Postgres, "17.11", false);
    }
}
