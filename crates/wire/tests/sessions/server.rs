//! The servers of these tests: with accounts of every way to log in, on a Unix socket and on loopback.
//!
//! In: a build, in the words of `--build`. Out: endpoints for the accounts that it can have, and the words that tests
//! need where engines differ.

use std::ops::Deref;

use rqps_builds::plugin_folder;
use rqps_model::Engine;
use rqps_testkit::{LiveServer, Wanted};
use rqps_wire::Endpoint;

/// The MySQL of the tests, which is small.
const MYSQL_BUILD: &str = "mysql:8.0.15";

/// The MariaDB of the tests: small, and with all plugins.
const MARIADB_BUILD: &str = "mariadb:10.11.18";

pub(crate) const PASSWORD: &str = "open sesame";

const PG_HBA: &str = "
local all clear_user password
local all md5_user md5
local all scram_user scram-sha-256
local all bench trust
host all clear_user 127.0.0.1/32 password
host all md5_user 127.0.0.1/32 md5
host all scram_user 127.0.0.1/32 scram-sha-256
host all bench 127.0.0.1/32 trust
";

/// Accounts of PostgreSQL by method.
const POSTGRES_ACCOUNTS: [(&str, &str); 3] =
    [("password", "clear_user"), ("md5", "md5_user"), ("scram-sha-256", "scram_user")];

/// What MariaDB needs for TLS and its own way to log in; MySQL makes its own certificate.
const MARIADB_OPTIONS: [&str; 3] = ["plugin-load-add=auth_ed25519", "ssl-cert=certificate.pem", "ssl-key=key.pem"];

/// A certificate that proves nothing, for tests, and its key.
const CERTIFICATE: &str = include_str!("certificate.pem");
const KEY: &str = include_str!("key.pem");

/// A running server with its accounts.
pub(crate) struct Server {
    live: LiveServer,
    /// The methods or plugins of this server with the accounts that use them.
    accounts: Vec<(&'static str, &'static str)>,
}

impl Server {
    pub(crate) fn postgres() -> Server {
        Server::start_postgres(Wanted::postgres())
    }

    pub(crate) fn mysql() -> Server {
        Server::start(MYSQL_BUILD)
    }

    pub(crate) fn mariadb() -> Server {
        Server::start(MARIADB_BUILD)
    }

    /// A server of this build.
    pub(crate) fn start(word: &str) -> Server {
        let build = rqps_testkit::build(word);
        if build.engine == Engine::Postgres {
            return Server::start_postgres(Wanted::of(word));
        }
        let has_plugins = build.engine == Engine::Mariadb && plugin_folder(&build).is_some();
        let wanted = Wanted::of(word).with("max-allowed-packet=64M").on_loopback();
        let wanted = wanted.with_file("data/certificate.pem", CERTIFICATE).with_file("data/key.pem", KEY);
        let options = MARIADB_OPTIONS.into_iter().filter(|_| has_plugins);
        let mut server = Server { live: LiveServer::start(&options.fold(wanted, Wanted::with)), accounts: Vec::new() };
        server.make_mysql_accounts();
        server
    }

    fn start_postgres(wanted: Wanted) -> Server {
        let wanted = wanted.with("password_encryption=scram-sha-256").with_file("data/pg_hba.conf", PG_HBA);
        let live = LiveServer::start(&wanted.on_loopback());
        let mut session = live.session();
        for (method, user) in POSTGRES_ACCOUNTS {
            let encryption = if method == "md5" { "md5" } else { "scram-sha-256" };
            let role = format!("create role {user} login password '{PASSWORD}'");
            session.execute(&format!("set password_encryption = '{encryption}'; {role}")).unwrap();
        }
        Server { live, accounts: POSTGRES_ACCOUNTS.to_vec() }
    }

