//! The door between the timed loop and the world: sessions to one server, and the clock.
//!
//! In: which session sends which statement. Out: replies, readiness, time. The loop is generic over [`Port`] and
//! compiled anew for it, so a simulation costs the real one nothing. A port must not count or decide.

use super::interrupt::{Interrupter, absorb_kill};
use crate::program::{Parameters, Program, StatementForm};
use rqps_wire::{ALARM, Endpoint, Poller, Reply, Rows, Session, Statement, Watch, WireError, wait_readable};
use std::time::Duration;

/// How long a connection may take.
const CONNECT_DEADLINE: Duration = Duration::from_secs(30);

/// The setting that MySQL names when it refuses to prepare more statements (error 1461).
const PREPARED_LIMIT: &str = "max_prepared_stmt_count";

/// Why a server is given up for the rest of a test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Lost {
    /// What its session said last.
    pub(crate) why: String,
    /// Whether it only refused a statement: server and session are as sound as before.
    pub(crate) is_refusal: bool,
}

impl Lost {
    /// The server or a session is in doubt.
    #[cold]
    pub(crate) fn in_doubt(why: impl Into<String>) -> Lost {
        Lost { why: why.into(), is_refusal: false }
    }

    /// The first of two reasons; both must be refusals to be one.
    pub(crate) fn and(self, other: &Lost) -> Lost {
        Lost { is_refusal: self.is_refusal && other.is_refusal, ..self }
    }
}

impl From<WireError> for Lost {
    #[cold]
    fn from(error: WireError) -> Lost {
        let is_refusal = matches!(&error, WireError::Server { error, .. } if error.error_code().blames_statement());
        Lost { why: error.to_string(), is_refusal }
    }
}

/// A piece of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece {
    /// The statement of that number.
    Statement(usize),
    /// A Sync: what fails before it leaves what follows alone.
    Sync,
    /// There is no more: all is sent, and one reply tells of all.
    End,
}

/// Sessions to one server, seen by one thread.
pub(crate) trait Port {
    /// What is filled with parameters and sent.
    type Statement: Parameters;

    /// Nanoseconds of a monotonic clock that all threads share.
    fn now_ns(&mut self) -> u64;

    /// A session's statements, and the rows that were kept of its last answer.
    fn statements(&mut self, session: usize) -> (&Rows, &mut [Self::Statement]);

    /// Sends a statement.
    fn submit(&mut self, session: usize, statement: usize) -> Result<(), Lost>;

    /// Puts a piece at the end of a session's pipeline; the end of it sends all.
    fn queue(&mut self, session: usize, piece: Piece) -> Result<(), Lost>;

    /// Forgets a session's pipeline.
    fn drop_queue(&mut self, session: usize);

    /// The reply, if it is complete.
    fn receive(&mut self, session: usize) -> Result<Option<Reply>, Lost>;

    /// Waits until a session is readable or answered, and adds those that are to `ready`, which is empty; none after
    /// `timeout`. Whether it is time to look for statements that are overdue, where the client has to.
    fn wait(&mut self, timeout: Option<Duration>, ready: &mut Vec<u32>) -> Result<bool, Lost>;

    /// Has the server end the statement that a session waits for.
    fn interrupt(&mut self, session: usize) -> Result<(), Lost>;

    /// Sees to it that what [`Port::interrupt`] did cannot hit a statement that is sent from now on. The session waits
    /// for nothing.
    fn absorb_kill(&mut self, session: usize) -> Result<(), Lost>;

    /// Uses up that much time and gives back how much it was.
    fn burn(&mut self, ns: u64) -> u64;

    /// A session is lost: nothing of it is waited for any more.
    fn forget(&mut self, session: usize);

    /// The server's message of the last error of a session.
    fn error_message(&self, session: usize) -> &str;
}

