//! Where a server is to be reached: a private folder for its socket.
//!
//! In: an account, a lease. Out: a leased folder short enough for a socket's path, or a clear refusal. It must not open
//! a port.

use crate::{Result, ServerError};
use rqps_machine::lease::LeasedFolder;
use rqps_machine::{Account, Lease};

/// Bytes of a socket's path that Linux takes, without the final zero.
const SOCKET_PATH_MAX: usize = 107;

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
