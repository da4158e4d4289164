//! What served the clients' sessions did in them: processes of PostgreSQL, threads of MySQL and MariaDB.
//!
//! In: the system's id of what serves each session, when that is open and before it closes, by the thread of the client
//! that has it; and its files in `/proc`. Out: [`SessionUse`]. Sessions are renewed while a test runs, and with a
//! process or thread that ends go its switches and its run delay: no other inherits them. A thread may have served
//! another session before, so what it had done until then is left out.

use crate::proctext::{numbers, value_of};
use rqps_machine::proc_stat::PidStat;
use rqps_model::sample::SessionUse;
use std::collections::BTreeMap;
use std::fs;

/// Totals of a thread.
#[derive(Debug, Clone, Copy)]
struct Reading {
    stat: PidStat,
    run_delay_ns: u64,
    voluntary_switches: u64,
    involuntary_switches: u64,
}

impl Reading {
    fn of(thread: u32) -> Option<Reading> {
        // Below its own number `stat` is of the whole process, below `task` of the thread.
        let read = |file: &str| fs::read(format!("/proc/{thread}/task/{thread}/{file}")).ok();
        let status = read("status")?;
        let stat = PidStat::parse(&read("stat")?).filter(|stat| !stat.has_ended())?;
        Some(Reading {
            stat,
            // CPU time comes first.
            run_delay_ns: numbers(&read("schedstat")?).nth(1)?,
            voluntary_switches: value_of(&status, "voluntary_ctxt_switches")?,
            involuntary_switches: value_of(&status, "nonvoluntary_ctxt_switches")?,
        })
    }
}

/// Follows the sessions to a server.
#[derive(Debug, Default)]
pub struct SessionMeter {
    /// By thread of the client: what serves its sessions, and what that had done when they were new.
    open: BTreeMap<usize, Vec<(u32, Reading)>>,
    used: SessionUse,
    has_missed: bool,
}

impl SessionMeter {
    /// A meter that has seen nothing yet.
    pub fn new() -> SessionMeter {
        SessionMeter::default()
    }

    /// A thread of the client has a new session; `serving` is the thread that serves it, if that is known.
    pub fn opened(&mut self, client_thread: usize, serving: Option<u32>) {
        match serving.and_then(|thread| Some((thread, Reading::of(thread)?))) {
            Some(begun) => self.open.entry(client_thread).or_default().push(begun),
            None => self.has_missed = true,
        }
    }

    /// All sessions of a thread of the client are about to close.
    pub fn closing(&mut self, client_thread: usize) {
        for (thread, begun) in self.open.remove(&client_thread).unwrap_or_default() {
            match Reading::of(thread).filter(|now| now.stat.start == begun.stat.start) {
                Some(now) => self.add(&begun, &now),
                None => self.has_missed = true,
            }
        }
    }

    /// All is counted, and the last sessions are still there: what was done in all of them; `None` where any was
    /// missed.
    pub fn stop(&mut self) -> Option<SessionUse> {
        let clients: Vec<usize> = self.open.keys().copied().collect();
        clients.into_iter().for_each(|thread| self.closing(thread));
        (!self.has_missed && self.used.sessions > 0).then_some(self.used)
    }

    fn add(&mut self, begun: &Reading, now: &Reading) {
        let used = &mut self.used;
        used.sessions += 1;
        used.run_delay_s += now.run_delay_ns.saturating_sub(begun.run_delay_ns) as f64 / 1e9;
        used.voluntary_switches += now.voluntary_switches.saturating_sub(begun.voluntary_switches);
        used.involuntary_switches += now.involuntary_switches.saturating_sub(begun.involuntary_switches);
        used.minor_faults += now.stat.minor_faults.saturating_sub(begun.stat.minor_faults);
        used.major_faults += now.stat.major_faults.saturating_sub(begun.stat.major_faults);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::process::{Child, Command, Stdio};

    /// Answers each line that it is sent, as what serves a session does.
    struct Session(Child);

    impl Session {
        fn open() -> Session {
            let mut command = Command::new("cat");
            Session(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a process"))
        }

        fn ask(&mut self, times: u32) {
            let mut answer = [0];
            for _ in 0..times {
                self.0.stdin.as_mut().expect("piped").write_all(b"?").expect("sent");
                self.0.stdout.as_mut().expect("piped").read_exact(&mut answer).expect("answered");
            }
        }
    }

    impl Drop for Session {
        fn drop(&mut self) {
            _ = self.0.kill();
            _ = self.0.wait();
        }
    }

    #[test]
    fn what_a_session_did_is_kept_when_it_closes() {
        let mut meter = SessionMeter::new();
        for renewed in 1..=3 {
            let mut session = Session::open();
            // What was done before the session is not of it.
            session.ask(500);
            meter.opened(0, Some(session.0.id()));
            session.ask(200);
            meter.closing(0);
            assert_eq!(meter.used.sessions, renewed);
        }
        let mut last = Session::open();
        meter.opened(0, Some(last.0.id()));
        last.ask(200);
        let used = meter.stop().expect("none was missed");
        assert_eq!(used.sessions, 4);
        // It leaves the CPU until it is asked again, unless that was quicker; a single session has 200 questions.
        let left = used.voluntary_switches + used.involuntary_switches;
        assert!(left > 250 && used.voluntary_switches < 850, "{used:?}");
        assert!(used.run_delay_s > 0.0 && used.run_delay_s < 60.0, "{used:?}");
    }

    #[test]
    fn one_session_that_was_missed_makes_the_sum_unknown() {
        let (gone, mut there) = (Session::open(), Session::open());
        for is_missed in [false, true] {
            let mut meter = SessionMeter::new();
            meter.opened(0, Some(there.0.id()));
            there.ask(1);
            if is_missed {
                meter.opened(1, None);
            }
            assert_eq!(meter.stop().is_none(), is_missed);
        }
        let mut meter = SessionMeter::new();
        meter.opened(0, Some(gone.0.id()));
        drop(gone);
        assert_eq!(meter.stop(), None, "it ended before it was read");
        assert_eq!(SessionMeter::new().stop(), None, "there was none");
    }
}
