//! The MySQL and the MariaDB of these tests: accounts of every way to log in, on a Unix socket and on loopback.
//!
//! In: a build, in the words of `--build`. Out: endpoints for the accounts of the plugins that it has.

use std::ops::Deref;

use rqps_live::{LiveServer, Wanted};
use rqps_model::Engine;
use rqps_server::plugin_folder;
use rqps_wire::Endpoint;

/// The MySQL of the tests, which is small.
pub(crate) const MYSQL_BUILD: &str = "mysql:8.0.15";

/// The MariaDB of the tests: small, and with all plugins.
pub(crate) const MARIADB_BUILD: &str = "mariadb:10.11.18";

pub(crate) const PASSWORD: &str = "open sesame";

/// What MariaDB needs for TLS and its own way to log in; MySQL makes its own certificate.
const MARIADB_OPTIONS: [&str; 3] = ["plugin-load-add=auth_ed25519", "ssl-cert=certificate.pem", "ssl-key=key.pem"];

/// A certificate that proves nothing, for tests, and its key.
const CERTIFICATE: &str = include_str!("certificate.pem");
const KEY: &str = include_str!("key.pem");

/// A running server with its accounts.
pub(crate) struct Server {
    live: LiveServer,
    /// The plugins of this server with the accounts that use them.
    accounts: Vec<(&'static str, &'static str)>,
}

impl Server {
    pub(crate) fn start(word: &str) -> Server {
        let build = rqps_live::build(word);
        let has_plugins = build.engine == Engine::Mariadb && plugin_folder(&build).is_some();
        let wanted = Wanted::of(word).with("max-allowed-packet=64M").on_loopback();
        let wanted = wanted.with_file("data/certificate.pem", CERTIFICATE).with_file("data/key.pem", KEY);
        let options = MARIADB_OPTIONS.into_iter().filter(|_| has_plugins);
        let mut server = Server { live: LiveServer::start(&options.fold(wanted, Wanted::with)), accounts: Vec::new() };
        server.make_accounts();
        server
    }

    /// Accounts by plugin, all with the same password.
    fn make_accounts(&mut self) {
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

    /// An endpoint on the Unix socket, with the password that all accounts but `bench` share.
    pub(crate) fn unix(&self, user: &str) -> Endpoint {
        with_account(self.endpoint(), user)
    }

    /// An endpoint on the loopback interface, with a mode of TLS.
    pub(crate) fn tcp(&self, user: &str, tls: &str) -> Endpoint {
        let mut endpoint = with_account(self.loopback(), user);
        endpoint.options.push(("tls".into(), tls.into()));
        endpoint
    }
}

fn with_account(endpoint: Endpoint, user: &str) -> Endpoint {
    Endpoint { user: user.into(), password: (user != "bench").then(|| PASSWORD.into()), ..endpoint }
}

impl Deref for Server {
    type Target = LiveServer;

    fn deref(&self) -> &LiveServer {
        &self.live
    }
}