/// Nanoseconds of the monotonic clock.
#[inline]
pub(crate) fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// What it takes to read that clock once: of some batches of readings the fastest, since whatever else the machine does
/// makes them slower only.
pub(crate) fn clock_reading_ns() -> u64 {
    const BATCHES: usize = 16;
    const READINGS: u64 = 256;
    let batch = || {
        let begun_ns = monotonic_ns();
        (1..READINGS).for_each(|_| _ = std::hint::black_box(monotonic_ns()));
        (monotonic_ns() - begun_ns) / READINGS
    };
    (0..BATCHES).map(|_| batch()).min().unwrap_or(0)
}

/// The real port: connected sessions with their prepared statements.
pub(crate) struct WirePort {
    lines: Vec<Line>,
    waiting: Waiting,
    /// Sessions that were answered while they still sent, of which no readiness will tell.
    answered: Vec<u32>,
    /// Where it keeps its statements' time-outs.
    interrupter: Option<Interrupter>,
    /// By how much its clock is behind the machine's.
    behind_ns: u64,
}

/// How replies are waited for.
enum Waiting {
    /// To a single session.
    One {
        watch: Watch,
        /// The last read did not complete the reply, so that what is left may have come already.
        is_incomplete: bool,
    },
    /// To any of several sessions, or to none.
    Many(Poller),
}

impl Waiting {
    /// Waits for these, interrupted every so often where statements have to be looked after.
    fn on(lines: &[Line], look_every: Option<Duration>) -> std::io::Result<Waiting> {
        if let [line] = lines {
            let mut watch = Watch::of(&line.session)?;
            look_every.map_or(Ok(()), |period| watch.ring_every(period))?;
            return Ok(Waiting::One { watch, is_incomplete: false });
        }
        let mut poller = Poller::new()?;
        for (token, line) in lines.iter().enumerate() {
            poller.add(&line.session, token as u64)?;
        }
        look_every.map_or(Ok(()), |period| poller.ring_every(period))?;
        Ok(Waiting::Many(poller))
    }
}

struct Line {
    session: Session,
    statements: Vec<Statement>,
}

impl WirePort {
    /// Connects a session for each program, opens it as the program wants and prepares its statements; so do all
    /// `clients` together.
    pub(crate) fn connect<'p, P: Program + 'p>(
        endpoint: &Endpoint,
        programs: impl Iterator<Item = &'p P>,
        clients: u32,
    ) -> Result<WirePort, Lost> {
        let mut lines = Vec::new();
        let mut timeout = None;
        for program in programs {
            timeout = program.timeout();
            let mut session = Session::connect(endpoint, CONNECT_DEADLINE)?;
            for sql in program.opening() {
                session.execute(sql)?;
            }
            let forms = program.statements();
            let statements =
                forms.iter().map(|form| prepare(&mut session, form, forms, clients)).collect::<Result<_, _>>();
            lines.push(Line { session, statements: statements? });
        }
        WirePort::over(lines, timeout.map(|timeout| Interrupter::new(endpoint, timeout)))
    }

    fn over(lines: Vec<Line>, interrupter: Option<Interrupter>) -> Result<WirePort, Lost> {
        let look_every = interrupter.as_ref().map(|interrupter| interrupter.look_every);
        let waiting = Waiting::on(&lines, look_every);
        let waiting = waiting.map_err(|error| Lost::in_doubt(format!("cannot poll the sessions: {error}")))?;
        Ok(WirePort { lines, waiting, answered: Vec::new(), interrupter, behind_ns: 0 })
    }

    /// Sets its clock, which stands still while its arm is paused.
    pub(crate) fn set_clock(&mut self, behind_ns: u64) {
        self.behind_ns = behind_ns;
    }

    /// Ends all sessions and waits until the server's processes are gone, so that their end falls into no slice.
    pub(crate) fn close(self) {
        drop(self.waiting);
        for line in self.lines {
            line.session.close();
        }
    }

    /// The sessions, to be placed while they are new.
    pub(crate) fn sessions_mut(&mut self) -> impl Iterator<Item = &mut Session> {
        self.lines.iter_mut().map(|line| &mut line.session)
    }

    /// The sessions, for whoever must be able to break them off.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.lines.iter().map(|line| &line.session)
    }
}

