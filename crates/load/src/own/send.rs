//! Sends the user's SQL files and dumps, statement by statement.
//!
//! In: a file, plain or packed by gzip, or an archive and what makes SQL of it. Out: a server that has all of it, what
//! was left out on the way, and what the build lacks. Nothing is kept in memory but a statement or a piece of rows.
//! What a server refuses stops the load with file and line, unless the user said to go on after such an error.

use super::database;
use super::left_out::LeftOut;
use super::refused::Refused;
use crate::data_set::Restore;
use crate::error::LoadError;
use crate::session::{connect, execute};
use rqps_model::own::{InputFile, OwnData};
use rqps_sql::dump::{Dump, Item, What};
use rqps_wire::{Protocol, ServerError, Session, Target, WireError};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

/// PostgreSQL's error for a setting that a server lacks: dumps of newer versions set such.
const UNKNOWN_SETTING: &str = "42704";

/// Its error for a role that is there.
const ROLE_EXISTS: &str = "42710";

/// MySQL's error for a value that a variable cannot have, and a word of sql_mode that MySQL 8.0 no longer has. It is in
/// every dump of 5.7 that has routines, and says nothing about data.
const WRONG_VALUE: u16 = 1231;
const GONE_MODE: &str = "NO_AUTO_CREATE_USER";

/// The first bytes of a file that gzip wrote.
const GZIP: [u8; 2] = [0x1f, 0x8b];

const BUFFER_BYTES: usize = 1 << 20;

type Input = Dump<Box<dyn BufRead>>;

/// Sends files to one server.
pub(super) struct Sender<'a> {
    target: &'a Target,
    data: &'a OwnData,
    restore: &'a Restore<'a>,
    /// What was left out and how archives were read, file by file.
    pub(super) notes: Vec<String>,
    refused: Refused,
}

impl<'a> Sender<'a> {
    pub(super) fn new(target: &'a Target, data: &'a OwnData, restore: &'a Restore<'a>) -> Sender<'a> {
        Sender { target, data, restore, notes: Vec::new(), refused: Refused::default() }
    }

    /// What was noted, or everything that the build lacks.
    pub(super) fn end(self) -> Result<Vec<String>, LoadError> {
        self.refused.into_result().map(|()| self.notes)
    }

    /// Sends a file; `advance` is told how many bytes of SQL have been sent.
    pub(super) fn send(&mut self, file: &InputFile, advance: &dyn Fn(u64)) -> Result<(), LoadError> {
        let name = file.path.display().to_string();
        let opened = open(file, self.restore).map_err(|error| LoadError::Shape(format!("{name}: {error}")))?;
        let mut session = connect(&self.target.endpoint)?;
        for sql in self.session_head() {
            execute(&mut session, &sql)?;
        }
        let dump = Dump::new(opened, super::dialect(self.target.engine()));
        let name = if file.archive.is_some() { format!("{name} as SQL") } else { name };
        let mut sending =
            Sending { name, dump, session, sent: 0, left_out: LeftOut::default(), databases: BTreeSet::new() };
        while let Some(item) = sending.dump.next() {
            let item = item.map_err(|error| LoadError::Shape(format!("{}: {error}", sending.name)))?;
            self.item(item, &mut sending, advance)?;
            advance(sending.sent);
        }
        if let Some(archive) = &file.archive {
            self.notes.push(format!("{}: {archive}", file.path.display()));
        }
        self.notes.extend(sending.left_out.told(&sending.name));
        Ok(())
    }

    fn item(&mut self, item: Item, sending: &mut Sending, advance: &dyn Fn(u64)) -> Result<(), LoadError> {
        let line = item.line;
        match item.what {
            What::Statement(sql) => {
                sending.sent += sql.len() as u64;
                // Rows that somebody waits for in vain would only cost time.
                if !(self.refused.is_looking() && is_rows(&sql)) {
                    let sql = self.replaced(sql, &mut sending.left_out);
                    let answered = sending.execute(&sql);
                    self.answered(answered, &sql, line, sending)?;
                }
            }
            What::Copy(sql) => {
                let copied = match self.refused.is_looking() {
                    true => sending.skip_rows(),
                    false => sending.copy(&sql, advance),
                };
                self.answered(copied?, &sql, line, sending)?;
            }
            // Taken by the COPY that they belong to.
            What::CopyRows(_) | What::CopyEnd => {}
            // There is one database, and the session is in it.
            What::Connect(name) | What::Use(name) => sending.is_in(name, line)?,
            What::CreateDatabase { name, says } => {
                sending.is_in(name, line)?;
                sending.left_out.add_about_database(database::not_taken_over(self.data, self.target, &says));
            }
            What::LeftOut { what, why: _ } => sending.left_out.add(what),
        }
        Ok(())
    }

    /// Goes on, or not, by what a server said to a statement.
    fn answered(
        &mut self,
        answered: Result<(), WireError>,
        sql: &str,
        line: usize,
        sending: &mut Sending,
    ) -> Result<(), LoadError> {
        let place = || format!("{}:{line}", sending.name);
        match answered {
            Ok(()) => Ok(()),
            Err(WireError::Server { error, .. }) if self.is_ignored(&error, sql) => {
                sending.left_out.add_error(error.error_code(), error.message(), line);
                Ok(())
            }
            Err(WireError::Server { error, .. }) if self.refused.take(&error, place) => Ok(()),
            Err(error) => Err(LoadError::Shape(format!("{}: {error}", place()))),
        }
    }

    /// What a session is told that loads.
    fn session_head(&self) -> Vec<String> {
        let mut head = database::session_statements(self.data, self.target);
        if self.target.endpoint.protocol() == Protocol::Mysql {
            head.push("SET foreign_key_checks = 0, unique_checks = 0".to_owned());
        }
        head
    }

    /// Whether loading goes on after an error.
    fn is_ignored(&self, error: &ServerError, sql: &str) -> bool {
        let codes = [error.code().to_string(), error.number().to_string()];
        let begins = |words: &str| sql.get(..words.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(words));
        let is_setting = codes[0] == UNKNOWN_SETTING && begins("SET ");
        let is_role = codes[0] == ROLE_EXISTS && (begins("CREATE ROLE ") || begins("CREATE USER "));
        is_setting || is_role || self.data.ignore.iter().any(|ignored| codes.contains(ignored))
    }

    /// The statement with the words replaced that the user wants replaced.
    fn replaced(&self, sql: String, left_out: &mut LeftOut) -> String {
        match self.data.replace.get(&self.target.engine()) {
            Some(words) if !words.is_empty() => {
                let dialect = super::dialect(self.target.engine());
                rqps_sql::replace_words(&sql, words, dialect, &mut |word: &str| {
                    left_out.add_replaced(word, &words[word])
                })
            }
            _ => sql,
        }
    }
}

