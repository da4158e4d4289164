//! Logging in: every method on every transport, and what is said when it fails.

use rqps_model::Engine;
use rqps_testkit::PATIENCE;
use rqps_wire::{Endpoint, Session, WireError};
use std::time::Instant;

use super::shared;
use crate::has_remedy;
use crate::server::PASSWORD;

fn refusal(endpoint: &Endpoint) -> WireError {
    Session::connect(endpoint, PATIENCE).expect_err("the login should be refused")
}

#[test]
fn every_method_on_every_transport() {
    for server in shared() {
        let mut ways = vec![server.unix(""), server.tcp(""), server.tls("", "preferred")];
        if server.engine() == Engine::Mariadb {
            ways.push(server.tls("", "required"));
        }
        for (_, user) in server.accounts() {
            for way in &ways {
                // What the server has in its cache decides between caching_sha2_password's two ways.
                server.session().execute("flush privileges").unwrap();
                for _ in 0..2 {
                    let mut endpoint = Endpoint { user: (*user).into(), ..way.clone() };
                    endpoint.password = Some(PASSWORD.into());
                    let session = Session::connect(&endpoint, PATIENCE);
                    let mut session = session.unwrap_or_else(|error| panic!("{user} {way:?}: {error}"));
                    let table = session.query("select substring_index(current_user(), '@', 1), database()").unwrap();
                    let expected = [*user, "sbtest"].map(|text| Some(text.to_owned()));
                    assert_eq!(table.rows, [expected.to_vec()]);
                    let cipher = session.query("show status like 'ssl_cipher'").unwrap().rows[0][1].clone().unwrap();
                    assert_eq!(session.transport().contains("+TLS"), !cipher.is_empty(), "{}", session.transport());
                    session.close();
                }
                let mut endpoint = Endpoint { user: (*user).into(), ..way.clone() };
                for wrong in [None, Some("wrong".into())] {
                    endpoint.password = wrong;
                    let error = refusal(&endpoint);
                    assert_eq!(error.code().unwrap().to_string(), "1045 (28000)", "{error}");
                    assert!(has_remedy(&error), "{error}");
                }
            }
        }
    }
}

#[test]
fn the_transport_is_told_as_it_is() {
    let [mysql, mariadb] = shared();
    for server in [mysql, mariadb] {
        assert_eq!(server.session().transport(), "unix");
        let tcp = Session::connect(&server.tcp("bench"), PATIENCE).unwrap();
        assert_eq!(tcp.transport(), "tcp");
    }
    let encrypted = Session::connect(&mariadb.tls("bench", "required"), PATIENCE).unwrap();
    assert!(encrypted.transport().starts_with("tcp+TLS_AES_"), "{}", encrypted.transport());
    let preferred = Session::connect(&mariadb.tls("bench", "preferred"), PATIENCE).unwrap();
    assert_eq!(preferred.transport(), encrypted.transport());
    // This MySQL's library has no cipher of today.
    let preferred = Session::connect(&mysql.tls("bench", "preferred"), PATIENCE).unwrap();
    assert_eq!(preferred.transport(), "tcp");
    assert!(matches!(refusal(&mysql.tls("bench", "required")), WireError::Authentication { .. }));
}

#[test]
fn results_pass_through_tls_whatever_their_size() {
    let [_, mariadb] = shared();
    let mut session = Session::connect(&mariadb.tls("bench", "required"), PATIENCE).unwrap();
    session.set_deadline(Some(PATIENCE));
    for bytes in [1, 1000, 16_384, 16_385, 3_000_000] {
        let text = "x".repeat(bytes);
        let table = session.query(&format!("select '{text}', length('{text}')")).unwrap();
        assert_eq!(table.rows[0][0].as_deref(), Some(text.as_str()));
        let mut statement = session.text_statement(0);
        statement.set_sql(format!("select '{text}'").as_bytes());
        let reply = session.run(&statement).unwrap();
        assert_eq!(reply.rows, 1);
        assert!(reply.bytes > bytes as u64);
    }
    session.close();
}

#[test]
fn refusals_carry_endpoint_and_remedy() {
    for server in shared() {
        let mut endpoint = server.unix("bench");
        endpoint.database = "absent".into();
        let error = refusal(&endpoint);
        assert_eq!(error.code().unwrap().number, 1049);
        assert!(has_remedy(&error), "{error}");

        endpoint.database = "nul\0byte".into();
        assert!(matches!(refusal(&endpoint), WireError::Nul { .. }));

        endpoint = server.unix("bench");
        endpoint.options.push(("sort_buffer_size".into(), "a lot".into()));
        let error = refusal(&endpoint);
        assert_eq!(error.code().unwrap().number, 1232, "{error}");
        assert!(has_remedy(&error), "{error}");

        assert!(matches!(refusal(&server.tls("stranger", "perhaps")), WireError::Authentication { .. }));
    }
}

#[test]
fn charset_and_variables_reach_the_session() {
    for server in shared() {
        let mut endpoint = server.unix("bench");
        let ask = "select @@character_set_client, @@character_set_results, @@collation_connection, @@sort_buffer_size";
        let told = |endpoint: &Endpoint| {
            let mut session = Session::connect(endpoint, PATIENCE).unwrap();
            let rows = session.query(ask).unwrap().rows.remove(0);
            rows.into_iter().map(Option::unwrap).collect::<Vec<_>>()
        };
        assert_eq!(told(&endpoint)[..3], ["latin1", "latin1", "latin1_swedish_ci"]);
        endpoint.options.push(("charset".into(), "utf8mb4".into()));
        endpoint.options.push(("sort_buffer_size".into(), "65536".into()));
        assert_eq!(told(&endpoint), ["utf8mb4", "utf8mb4", "utf8mb4_general_ci", "65536"]);
    }
}

#[test]
fn too_many_connections_and_expired_passwords_have_a_remedy() {
    let [mysql, mariadb] = shared();
    for server in [mysql, mariadb] {
        let mut admin = server.session();
        admin.execute("create user crowd@localhost with max_user_connections 1").unwrap();
        let crowd = Endpoint { password: None, database: String::new(), ..server.unix("crowd") };
        let _first = Session::connect(&crowd, PATIENCE).unwrap();
        let error = refusal(&crowd);
        assert!([1203, 1226].contains(&error.code().unwrap().number) && has_remedy(&error), "{error}");
        admin.execute("drop user crowd@localhost").unwrap();
    }
    let mut admin = mysql.session();
    admin.execute("create user stale@localhost identified by 'open sesame' password expire").unwrap();
    let error = refusal(&Endpoint { database: String::new(), ..mysql.unix("stale") });
    assert_eq!(error.code().unwrap().number, 1862, "{error}");
    assert!(has_remedy(&error), "{error}");
}

#[test]
fn the_session_is_known_and_gone_after_close() {
    for server in shared() {
        let mut watcher = server.session();
        let session = server.session();
        let count = format!("select count(*) from information_schema.processlist where id = {}", session.backend_pid());
        assert_eq!(watcher.query(&count).unwrap().single(), Some("1"));
        session.close();
        // The server lets go of the socket before it takes the session off its list.
        let deadline = Instant::now() + PATIENCE;
        while watcher.query(&count).unwrap().single() != Some("0") {
            assert!(Instant::now() < deadline, "the session is still there");
        }
    }
}
