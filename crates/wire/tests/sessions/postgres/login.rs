//! Logging in: every method on both transports, and what is said when it fails.

use rqps_testkit::PATIENCE;
use rqps_wire::{Endpoint, Session, WireError};

use super::shared;
use crate::has_remedy;
use std::time::{Duration, Instant};

fn refusal(endpoint: &Endpoint) -> WireError {
    Session::connect(endpoint, PATIENCE).expect_err("the login should be refused")
}

#[test]
fn every_method_on_both_transports() {
    for user in shared().accounts().iter().map(|(_, user)| *user).chain(["bench"]) {
        for mut endpoint in [shared().unix(user), shared().tcp(user)] {
            let mut session = Session::connect(&endpoint, PATIENCE).unwrap();
            let table = session.query("select current_user, current_setting('application_name')").unwrap();
            let expected = [user, "rqps-wire test"].map(|text| Some(text.to_owned()));
            assert_eq!(table.rows, [expected.to_vec()]);
            let version = shared().build().version.to_string();
            assert_eq!(session.parameter("server_version").unwrap().split(' ').next(), Some(version.as_str()));
            assert_eq!(session.parameter("client_encoding"), Some("UTF8"));
            session.close();

            if user != "bench" {
                endpoint.password = Some("wrong".into());
                let error = refusal(&endpoint);
                assert_eq!(error.sql_state().unwrap().as_str(), "28P01", "{error}");
                assert!(has_remedy(&error), "{error}");
                endpoint.password = None;
                assert!(matches!(refusal(&endpoint), WireError::Authentication { .. }));
            }
        }
    }
}

#[test]
fn refusals_carry_endpoint_and_remedy() {
    let mut endpoint = shared().tcp("stranger");
    let error = refusal(&endpoint);
    assert!(has_remedy(&error), "{error}");
    assert!(matches!(&error, WireError::Login { endpoint, .. } if endpoint.starts_with("127.0.0.1:")), "{error}");

    endpoint = shared().unix("bench");
    endpoint.database = "absent".into();
    let error = refusal(&endpoint);
    assert_eq!(error.sql_state().unwrap().as_str(), "3D000");
    assert!(has_remedy(&error), "{error}");

    endpoint.database = "nul\0byte".into();
    assert!(matches!(refusal(&endpoint), WireError::Nul { .. }));

    endpoint = shared().unix("bench");
    endpoint.options.push(("work_mem".into(), "a lot".into()));
    assert_eq!(refusal(&endpoint).sql_state().unwrap().as_str(), "22023");
}

#[test]
fn startup_parameters_reach_the_session() {
    let mut endpoint = shared().unix("bench");
    endpoint.options.push(("work_mem".into(), "17MB".into()));
    let mut session = Session::connect(&endpoint, PATIENCE).unwrap();
    assert_eq!(session.query("show work_mem").unwrap().single(), Some("17MB"));
}

#[test]
fn the_server_process_is_known_and_gone_after_close() {
    let mut watcher = shared().session();
    let session = shared().session();
    let count = format!("select count(*) from pg_stat_activity where pid = {}", session.backend_pid());
    assert_eq!(watcher.query(&count).unwrap().single(), Some("1"));
    let begun = Instant::now();
    session.close();
    // Closing waits for the server process, but not for longer than a second.
    let waited = begun.elapsed();
    while watcher.query(&count).unwrap().single() != Some("0") {
        assert!(waited > Duration::from_millis(900) && begun.elapsed() < PATIENCE, "it is there after {waited:?}");
    }
}
