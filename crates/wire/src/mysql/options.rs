//! The options of an endpoint that mean something to this protocol.
//!
//! In: names and values. Out: the TLS mode, the collation of the session, and the variables to set after the login.

use crate::endpoint::{Endpoint, Transport};

/// When to encrypt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TlsMode {
    Disabled,
    /// Where the server can.
    Preferred,
    Required,
}

/// The options of a session.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) tls: TlsMode,
    /// The number of the collation, which names the character set.
    pub(crate) collation: u8,
    /// Statement that sets the other options as session variables.
    pub(crate) set: Option<String>,
}

/// latin1_swedish_ci.
const LATIN1: u8 = 8;

/// Character sets by name, with the number of their default collation; others can be given by number.
const CHARSETS: [(&str, u8); 6] =
    [("latin1", LATIN1), ("ascii", 11), ("utf8", 33), ("utf8mb3", 33), ("utf8mb4", 45), ("binary", 63)];

impl Options {
    /// The endpoint's options, or what is wrong with them.
    pub(crate) fn of(endpoint: &Endpoint) -> Result<Options, String> {
        let tls = match endpoint.transport {
            Transport::Unix { .. } => TlsMode::Disabled,
            Transport::Tcp { .. } => TlsMode::Preferred,
        };
        let mut options = Options { tls, collation: LATIN1, set: None };
        let mut assignments = Vec::new();
        for (name, value) in &endpoint.options {
            match name.as_str() {
                "tls" => options.tls = tls_mode(value)?,
                "charset" => options.collation = collation(value)?,
                _ => assignments.push(assignment(name, value)?),
            }
        }
        if !assignments.is_empty() {
            options.set = Some(format!("SET {}", assignments.join(", ")));
        }
        Ok(options)
    }
}

fn tls_mode(value: &str) -> Result<TlsMode, String> {
    match value {
        "disabled" => Ok(TlsMode::Disabled),
        "preferred" => Ok(TlsMode::Preferred),
        "required" => Ok(TlsMode::Required),
        _ => Err(format!("the option tls is `{value}`; it can be disabled, preferred or required")),
    }
}

fn collation(value: &str) -> Result<u8, String> {
    let known = CHARSETS.iter().find(|(name, _)| *name == value).map(|(_, number)| *number);
    let number = known.or_else(|| value.parse().ok().filter(|&number: &u8| number > 0));
    number.ok_or_else(|| {
        let names = CHARSETS.map(|(name, _)| name).join(", ");
        format!("the option charset is `{value}`; it can be {names}, or the number (1 to 255) of a collation")
    })
}

fn assignment(name: &str, value: &str) -> Result<String, String> {
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_name {
        return Err(format!("the option `{name}` is not the name of a session variable"));
    }
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    if is_number {
        return Ok(format!("SESSION {name} = {value}"));
    }
    let quoted = value.replace('\\', "\\\\").replace('\'', "''");
    Ok(format!("SESSION {name} = '{quoted}'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::Engine;

    fn of(options: &[(&str, &str)]) -> Result<Options, String> {
        Options::of(&Endpoint {
            engine: Engine::Mysql,
            transport: Transport::Tcp { host: "localhost".into(), port: 3306 },
            user: "u".into(),
            password: None,
            database: String::new(),
            options: options.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        })
    }

    #[test]
    fn options_are_understood_or_refused_with_what_is_possible() {
        assert_eq!(of(&[]), Ok(Options { tls: TlsMode::Preferred, collation: 8, set: None }));
        let set = "SET SESSION sort_buffer_size = 65536, SESSION sql_mode = 'it''s'".to_owned();
        assert_eq!(
            of(&[("charset", "utf8mb4"), ("sort_buffer_size", "65536"), ("tls", "required"), ("sql_mode", "it's")]),
            Ok(Options { tls: TlsMode::Required, collation: 45, set: Some(set) })
        );
        assert_eq!(of(&[("charset", "47")]).unwrap().collation, 47);
        for (name, value, complaint) in [
            ("tls", "maybe", "disabled, preferred or required"),
            ("charset", "klingon", "utf8mb4, binary, or the number"),
            ("charset", "0", "number (1 to 255)"),
            ("a b", "1", "not the name of a session variable"),
        ] {
            let error = of(&[(name, value)]).unwrap_err();
            assert!(error.contains(complaint), "{error}");
        }
    }
}
