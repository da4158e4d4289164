//! The loop of one thread: its clients' connections, from the common start until nothing is left to send.
//!
//! In: clients that are connected. Out: what they counted. Whoever is readable reads and sends again; what goes by a plan is sent
//! when it is due. A statement under way is always waited for, so that its outcome is known.

use super::client::Client;
use super::line::Context;
use super::shared::{Question, Shared};
use super::tally::{Role, Tally};
use crate::drive::{monotonic_ns, thread_cpu_ns};
use rqps_wire::{Poller, wait_readable};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

/// Connections that a client has at most.
const ROLES: usize = 3;

/// The longest wait for what is due later, so that a wish to stop is seen in time.
const WAIT_MAX: Duration = Duration::from_millis(100);

/// How often progress is told.
const TELL_NS: u64 = 1_000_000_000;

/// Runs the clients of one thread; `tell` hears once a second when the loop is at.
pub(crate) fn run(
    clients: &mut [Client],
    shared: &Shared<'_>,
    questions: &SyncSender<(usize, Question)>,
    start_ns: u64,
    mut tell: impl FnMut(u64, &[Client]),
) -> Tally {
    let mut tally = Tally::new();
    let cpu_before = thread_cpu_ns();
    let mut context = Context { shared, questions, tally: &mut tally, under_way: 0 };
    if let Err(error) = drive(clients, &mut context, start_ns, &mut tell) {
        context.fail(|| format!("the client cannot wait for its connections: {error}"));
    }
    tally.end_ns = monotonic_ns();
    tally.cpu_ns = thread_cpu_ns() - cpu_before;
    clients.iter().for_each(|client| client.count_skipped(&mut tally));
    tally
}

fn drive(
    clients: &mut [Client],
    context: &mut Context<'_>,
    start_ns: u64,
    tell: &mut impl FnMut(u64, &[Client]),
) -> std::io::Result<()> {
    let connections: usize = clients.iter().map(Client::connections).sum();
    let mut poller = Poller::new()?;
    for (index, client) in clients.iter().enumerate() {
        for role in &Role::ALL[..ROLES] {
            if let Some(line) = client.line(*role) {
                poller.add(&line.session, (index * ROLES + *role as usize) as u64)?;
            }
        }
    }
    let mut ready: Vec<u64> = Vec::with_capacity(64);
    let mut now = monotonic_ns().max(start_ns);
    let mut next_tell_ns = start_ns + TELL_NS;
    let mut next_due_ns = advance_all(clients, now, context);
    loop {
        if context.under_way == 0 && next_due_ns == u64::MAX {
            return Ok(());
        }
        let timeout = match next_due_ns {
            u64::MAX => None,
            due_ns => Some(Duration::from_nanos(due_ns.saturating_sub(now)).min(WAIT_MAX)),
        };
        ready.clear();
        match (connections, timeout) {
            (1, _) => ready.extend(wait_readable(&clients[0].inserter.line.session, timeout)?.then_some(0)),
            _ => ready.extend(poller.wait(timeout)?),
        }
        for token in &ready {
            let client = &mut clients[*token as usize / ROLES];
            let role = Role::ALL[*token as usize % ROLES];
            let (at_ns, is_lost) = client.receive(role, context);
            if is_lost && let Some(line) = client.line(role) {
                poller.remove(&line.session)?;
            }
            if let Some(at_ns) = at_ns {
                now = at_ns;
                client.advance(now, context);
                next_due_ns = next_due_ns.min(client.next_due_ns);
            }
        }
        if ready.is_empty() {
            now = monotonic_ns();
        }
        if now >= next_due_ns || context.shared.is_over() {
            next_due_ns = advance_all(clients, now, context);
        }
        if now >= next_tell_ns {
            tell(now, clients);
            next_tell_ns += TELL_NS;
        }
    }
}

fn advance_all(clients: &mut [Client], now: u64, context: &mut Context<'_>) -> u64 {
    let mut next_due_ns = u64::MAX;
    for client in clients {
        client.advance(now, context);
        next_due_ns = next_due_ns.min(client.next_due_ns);
    }
    next_due_ns
}
