//! Clients side by side, each with a server of its own: the servers take turns in slices.
//!
//! In: a command and a server for each client. Out: what each got done on its own clock, and what that cost. A server
//! stands still, with its statements under way, while another one works; its client waits for it by itself, and its
//! clock stands still too. So nothing is drained, and a drift of the machine meets all clients alike.

use crate::output::warn;
use crate::watch::{Counted, Counters, Look, Running};
use anyhow::{Context, Result, ensure};
use rqps_load::random::{Purpose, shuffle, stream};
use rqps_model::plural;
use rqps_server::Server;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// How long a server works at a time: long beside the milliseconds in which it is stopped and let go, short beside the
/// seconds in which the machine changes.
const SLICE: Duration = Duration::from_millis(200);

/// How long a client goes on after the last look if nobody ends it.
const BEYOND_S: f64 = 60.0;

/// How long a client runs on its server's clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// From its first order on, not measured.
    pub(crate) ramp_up_s: f64,
    /// Measured.
    pub(crate) seconds: f64,
}

impl Times {
    /// The most that one of so many clients runs, for its command.
    pub(crate) fn whole_s(self, clients: usize) -> f64 {
        (self.ramp_up_s + self.seconds) * clients as f64 + BEYOND_S
    }
}

/// What came of a run, each per new order but the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Seen {
    pub(crate) per_minute: f64,
    pub(crate) cpu_us: f64,
    /// What all users together had of the server's clock, without the CPU time of their client.
    pub(crate) wait_us: f64,
    pub(crate) statements: f64,
    pub(crate) rows_written: f64,
}

/// Runs all of them for as long by the clock of each; the seed is that of their order.
pub(crate) fn run(mut pairs: Vec<Pair<'_>>, times: Times, seed: u64) -> Result<Vec<Seen>> {
    let ramp_up = slices(times.ramp_up_s);
    let all = ramp_up + slices(times.seconds);
    alternate(&mut pairs, 0..ramp_up, seed)?;
    let from: Vec<Moment> = pairs.iter_mut().map(Pair::look).collect::<Result<_>>()?;
    alternate(&mut pairs, ramp_up..all, seed)?;
    let to: Vec<Moment> = pairs.iter_mut().map(Pair::look).collect::<Result<_>>()?;
    pairs.into_iter().zip(from.into_iter().zip(to)).map(|(pair, (from, to))| pair.end(from, to)).collect()
}

fn slices(seconds: f64) -> u64 {
    (seconds / SLICE.as_secs_f64()).ceil() as u64
}

/// A slice for each in every cycle, in an order that is drawn, so that none always follows the same other.
fn alternate(pairs: &mut [Pair<'_>], cycles: std::ops::Range<u64>, seed: u64) -> Result<()> {
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    for cycle in cycles {
        shuffle(&mut stream(seed, Purpose::Order, 0, cycle), &mut order);
        order.iter().try_for_each(|pair| pairs[*pair].work())?;
    }
    Ok(())
}

/// A moment of a run on the clock of its server.
#[derive(Debug, Clone, Copy)]
struct Moment {
    at: Duration,
    look: Look,
}

/// A client with its server, which stands still but for its slices.
pub(crate) struct Pair<'a> {
    name: &'a str,
    users: u32,
    /// Ends before its server does, if something fails.
    client: Running,
    counters: Counters,
    /// Before the client was there.
    before: Counted,
    clock: OwnClock,
    server: Server,
}

impl<'a> Pair<'a> {
    /// Starts a client of so many users on a server that stands still, and lets it have its first order; what it prints
    /// goes to the file `log`.
    pub(crate) fn begin(
        (name, users): (&'a str, u32),
        command: &mut Command,
        mut server: Server,
        log: &Path,
    ) -> Result<Pair<'a>> {
        server.thaw()?;
        let mut counters = Counters::open(&server.endpoint())?;
        let before = counters.all()?;
        let mut client = Running::start(command, log)?;
        client.wait_for_order(&mut counters, before.orders)?;
        server.freeze()?;
        Ok(Pair { name, users, client, counters, before, clock: OwnClock::default(), server })
    }

    /// A slice.
    fn work(&mut self) -> Result<()> {
        self.awake(|pair| {
            std::thread::sleep(SLICE);
            pair.client.check()
        })
    }

    fn look(&mut self) -> Result<Moment> {
        self.awake(|pair| {
            let look = pair.client.look(&mut pair.counters)?;
            Ok(Moment { at: pair.clock.at(Instant::now()), look })
        })
    }

    /// Does something while the server works.
    fn awake<T>(&mut self, act: impl FnOnce(&mut Pair<'a>) -> Result<T>) -> Result<T> {
        self.server.thaw()?;
        self.clock.go_on(Instant::now());
        let done = act(self).with_context(|| format!("{} as a client", self.name))?;
        self.server.freeze()?;
        self.clock.stop(Instant::now());
        Ok(done)
    }

    /// Ends the client, and tells what it did between two moments.
    fn end(self, from: Moment, to: Moment) -> Result<Seen> {
        let Pair { name, users, client, mut counters, before, mut server, .. } = self;
        server.thaw()?;
        if let Some((count, last)) = client.end() {
            warn(&format!("{name} told of {}, the last one: {last}", plural(count, "error")));
        }
        counters.wait_until_alone()?;
        let after = counters.all()?;

        let orders = (to.look.orders - from.look.orders) as f64;
        ensure!(orders > 0.0, "{name} had no new order in {:?}", to.at - from.at);
        let seconds = (to.at - from.at).as_secs_f64();
        let cpu_us = (to.look.cpu_ns - from.look.cpu_ns) as f64 / 1e3 / orders;
        let all_orders = (after.orders - before.orders) as f64;
        Ok(Seen {
            per_minute: 60.0 * orders / seconds,
            cpu_us,
            wait_us: f64::from(users) * seconds * 1e6 / orders - cpu_us,
            statements: (after.statements_of_others() - before.statements_of_others()) as f64 / all_orders,
            rows_written: (after.rows_written - before.rows_written) as f64 / all_orders,
        })
    }
}

/// A clock that stands still while its server does.
#[derive(Debug, Default)]
struct OwnClock {
    before: Duration,
    since: Option<Instant>,
}

impl OwnClock {
    fn go_on(&mut self, now: Instant) {
        self.since = Some(now);
    }

    fn stop(&mut self, now: Instant) {
        self.before = self.at(now);
        self.since = None;
    }

    fn at(&self, now: Instant) -> Duration {
        self.before + self.since.map_or(Duration::ZERO, |since| now - since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_stands_still_with_its_server() {
        let begun = Instant::now();
        let after = |ms| begun + Duration::from_millis(ms);
        let mut clock = OwnClock::default();
        assert_eq!(clock.at(after(5)), Duration::ZERO);
        clock.go_on(after(10));
        assert_eq!(clock.at(after(13)), Duration::from_millis(3));
        clock.stop(after(20));
        assert_eq!(clock.at(after(70)), Duration::from_millis(10));
        clock.go_on(after(100));
        clock.stop(after(101));
        assert_eq!(clock.at(after(200)), Duration::from_millis(11));
    }

    #[test]
    fn no_time_that_was_asked_for_is_left_out() {
        assert_eq!([0.0, 0.1, 0.2, 0.9, 5.0].map(slices), [0, 1, 1, 5, 25]);
    }
}