/// Makes a statement in a session. Where it cannot be prepared for the number of statements, says how many are needed.
fn prepare(
    session: &mut Session,
    form: &StatementForm,
    forms: &[StatementForm],
    clients: u32,
) -> Result<Statement, Lost> {
    let mut statement = match form.capacity {
        Some(capacity) => {
            let mut statement = session.text_statement(capacity);
            statement.set_sql(form.sql.as_bytes());
            statement
        }
        None if form.is_parsed_each_time => session.parsed_each_time(&form.sql, &form.parameters)?,
        None => session.prepare(&form.sql, &form.parameters).map_err(|error| {
            let lost = Lost::from(error);
            let message = &lost.why;
            if !message.contains(PREPARED_LIMIT) {
                return lost;
            }
            let prepared = forms.iter().filter(|form| form.capacity.is_none() && !form.is_parsed_each_time).count();
            Lost::in_doubt(format!(
                "{message}; {clients} clients prepare {prepared} statements each: set {PREPARED_LIMIT} to {} or more, or \
                 use fewer clients or tables",
                u64::from(clients) * prepared as u64
            ))
        })?,
    };
    match form.keeps_last_rows {
        true => statement.keep_last_rows(),
        false => statement.keep_rows(form.kept_rows),
    }
    Ok(statement)
}

impl Port for WirePort {
    type Statement = Statement;

    #[inline]
    fn now_ns(&mut self) -> u64 {
        monotonic_ns() - self.behind_ns
    }

    #[inline]
    fn statements(&mut self, session: usize) -> (&Rows, &mut [Statement]) {
        let line = &mut self.lines[session];
        (line.session.kept_rows(), &mut line.statements)
    }

    #[inline]
    fn submit(&mut self, session: usize, statement: usize) -> Result<(), Lost> {
        let line = &mut self.lines[session];
        line.session.submit(&line.statements[statement])?;
        if line.session.is_answered() {
            self.answered.push(session as u32);
        }
        Ok(())
    }

    #[cold]
    fn queue(&mut self, session: usize, piece: Piece) -> Result<(), Lost> {
        let line = &mut self.lines[session];
        match piece {
            Piece::Statement(statement) => line.session.queue(&line.statements[statement])?,
            Piece::Sync => line.session.queue_sync()?,
            Piece::End => line.session.submit_queue()?,
        }
        if line.session.is_pending() && line.session.is_answered() {
            self.answered.push(session as u32);
        }
        Ok(())
    }

    #[cold]
    fn drop_queue(&mut self, session: usize) {
        self.lines[session].session.drop_queue();
    }

    #[inline]
    fn receive(&mut self, session: usize) -> Result<Option<Reply>, Lost> {
        let reply = self.lines[session].session.receive()?;
        if let Waiting::One { is_incomplete, .. } = &mut self.waiting {
            *is_incomplete = reply.is_none();
        }
        Ok(reply)
    }

    #[inline]
    fn wait(&mut self, timeout: Option<Duration>, ready: &mut Vec<u32>) -> Result<bool, Lost> {
        if !self.answered.is_empty() {
            ready.append(&mut self.answered);
            return Ok(false);
        }
        let mut has_rung = false;
        let mut came = |token: u64| match token {
            ALARM => has_rung = true,
            session => ready.push(session as u32),
        };
        let waited = match &mut self.waiting {
            Waiting::Many(poller) => poller.wait(timeout).map(|tokens| tokens.for_each(came)),
            Waiting::One { watch, is_incomplete: false } if timeout.is_none() => {
                watch.wait().map(|token| token.into_iter().for_each(came))
            }
            // The alarm does not end this wait, so that it has to end by itself.
            Waiting::One { .. } => {
                let look_every = self.interrupter.as_ref().map(|interrupter| interrupter.look_every);
                let is_ready = wait_readable(&self.lines[0].session, timeout.or(look_every));
                is_ready.map(|is_ready| match (is_ready, look_every) {
                    (true, _) => came(0),
                    (false, Some(_)) => came(ALARM),
                    (false, None) => {}
                })
            }
        };
        waited.map_err(|error| Lost::in_doubt(format!("cannot wait: {error}")))?;
        Ok(has_rung)
    }

