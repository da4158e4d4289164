//! Reading a configuration file of the user's own, in the form of `my.cnf`.
//!
//! In: text with sections. Out: names and values in order, of the sections that a server reads; those of clients are
//! passed over. Includes are refused, and what is for one version or for MariaDB alone: what a run is configured with
//! must all be in its record, and be the same for all. It must not judge names or values.

use crate::{Result, ServerError};

/// Sections that a server reads whatever its version.
const OF_SERVERS: [&str; 2] = ["mysqld", "server"];

/// Sections that only MariaDB reads, which is not known here.
const OF_MARIADB: [&str; 2] = ["mariadb", "mariadbd"];

/// Whether a text has the form of `my.cnf`: it has a section.
pub(super) fn has_sections(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with('['))
}

/// Reads `name = value` and bare `name` lines of the servers' sections; `#` and `;` begin comments, values may be
/// quoted.
pub(super) fn parse_option_file(file: &str, text: &str) -> Result<Vec<(String, String)>> {
    let mut settings = Vec::new();
    let (mut is_for_servers, mut is_for_mariadb) = (false, false);
    for (number, line) in text.lines().enumerate() {
        let fault = |reason: &str| ServerError::Malformed {
            file: file.to_owned(),
            reason: format!("line {}: {reason}: {line}", number + 1),
        };
        let rest = line.trim();
        if rest.is_empty() || rest.starts_with(['#', ';']) {
            continue;
        }
        if rest.starts_with("!include") {
            return Err(fault("files are not included; name each file"));
        }
        if let Some(section) = rest.strip_prefix('[') {
            let (name, _) = section.split_once(']').ok_or_else(|| fault("a section without `]`"))?;
            let name = name.trim();
            is_for_servers = OF_SERVERS.contains(&name);
            is_for_mariadb = OF_MARIADB.contains(&name);
            let for_one_version =
                name.split_once('-').is_some_and(|(base, _)| OF_SERVERS.contains(&base) || OF_MARIADB.contains(&base));
            if for_one_version {
                return Err(fault("a section for one version; write what is for all versions under [mysqld]"));
            }
            continue;
        }
        if is_for_mariadb {
            return Err(fault(
                "a setting for MariaDB alone; give it to its builds in the campaign file, or write it under [mysqld]",
            ));
        }
        if !is_for_servers {
            continue;
        }
        let (name, value) = rest.split_once('=').unwrap_or((rest.split('#').next().unwrap_or_default(), ""));
        let value = value_of(value.trim()).ok_or_else(|| fault("a quoted value without its end"))?;
        settings.push((name.trim().replace('-', "_").to_ascii_lowercase(), value));
    }
    Ok(settings)
}

/// A value without its quotes, escapes and comment.
fn value_of(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let mut value = String::new();
    let mut chars = text.chars().skip(usize::from(quote.is_some()));
    loop {
        match chars.next() {
            None if quote.is_some() => return None,
            None => break,
            Some(c) if Some(c) == quote => return Some(value),
            Some('#') if quote.is_none() => break,
            Some('\\') => match chars.next()? {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                'r' => value.push('\r'),
                'b' => value.push('\u{8}'),
                's' => value.push(' '),
                c @ ('\\' | '\'' | '"') => value.push(c),
                c => value.extend(['\\', c]),
            },
            Some(c) => value.push(c),
        }
    }
    Some(value.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_servers_read() {
        let text = "# mine\n[client]\nsocket = /x\n[mysqld]\n; old\ninnodb-buffer-pool-size=4G # four\nskip-log-bin\n\
                    init_connect = 'SET @a = 1 # no comment'\n[mysqldump]\nquick\n[mariadb]\n# none\n[server]\nSql_Mode =\nft = \"a\\\"b\\\\c\"\n";
        let settings = parse_option_file("my.cnf", text).expect("read");
        let settings: Vec<(&str, &str)> = settings.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let expected = [
            ("innodb_buffer_pool_size", "4G"),
            ("skip_log_bin", ""),
            ("init_connect", "SET @a = 1 # no comment"),
            ("sql_mode", ""),
            ("ft", "a\"b\\c"),
        ];
        assert_eq!(settings, expected);
        assert!(has_sections(text) && !has_sections("work_mem = 4MB\n"));
    }

    #[test]
    fn names_the_line_that_is_wrong() {
        for (line, reason) in [
            ("!includedir /etc/my.cnf.d", "files are not included"),
            ("[mysqld-8.0]", "a section for one version"),
            ("[mariadb-10.6]", "a section for one version"),
            ("[mysqld", "a section without `]`"),
            ("a = 'open", "a quoted value without its end"),
        ] {
            let error = parse_option_file("my.cnf", &format!("[mysqld]\n{line}\n")).expect_err(line).to_string();
            assert!(error.starts_with("my.cnf: line 2: ") && error.contains(reason), "{error}");
        }
        for section in OF_MARIADB {
            let text = format!("[mysqld]\n[{section}]\nbinlog-storage-engine = innodb\n");
            let error = parse_option_file("my.cnf", &text).expect_err(section).to_string();
            assert!(error.starts_with("my.cnf: line 3: a setting for MariaDB alone; "), "{error}");
        }
    }
}
