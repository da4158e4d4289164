//! Where a server listens and as whom to log in.
//!
//! In: plain values from the one that started the server. Out: the same, shown in one line for messages.
//! It opens nothing: `socket.rs` does. A password never appears in what is shown.

use rqps_model::Engine;
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
}
