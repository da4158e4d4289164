//! What a recorded session does: fixed calls, and what each of them says.
//!
//! In: a way to connect. Out: one line for each call, the same for every replay of a recording. The
//! recorder and the replay both play these.

#[path = "mysql.rs"]
mod mysql;

use std::os::fd::OwnedFd;

use rqps_model::Engine;
use rqps_wire::{Endpoint, ParameterType, Protocol, Session, Table, Transport, WireError};

/// A session to record.
pub(crate) struct Scenario {
    /// The protocol that it speaks.
    pub(crate) protocol: Protocol,
    /// The name of its recordings.
    pub(crate) name: &'static str,
    /// The account to log in with.
    pub(crate) user: &'static str,
    /// The calls after login; each yields a line, or an error that ends the scenario.
    pub(crate) play: Play,
}

type Play = fn(&mut Session, &mut Vec<String>) -> Result<(), WireError>;

const fn postgres(name: &'static str, user: &'static str, play: Play) -> Scenario {
    Scenario { protocol: Protocol::Postgres, name, user, play }
}

const fn mysql(name: &'static str, user: &'static str, play: Play) -> Scenario {
    Scenario { protocol: Protocol::Mysql, name, user, play }
}

pub(crate) const SCENARIOS: [Scenario; 14] = [
    postgres("trust", "bench", |_, _| Ok(())),
    postgres("password", "clear_user", |_, _| Ok(())),
    postgres("md5", "md5_user", |_, _| Ok(())),
    postgres("control", "bench", control),
    postgres("copy", "bench", copy),
    postgres("timed", "bench", timed),
    mysql("empty", "bench", |_, _| Ok(())),
    mysql("native", "native_user", |_, _| Ok(())),
    // The first login of an account shows the password, the second only proves it.
    mysql("caching_full", "caching_user", |_, _| Ok(())),
    mysql("caching_fast", "caching_user", |_, _| Ok(())),
    mysql("ed25519", "signing_user", |_, _| Ok(())),
    mysql("control", "bench", mysql::control),
    mysql("load", "bench", mysql::load),
    mysql("timed", "bench", mysql::timed),
];

pub(crate) fn endpoint(protocol: Protocol, user: &str) -> Endpoint {
    let (engine, database) = match protocol {
        Protocol::Postgres => (Engine::Postgres, "postgres"),
        Protocol::Mysql => (Engine::Mysql, "sbtest"),
    };
    Endpoint {
        engine,
        // Only named in messages: the socket is brought along.
        transport: Transport::Unix { path: "recorded".into() },
        user: user.into(),
        password: (protocol == Protocol::Postgres || user != "bench").then(|| "open sesame".into()),
        database: database.into(),
        options: Vec::new(),
    }
}

impl Scenario {
    /// Plays the whole scenario over a socket; the lines as far as it came, and the error that ended it early.
    pub(crate) fn play_over(&self, socket: OwnedFd) -> (Vec<String>, Option<WireError>) {
        let mut lines = Vec::new();
        let patience = std::time::Duration::from_secs(60);
        let mut session = match Session::over(socket, &endpoint(self.protocol, self.user), patience) {
            Ok(session) => session,
            Err(error) => return (lines, Some(error)),
        };
        session.set_deadline(Some(patience));
        lines.push(format!(
            "logged in, {:?} {:?}",
            session.parameter("client_encoding"),
            session.parameter("standard_conforming_strings")
        ));
        if let (Protocol::Mysql, Some(version)) = (self.protocol, session.parameter("server_version")) {
            lines.push(format!("version {version}"));
        }
        let error = (self.play)(&mut session, &mut lines).err();
        (lines, error)
    }
}

/// An outcome as a line; what breaks the session is an error of the scenario instead.
pub(crate) fn tell<T: std::fmt::Debug>(outcome: Result<T, WireError>) -> Result<String, WireError> {
    match outcome {
        Ok(value) => Ok(format!("{value:?}")),
        Err(error @ (WireError::Server { .. } | WireError::Parameters { .. })) => Ok(error.to_string()),
        Err(error) => Err(error),
    }
}

fn control(session: &mut Session, lines: &mut Vec<String>) -> Result<(), WireError> {
    for sql in [
        "select 1 as one, null as nothing, 'Ünï' as text",
        "select 1; set timezone = 'Asia/Tokyo'; select g from generate_series(1, 3) g",
        "do $$ begin raise notice 'hear'; end $$",
        "select * from absent",
        "",
    ] {
        let table = session.query(sql).map(|Table { columns, rows }| (columns, rows));
        lines.push(tell(table)?);
    }
    lines.push(format!("{:?}", session.parameter("TimeZone")));
    for notice in session.take_notices() {
        lines.push(format!("notice {}", notice.message()));
    }
    Ok(())
}

fn copy(session: &mut Session, lines: &mut Vec<String>) -> Result<(), WireError> {
    lines.push(tell(session.execute("create temp table c (id int primary key, note text)"))?);
    lines.push(tell(session.copy_in("copy c from stdin", |rows| rows.write(b"1\tone\n2\t\\N\n")))?);
    lines.push(tell(session.copy_in("copy c from stdin", |rows| rows.write(b"2\ttwo\n")))?);
    lines.push(tell(session.copy_in("copy absent from stdin", |_| Ok(())))?);
    lines.push(tell(session.execute("copy c to stdout"))?);
    Ok(())
}

fn timed(session: &mut Session, lines: &mut Vec<String>) -> Result<(), WireError> {
    let begin = session.prepare("begin", &[])?;
    let commit = session.prepare("commit", &[])?;
    let mut rows = session.prepare(
        "select g, $2::text from generate_series(1, $1::int4) g",
        &[ParameterType::Int4, ParameterType::Text { len: 4 }],
    )?;
    let mut divide = session.prepare("select 10 / $1", &[ParameterType::Int8])?;
    let mut simple = session.text_statement(64);

    lines.push(tell(session.run(&begin))?);
    for count in [0, 1, 4] {
        rows.set_i32(0, count);
        rows.set_text(1, b"text");
        lines.push(tell(session.run(&rows))?);
    }
    lines.push(tell(session.run(&commit))?);
    for divisor in [5, 0] {
        divide.set_i64(0, divisor);
        lines.push(tell(session.run(&divide))?);
    }
    lines.push(format!("{:?}", session.last_error().map(ToString::to_string)));
    for sql in ["select 1; select 2", "create temp table w as select 1", "nonsense", ""] {
        simple.set_sql(sql.as_bytes());
        lines.push(tell(session.run(&simple))?);
    }
    Ok(())
}
