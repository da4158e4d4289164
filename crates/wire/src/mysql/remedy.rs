//! What to do about errors that have a cause outside of the statement, by errno.
//!
//! In: an error of the server. Out: half a sentence, led by a semicolon, or nothing.

use crate::error::ServerError;

/// What to do about a refused login.
pub(crate) fn of_login(error: &ServerError) -> &'static str {
    match error.number() {
        1045 => "; check user and password",
        1698 => {
            "; the account belongs to a user of the operating system: run as that user, or give the account a password"
        }
        1044 => "; grant the user this database",
        1049 => "; create the database first",
        1040 => "; raise max_connections or use fewer clients",
        1203 | 1226 => "; raise the account's limit of connections or use fewer clients",
        1129 => "; the server counts too many broken connections from here: run FLUSH HOSTS on it",
        1130 => "; create an account that may come from this host, such as 'user'@'%', or use the server's Unix socket",
        1820 | 1862 => "; the account's password has expired: renew it with ALTER USER ... IDENTIFIED BY",
        3118 => "; unlock the account with ALTER USER ... ACCOUNT UNLOCK",
        3159 => "; the server wants TLS on TCP: set the option tls to required, or use the Unix socket",
        1053 | 3168 => "; try again in a moment",
        _ => "",
    }
}

/// What to do about a refused statement.
pub(crate) fn of_statement(error: &ServerError) -> &'static str {
    match error.number() {
        1290 | 1836 | 1792 => {
            "; the server or the transaction does not allow this: if it is read-only, set read_only and super_read_only to OFF"
        }
        1820 | 1862 => "; the account's password has expired: renew it with ALTER USER ... IDENTIFIED BY",
        1148 | 3948 | 4166 => "; start the server with local_infile=ON",
        1153 => "; raise the server's max_allowed_packet",
        1461 => "; raise the server's max_prepared_stmt_count, or use fewer clients",
        1114 => "; check the disk of the server, and its limits for tables in memory",
        1205 => "; another transaction holds the lock: look for one that was left open",
        1286 => "; the server lacks this storage engine: load its plugin",
        1053 => "; the server shuts down: connect anew once it is up",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_go_by_number() {
        let error = |number: u16| {
            let mut error = ServerError::default();
            error.read_err_packet(&[&b"\xff"[..], &number.to_le_bytes(), b"#HY000no"].concat());
            error
        };
        assert!(of_login(&error(1040)).contains("max_connections"));
        assert!(of_statement(&error(1290)).contains("read_only"));
        assert!(of_statement(&error(3948)).contains("local_infile=ON"));
        assert_eq!(of_login(&error(1)), "");
        assert_eq!(of_statement(&error(1064)), "");
    }
}