    /// Accounts by plugin, all with the same password.
    fn make_mysql_accounts(&mut self) {
        let mut session = self.session();
        let wanted: &[(&str, &str)] = match self.engine() {
            Engine::Mariadb => &[("mysql_native_password", "native_user"), ("ed25519", "signing_user")],
            _ => &[
                ("mysql_native_password", "native_user"),
                ("caching_sha2_password", "caching_user"),
                ("sha256_password", "sha256_user"),
            ],
        };
        let plugins =
            session.query("select plugin_name from information_schema.plugins where plugin_status = 'ACTIVE'");
        let plugins = plugins.unwrap().rows;
        let is_old = session.parameter("server_version").unwrap().starts_with("5.");
        for (plugin, user) in wanted {
            let is_native = *plugin == "mysql_native_password";
            // The old ones know how to make accounts of their own kind only.
            if !plugins.iter().any(|row| row[0].as_deref() == Some(*plugin)) || is_old && !is_native {
                continue;
            }
            let how = match self.engine() {
                _ if is_native && (is_old || self.engine() == Engine::Mariadb) => format!("by '{PASSWORD}'"),
                Engine::Mariadb => format!("via {plugin} using password('{PASSWORD}')"),
                _ => format!("with {plugin} by '{PASSWORD}'"),
            };
            for host in ["localhost", "127.0.0.1"] {
                session.execute(&format!("create user {user}@'{host}' identified {how}")).unwrap();
                session.execute(&format!("grant all on sbtest.* to {user}@'{host}'")).unwrap();
            }
            self.accounts.push((plugin, user));
        }
    }

    pub(crate) fn accounts(&self) -> &[(&'static str, &'static str)] {
        &self.accounts
    }

    pub(crate) fn is_postgres(&self) -> bool {
        self.engine() == Engine::Postgres
    }

    /// An endpoint on the Unix socket, with the password that all accounts but `bench` share.
    pub(crate) fn unix(&self, user: &str) -> Endpoint {
        self.with_account(self.endpoint(), user)
    }

    /// An endpoint on the loopback interface, without TLS.
    pub(crate) fn tcp(&self, user: &str) -> Endpoint {
        if self.is_postgres() { self.with_account(self.loopback(), user) } else { self.tls(user, "disabled") }
    }

    /// An endpoint on the loopback interface of a MySQL or MariaDB, with a mode of TLS.
    pub(crate) fn tls(&self, user: &str, mode: &str) -> Endpoint {
        let mut endpoint = self.with_account(self.loopback(), user);
        endpoint.options.push(("tls".into(), mode.into()));
        endpoint
    }

    /// The ways in for `bench`: plain on the Unix socket, and on loopback with TLS where it can be had.
    pub(crate) fn ways(&self) -> [Endpoint; 2] {
        let loopback = if self.is_postgres() { self.tcp("bench") } else { self.tls("bench", "preferred") };
        [self.unix("bench"), loopback]
    }

    fn with_account(&self, endpoint: Endpoint, user: &str) -> Endpoint {
        let named = Some(("application_name".into(), "rqps-wire test".into())).filter(|_| self.is_postgres());
        let password = (user != "bench").then(|| PASSWORD.into());
        Endpoint { user: user.into(), password, options: named.into_iter().collect(), ..endpoint }
    }

    /// What differs between PostgreSQL on the one hand, MySQL and MariaDB on the other.
    pub(crate) fn either<T>(&self, postgres: T, mysql: T) -> T {
        if self.is_postgres() { postgres } else { mysql }
    }

    /// The statement that takes rows into a table.
    pub(crate) fn copy_into(&self, table: &str) -> String {
        self.either(format!("copy {table} from stdin"), format!("load data local infile 'rqps' into table {table}"))
    }

    /// SQL whose parameters are written `?`, as the server wants them written.
    pub(crate) fn marked(&self, sql: &str) -> String {
        if !self.is_postgres() {
            return sql.to_owned();
        }
        let mut pieces = sql.split('?');
        let first = pieces.next().unwrap_or_default().to_owned();
        pieces.zip(1..).fold(first, |sql, (piece, number)| format!("{sql}${number}{piece}"))
    }
}

impl Deref for Server {
    type Target = LiveServer;

    fn deref(&self) -> &LiveServer {
        &self.live
    }
}
