//! Transactions of TPROC-C by the rules of HammerDB: rqps beside a client on the engine's own library that makes the
//! same calls, and beside HammerDB's own virtual users, each on its own copy of the same tables.
//!
//! In: a build. Out: new orders a minute, and per new order client CPU, what users waited, statements and rows written.
//! The tables are loaded by rqps, since all clients get the same ones; HammerDB brings its own routines. In a round all
//! clients but HammerDB, which draws by itself, have the same inputs.

use crate::args::Args;
use crate::calls;
use crate::hammerdb::Hammerdb;
use crate::installed::Installed;
use crate::library::LibraryClient;
use crate::master::Master;
use crate::output::{say, warn};
use crate::own_client::OwnClient;
use crate::pairs::{self, Pair, Seen, Times};
use crate::place::Place;
use crate::rounds::{Measured, side_by_side};
use crate::workload::Users;
use anyhow::{Context, Result};
use rqps_model::Engine;
use rqps_model::tproc_c::{Check, Form, Isolation, Profile, Quirk, TprocC};
use rqps_server::Server;
use std::collections::BTreeMap;
use std::process::Command;

/// What is run: HammerDB's rules in the usual form of the engine, with all their quirks but one. Users of one home wait
/// for each other, so homes that are drawn would make one client faster than another by luck.
pub(crate) fn shape(engine: Engine) -> TprocC {
    TprocC {
        profile: Profile::Hammerdb,
        warehouses: Vec::new(),
        forms: BTreeMap::from([(engine, Form::usual(Profile::Hammerdb, engine))]),
        quirks: Quirk::ALL.into_iter().filter(|quirk| *quirk != Quirk::DrawnHome).collect(),
        partitioned: false,
        isolation: Isolation::ServerDefault,
        all_warehouses: false,
        keying_and_thinking: false,
        check: Check::Quick,
    }
}

/// Who runs transactions.
enum Client {
    Own(OwnClient),
    Library(LibraryClient),
    Hammerdb(Hammerdb),
}

impl Client {
    fn name(&self) -> &str {
        match self {
            Client::Own(client) => &client.name,
            Client::Library(client) => client.name,
            Client::Hammerdb(_) => "HammerDB",
        }
    }

    /// Makes the routines that it calls and rqps has not made.
    fn provide(&self, place: &Place) -> Result<()> {
        match self {
            Client::Own(_) | Client::Library(_) => Ok(()),
            Client::Hammerdb(hammerdb) => hammerdb.make_routines(place),
        }
    }
}

/// All clients side by side.
pub(crate) fn compare(
    installed: &Installed,
    users: &'static Users,
    args: &Args,
    own: Vec<OwnClient>,
) -> Result<Measured> {
    let clients = clients(installed, args, own)?;
    let provide = |place: &Place| clients.iter().try_for_each(|client| client.provide(place));
    let master = Master::load(installed, &shape(installed.engine()), args.warehouses, provide)?;
    let times = Times { ramp_up_s: args.ramp_up, seconds: args.seconds };
    let bench = Bench { installed, users, warehouses: args.warehouses, times, clients, master };
    let names: Vec<&str> = bench.clients.iter().map(Client::name).collect();
    let rounds = side_by_side(users.name, names.len(), args.rounds, |round| bench.round(round));
    let rows_of = |unit: &'static str, figure: fn(&Seen) -> f64| rounds.map(figure).rows(users.name, &names, unit).rows;
    let mut rows = rows_of("NOPM", |seen| seen.per_minute);
    rows.extend(rows_of("us/order", |seen| seen.cpu_us));
    rows.extend(rows_of("wait us/order", |seen| seen.wait_us));
    rows.extend(rows_of("sent/order", |seen| seen.statements));
    rows.extend(rows_of("rows/order", |seen| seen.rows_written));
    Ok(Measured { rows, failure: rounds.failure })
}

/// All clients of rqps; where that is only this one, also those that are not.
fn clients(installed: &Installed, args: &Args, own: Vec<OwnClient>) -> Result<Vec<Client>> {
    let is_alone = own.len() == 1;
    let mut clients: Vec<Client> = own.into_iter().map(Client::Own).collect();
    if is_alone {
        match LibraryClient::build(installed.engine(), installed.folder()) {
            Ok(client) => clients.push(Client::Library(client)),
            Err(error) => warn(&format!("no client on the engine's library, since {error:#}")),
        }
    }
    if let Some(checkout) = &args.hammerdb {
        clients.push(Client::Hammerdb(Hammerdb::prepare(checkout, installed.folder())?));
    }
    Ok(clients)
}

/// What all rounds of a workload have in common.
struct Bench<'a> {
    installed: &'a Installed,
    users: &'static Users,
    warehouses: u32,
    times: Times,
    clients: Vec<Client>,
    master: Master<'a>,
}

impl Bench<'_> {
    /// A round: a fresh copy and a fresh server for each client, in every round another one.
    fn round(&self, round: usize) -> Result<Vec<Seen>> {
        let seed = 1 + round as u64;
        let mut servers = self.master.copies(self.clients.len())?;
        servers.rotate_left(round % self.clients.len());
        servers.iter_mut().try_for_each(Server::freeze)?;
        let pairs = self.clients.iter().zip(servers).map(|(client, server)| {
            self.begin(client, server, seed).with_context(|| format!("{} as a client", client.name()))
        });
        let seen = pairs::run(pairs.collect::<Result<_>>()?, self.times, seed)?;
        for (client, seen) in self.clients.iter().zip(&seen) {
            let (name, Seen { per_minute, cpu_us, wait_us, .. }) = (client.name(), seen);
            say(&format!(
                "{name}: {per_minute:.0} new orders a minute, {cpu_us:.1} us of CPU and {wait_us:.1} us each"
            ));
        }
        Ok(seen)
    }

    fn begin<'c>(&self, client: &'c Client, server: Server, seed: u64) -> Result<Pair<'c>> {
        let mut command = self.command(client, &server, seed)?;
        let log = self.installed.folder().join(format!("{}.log", client.name()));
        Pair::begin((client.name(), self.users.count), &mut command, server, &log)
    }

    fn command(&self, client: &Client, server: &Server, seed: u64) -> Result<Command> {
        let Bench { users, warehouses, .. } = self;
        let place = &self.installed.place(server, u64::from(*warehouses))?;
        let seconds = self.times.whole_s(self.clients.len());
        match client {
            Client::Own(client) => client.command(users.name, place, seconds, seed),
            Client::Library(client) => {
                let calls = self.installed.folder().join("calls");
                calls::write(&calls, &shape(place.engine), (*warehouses, users.count), &server.endpoint(), seed)?;
                Ok(client.command(&calls, place, users.count, seconds))
            }
            Client::Hammerdb(hammerdb) => Ok(hammerdb.command(place, (*warehouses, users.count), seconds)),
        }
    }
}