/// A file under way.
struct Sending {
    name: String,
    dump: Input,
    session: Session,
    /// Bytes of SQL so far.
    sent: u64,
    left_out: LeftOut,
    /// The databases that it names.
    databases: BTreeSet<String>,
}

impl Sending {
    /// Goes on in a database, which is the only one.
    fn is_in(&mut self, database: String, line: usize) -> Result<(), LoadError> {
        self.databases.insert(database);
        if self.databases.len() == 1 {
            return Ok(());
        }
        let names: Vec<&str> = self.databases.iter().map(String::as_str).collect();
        let (name, names) = (&self.name, names.join(" and "));
        Err(LoadError::Shape(format!(
            "{name}:{line}: the dump holds several databases, {names}; dump the one that the tests are about"
        )))
    }

    /// Sends a statement; one that sets an sql_mode with the word that is gone once more, without it.
    fn execute(&mut self, sql: &str) -> Result<(), WireError> {
        match self.session.execute(sql) {
            Err(WireError::Server { error, .. }) if error.number() == WRONG_VALUE && sql.contains(GONE_MODE) => {
                self.left_out.add(format!("{GONE_MODE} in an sql_mode"));
                let without = sql.replace(&format!("{GONE_MODE},"), "").replace(&format!(",{GONE_MODE}"), "");
                self.session.execute(&without.replace(GONE_MODE, "")).map(drop)
            }
            answered => answered.map(drop),
        }
    }

    /// Sends the rows of a COPY; what the server said to it.
    fn copy(&mut self, sql: &str, advance: &dyn Fn(u64)) -> Result<Result<(), WireError>, LoadError> {
        let Sending { name, dump, session, sent, .. } = self;
        let mut broken = None;
        let feed = |writer: &mut rqps_wire::CopyWriter<'_>| {
            loop {
                match dump.next() {
                    Some(Ok(Item { what: What::CopyRows(rows), .. })) => {
                        writer.write(&rows)?;
                        *sent += rows.len() as u64;
                        advance(*sent);
                    }
                    // The rows end before anything else comes.
                    Some(Ok(_)) | None => return Ok(()),
                    Some(Err(error)) => {
                        broken = Some(error);
                        return Ok(());
                    }
                }
            }
        };
        let copied = session.copy_in(sql, feed).map(drop);
        match broken {
            Some(error) => Err(LoadError::Shape(format!("{name}: {error}"))),
            None => Ok(copied),
        }
    }

    /// Reads over the rows of a COPY.
    fn skip_rows(&mut self) -> Result<Result<(), WireError>, LoadError> {
        loop {
            match self.dump.next() {
                Some(Ok(Item { what: What::CopyRows(_), .. })) => {}
                Some(Ok(_)) | None => return Ok(Ok(())),
                Some(Err(error)) => return Err(LoadError::Shape(format!("{}: {error}", self.name))),
            }
        }
    }
}

/// Whether a statement only brings rows.
fn is_rows(sql: &str) -> bool {
    ["INSERT ", "REPLACE "]
        .iter()
        .any(|word| sql.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word)))
}

/// Opens a file, unpacked if gzip wrote it, once its content is known to be what was planned.
fn open(file: &InputFile, restore: &Restore<'_>) -> io::Result<Box<dyn BufRead>> {
    if file.archive.is_some() {
        return Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, restore(file)?)));
    }
    let mut opened = File::open(&file.path)?;
    if opened.metadata()?.len() != file.bytes {
        return Err(io::Error::other("it is not the file any more that was planned: its size is another"));
    }
    let mut first = [0; 2];
    let read = opened.read(&mut first)?;
    opened.seek(SeekFrom::Start(0))?;
    let reader = BufReader::with_capacity(BUFFER_BYTES, opened);
    Ok(match read == 2 && first == GZIP {
        true => Box::new(BufReader::with_capacity(BUFFER_BYTES, flate2::bufread::MultiGzDecoder::new(reader))),
        false => Box::new(reader),
    })
}
