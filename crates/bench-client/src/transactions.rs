//! Transactions of TPROC-C by the rules of HammerDB: rqps beside a client on the engine's own library that makes the
//! same calls, and beside HammerDB's own virtual users, on the same tables.
//!
//! In: a server. Out: new orders a minute, and per new order client CPU, statements and rows written. The tables are
//! loaded by rqps, since all clients work on the same ones; HammerDB brings its own routines. In a round all clients
//! but HammerDB, which draws by itself, have the same inputs.

use crate::args::Args;
use crate::calls;
use crate::hammerdb::Hammerdb;
use crate::library::LibraryClient;
use crate::output::{say, warn};
use crate::own_client::OwnClient;
use crate::place::Place;
use crate::rounds::{Measured, alternate};
use crate::test_server::TestServer;
use crate::watch::{Seen, Times, watch};
use crate::workload::Users;
use anyhow::{Context, Result};
use rqps_load::program::tproc_c::provide_routines;
use rqps_load::warehouses;
use rqps_model::Engine;
use rqps_model::tproc_c::{Check, Form, Isolation, Profile, Quirk, TprocC};
use std::collections::BTreeMap;
use std::process::Command;

/// The seed of the tables.
pub(crate) const SEED: u64 = 1;

/// What is run: HammerDB's rules with all their quirks, in the usual form of the engine.
pub(crate) fn shape(engine: Engine) -> TprocC {
    TprocC {
        profile: Profile::Hammerdb,
        warehouses: Vec::new(),
        forms: BTreeMap::from([(engine, Form::usual(Profile::Hammerdb, engine))]),
        quirks: Quirk::ALL.into_iter().collect(),
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
}

/// All clients in turn.
pub(crate) fn compare(
    server: &TestServer,
    users: &'static Users,
    args: &Args,
    own: Vec<OwnClient>,
) -> Result<Measured> {
    load(server, args.warehouses)?;
    let clients = clients(server, args, own)?;
    let bench = Bench { server, users, warehouses: args.warehouses, times: times(args) };
    let mut turn = 0;
    let rounds = alternate(users.name, clients.len(), args.rounds, |client| {
        let seed = 1 + turn / clients.len() as u64;
        turn += 1;
        let client = &clients[client];
        let seen = bench.run(client, seed).with_context(|| format!("{} as a client", client.name()))?;
        say(&format!("{}: {:.0} new orders a minute, {:.1} us each", client.name(), seen.per_minute, seen.cpu_us));
        Ok(seen)
    });
    let names: Vec<&str> = clients.iter().map(Client::name).collect();
    let rows_of = |unit: &'static str, figure: fn(&Seen) -> f64| rounds.map(figure).rows(users.name, &names, unit).rows;
    let mut rows = rows_of("NOPM", |seen| seen.per_minute);
    rows.extend(rows_of("us/order", |seen| seen.cpu_us));
    rows.extend(rows_of("sent/order", |seen| seen.statements));
    rows.extend(rows_of("rows/order", |seen| seen.rows_written));
    Ok(Measured { rows, failure: rounds.failure })
}

fn times(args: &Args) -> Times {
    Times { ramp_up_s: args.ramp_up, seconds: args.seconds }
}

/// The tables, unless an earlier workload has loaded them.
fn load(server: &TestServer, warehouses: u32) -> Result<()> {
    if server.query("SELECT MAX(w_id) FROM warehouse", 0).is_ok() {
        return Ok(());
    }
    say(&format!("loading {warehouses} warehouses"));
    let shape = shape(server.place.engine);
    let target = server.process.target();
    server.on_all_cpus(|| {
        warehouses::load(target, &shape.data(warehouses), SEED, server.cpus.len())?;
        Ok(provide_routines(target, &shape)?)
    })
}

/// All clients of rqps; where that is only this one, also those that are not.
fn clients(server: &TestServer, args: &Args, own: Vec<OwnClient>) -> Result<Vec<Client>> {
    let is_alone = own.len() == 1;
    let mut clients: Vec<Client> = own.into_iter().map(Client::Own).collect();
    if is_alone {
        match LibraryClient::build(server.place.engine, server.folder()) {
            Ok(client) => clients.push(Client::Library(client)),
            Err(error) => warn(&format!("no client on the engine's library, since {error:#}")),
        }
    }
    if let Some(checkout) = &args.hammerdb {
        clients.push(Client::Hammerdb(Hammerdb::prepare(checkout, &server.place, server.folder())?));
    }
    Ok(clients)
}

/// What all runs of a workload have in common.
struct Bench<'a> {
    server: &'a TestServer,
    users: &'static Users,
    warehouses: u32,
    times: Times,
}

impl Bench<'_> {
    fn run(&self, client: &Client, seed: u64) -> Result<Seen> {
        let log = self.server.folder().join("client.log");
        watch(&mut self.command(client, seed)?, &self.server.process.endpoint(), self.times, &log)
    }

    fn command(&self, client: &Client, seed: u64) -> Result<Command> {
        let Bench { server, users, warehouses, times } = self;
        let place = &server.place;
        match client {
            Client::Own(client) => {
                let place = Place { rows: u64::from(*warehouses), ..place.clone() };
                client.command(users.name, &place, times.whole_s(), seed)
            }
            Client::Library(client) => {
                let calls = server.folder().join("calls");
                let shape = shape(place.engine);
                calls::write(&calls, &shape, (*warehouses, users.count), &server.process.endpoint(), seed)?;
                Ok(client.command(&calls, place, users.count, times.whole_s()))
            }
            Client::Hammerdb(hammerdb) => Ok(hammerdb.command(place, users.count, times.whole_s())),
        }
    }
}
