//! Where a server is to be reached: a private folder for its socket, or a port that is free.
//!
//! In: an account, a lease, how the server is to listen. Out: a leased folder short enough for a socket's path, or a
//! clear refusal. It must not open a port unasked.

use crate::{Result, ServerError};
use rqps_machine::lease::LeasedFolder;
use rqps_machine::{Account, Lease};
use std::net::TcpListener;

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listen {
    /// A Unix socket in a private folder, and nothing else.
    Socket,
    /// In addition TCP on this machine, without a password: anyone on the machine can log in.
    Tcp {
        /// The port.
        port: u16,
    },
}

/// The address of a server that is to listen on TCP.
pub(crate) const TCP_HOST: &str = "127.0.0.1";

/// Bytes of a socket's path that Linux takes, without the final zero.
const SOCKET_PATH_MAX: usize = 107;

/// Refuses a port that is taken.
pub(crate) fn check_port(listen: Listen) -> Result<()> {
    match listen {
        Listen::Tcp { port } if TcpListener::bind((TCP_HOST, port)).is_err() => {
            Err(ServerError::PortInUse { host: TCP_HOST.to_owned(), port })
        }
        _ => Ok(()),
    }
}

/// A folder that only the server's account can enter, short enough for the path of a socket of this name.
pub(crate) fn socket_folder(account: Account, lease: &Lease, socket: &str) -> Result<LeasedFolder> {
    let folder = lease.folder(&std::env::temp_dir(), "s", 0o700)?;
    account.own_path(folder.path())?;
    account.check_can_enter(folder.path(), "TMPDIR")?;
    let socket = folder.path().join(socket);
    if socket.as_os_str().len() > SOCKET_PATH_MAX {
        return Err(ServerError::SocketPathTooLong { path: socket, limit: SOCKET_PATH_MAX });
    }
    Ok(folder)
}