    #[cold]
    fn interrupt(&mut self, session: usize) -> Result<(), Lost> {
        let session = &self.lines[session].session;
        let killed = self.interrupter.as_ref().map_or(Ok(()), |interrupter| interrupter.interrupt(session));
        killed.map_err(|error| {
            Lost::in_doubt(format!("a statement takes longer than it may, and cannot be killed: {error}"))
        })
    }

    #[cold]
    fn absorb_kill(&mut self, session: usize) -> Result<(), Lost> {
        Ok(absorb_kill(&mut self.lines[session].session)?)
    }

    /// On the CPU, as a slower program would: a thread that sleeps is woken late.
    #[inline]
    fn burn(&mut self, ns: u64) -> u64 {
        let begun_ns = monotonic_ns();
        loop {
            let burned_ns = monotonic_ns() - begun_ns;
            if burned_ns >= ns {
                return burned_ns;
            }
        }
    }

    fn forget(&mut self, session: usize) {
        self.answered.retain(|answered| *answered != session as u32);
        if let Waiting::Many(poller) = &self.waiting {
            // A session that is not watched any more needs no forgetting.
            let _ = poller.remove(&self.lines[session].session);
        }
    }

    fn error_message(&self, session: usize) -> &str {
        self.lines[session].session.last_error().map_or("", |error| error.message())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::Engine;
    use rqps_wire::Transport;
    use std::io::{Read, Write};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    /// What a server says to let us in.
    const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0K\0\0\0\x0c\0\0\0\x01\0\0\0\x02Z\0\0\0\x05I";

    /// What it says to a statement that it refuses.
    const REFUSAL: &[u8] = b"E\0\0\0\x1dSERROR\0C54000\0Mtoo long\0\0Z\0\0\0\x05I";

    /// A session with a statement that no socket takes at once, its socket, and the server's end.
    fn line() -> (Line, (OwnedFd, UnixStream)) {
        let (near, mut far) = UnixStream::pair().unwrap();
        let client_end = near.try_clone().unwrap().into();
        far.write_all(WELCOME).unwrap();
        let endpoint = Endpoint {
            engine: Engine::Postgres,
            transport: Transport::Unix { path: "pair".into() },
            user: "bench".into(),
            password: None,
            database: "bench".into(),
            options: Vec::new(),
        };
        let mut session = Session::over(near.into(), &endpoint, CONNECT_DEADLINE).unwrap();
        let mut statement = session.text_statement(0);
        statement.set_sql(&vec![b' '; 8 << 20]);
        (Line { session, statements: vec![statement] }, (client_end, far))
    }

    /// The reply is read while the statement is still sent, so that nothing is left to become readable.
    #[test]
    fn a_session_that_is_answered_early_is_ready() {
        for count in [1, 3] {
            let (lines, mut servers): (Vec<Line>, Vec<_>) = (0..count).map(|_| line()).unzip();
            let (client_end, mut server) = servers.pop().unwrap();
            let server = std::thread::spawn(move || {
                server.read_exact(&mut [0; 4096]).unwrap();
                server.write_all(REFUSAL).unwrap();
                // What the client has written is heard further only once it has read the reply.
                while rustix::io::ioctl_fionread(&client_end).unwrap() > 0 {
                    std::thread::yield_now();
                }
                drop(client_end);
                std::io::copy(&mut server, &mut std::io::sink()).unwrap();
            });
            let mut port = WirePort::over(lines, None).unwrap();
            let last = count - 1;
            port.submit(last, 0).unwrap();
            let mut ready = Vec::new();
            port.wait(Some(CONNECT_DEADLINE), &mut ready).unwrap();
            assert_eq!(ready, [last as u32]);
            assert!(port.receive(last).unwrap().unwrap().error.is_some());
            ready.clear();
            port.wait(Some(Duration::ZERO), &mut ready).unwrap();
            assert!(ready.is_empty());
            drop(port);
            server.join().unwrap();
        }
    }
}
