//! The binary `rqps-bench-client`, for developers of rqps: what its client costs and can do, against other clients, a
//! bare socket, a server that does nothing, and the clients of other builds of rqps; what loading takes beside the
//! server's own bulk load; and what sampling of functions costs a server.
//!
//! In: a build, workloads, other clients. Out: client CPU microseconds per statement or row of each client. It is no
//! part of the shipped `rqps`, and measures no database.

mod args;
mod bench;
mod bulk_load;
mod calls;
mod child;
mod engine;
mod hammerdb;
mod insert;
mod inserter;
mod installed;
mod library;
mod master;
mod other_client;
mod output;
mod own_client;
mod pairs;
mod part;
mod place;
mod queries;
mod request;
mod rounds;
mod sampling;
mod table;
mod test_server;
mod transactions;
mod watch;
mod workload;

use args::Args;
use clap::Parser;
use request::PartRequest;
use std::process::ExitCode;

/// Exit code where arguments or machine are at fault.
const USAGE: u8 = 2;

/// Exit code where some workload failed.
const WORKLOAD_FAILED: u8 = 3;

fn main() -> ExitCode {
    // Before anything else is built up: what a measured process holds in memory is a client, not the whole command
    // line.
    let ended = match PartRequest::read(std::env::args_os().skip(1)) {
        Some(request) => request.and_then(|request| part::run(&request)).map(|()| true),
        None => bench::run(&Args::parse()),
    };
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(WORKLOAD_FAILED),
        Err(error) => {
            output::say(&format!("error: {error:#}"));
            ExitCode::from(USAGE)
        }
    }
}
