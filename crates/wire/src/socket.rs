//! Opening a stream socket within a deadline, and saying why when that fails.
//!
//! In: a transport. Out: a connected socket, with TCP_NODELAY where that means something. It knows no protocol.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};

use crate::endpoint::{Endpoint, Transport};
use crate::error::WireError;
use crate::poll::timespec;

/// Connects a socket to the endpoint's transport.
pub(crate) fn open(endpoint: &Endpoint, deadline: Deadline) -> Result<OwnedFd, WireError> {
    let connected = match &endpoint.transport {
        Transport::Unix { path } => open_unix(path, deadline),
        Transport::Tcp { host, port } => open_tcp(host, *port, deadline),
    };
    connected.map_err(|error| WireError::Connect {
        endpoint: endpoint.to_string(),
        remedy: remedy(&error, &endpoint.transport),
        cause: error.to_string(),
    })
}

fn open_unix(path: &std::path::Path, deadline: Deadline) -> io::Result<OwnedFd> {
    let address = SocketAddrUnix::new(path)?;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    // A full backlog makes connect wait; the send timeout bounds that wait.
    set_socket_timeout(&socket, Timeout::Send, Some(deadline.left()?))?;
    rustix::net::connect(&socket, &address)?;
    Ok(socket)
}

fn open_tcp(host: &str, port: u16, deadline: Deadline) -> io::Result<OwnedFd> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, deadline.left()?) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream.into());
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn remedy(error: &io::Error, transport: &Transport) -> &'static str {
    match (error.kind(), transport) {
        (io::ErrorKind::NotFound, Transport::Unix { .. }) => {
            "check that the server runs, and its socket directory and port"
        }
        (io::ErrorKind::ConnectionRefused, _) => {
            "nothing listens there: check that the server runs and the port is right"
        }
        (io::ErrorKind::PermissionDenied, _) => {
            "the socket's directory may be private: run as the user who owns it, or as root"
        }
        (io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock, _) => {
            "the server does not accept connections in time: check its load and its log"
        }
        (io::ErrorKind::InvalidInput | io::ErrorKind::InvalidFilename, Transport::Unix { .. }) => {
            "a socket path has at most 107 bytes: choose a shorter directory"
        }
        (_, Transport::Tcp { .. }) if error.raw_os_error().is_none() => "check the host name",
        _ => "check that the server runs and can be reached from here",
    }
}

/// A point in time after which a blocking call gives up; without one it waits for ever.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    /// The time that was allowed in all, for the message.
    pub(crate) allowed: Option<Duration>,
    end: Option<Instant>,
}

impl Deadline {
    /// A deadline that starts to run now.
    pub(crate) fn start(allowed: Option<Duration>) -> Deadline {
        let end = allowed.and_then(|allowed| Instant::now().checked_add(allowed));
        Deadline { allowed, end }
    }

    /// The time that is left, at least a microsecond, for calls that cannot wait for ever.
    fn left(self) -> io::Result<Duration> {
        const LONGEST: Duration = Duration::from_secs(24 * 3600);
        match self.end {
            None => Ok(LONGEST),
            Some(end) => match end.saturating_duration_since(Instant::now()) {
                Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
                left => Ok(left.clamp(Duration::from_micros(1), LONGEST)),
            },
        }
    }

    /// Waits until `socket` is ready for `interest`; an error of kind `TimedOut` when time is up.
    pub(crate) fn wait(self, socket: &OwnedFd, interest: PollFlags) -> io::Result<PollFlags> {
        loop {
            let limit = timespec(self.left()?);
            let mut fds = [PollFd::new(socket, interest)];
            match rustix::event::poll(&mut fds, Some(&limit)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(fds[0].revents()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::Engine;

    fn refusal(transport: Transport) -> String {
        let endpoint = Endpoint {
            engine: Engine::Postgres,
            transport,
            user: "u".into(),
            password: None,
            database: "d".into(),
            options: Vec::new(),
        };
        let deadline = Deadline::start(Some(Duration::from_secs(5)));
        open(&endpoint, deadline).unwrap_err().to_string()
    }

    #[test]
    fn refusals_name_endpoint_cause_and_remedy() {
        let directory = tempfile::tempdir().unwrap();
        let absent = refusal(Transport::postgres_socket(directory.path(), 1));
        assert!(absent.contains("/.s.PGSQL.1, database d"), "{absent}");
        assert!(absent.contains("check that the server runs"), "{absent}");

        let path = directory.path().join(".s.PGSQL.2");
        drop(std::os::unix::net::UnixListener::bind(path).unwrap());
        let left_behind = refusal(Transport::postgres_socket(directory.path(), 2));
        assert!(left_behind.contains("nothing listens"), "{left_behind}");

        let long = refusal(Transport::Unix { path: "/tmp/".to_owned().repeat(30).into() });
        assert!(long.contains("shorter directory"), "{long}");

        let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = closed.local_addr().unwrap().port();
        drop(closed);
        let tcp = refusal(Transport::Tcp { host: "127.0.0.1".into(), port });
        assert!(tcp.contains("nothing listens"), "{tcp}");
    }

    #[test]
    fn a_full_backlog_ends_with_the_deadline() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(".s.PGSQL.4");
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let _first = std::os::unix::net::UnixStream::connect(&path).unwrap();
        let deadline = Deadline::start(Some(Duration::from_millis(500)));
        let error = open_unix(&path, deadline).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock, "{error}");
    }
}
