//! Prepared statements, portals and cursors: what is run with parameters, in pieces, or later.

use super::super::error::{PgError, Trouble};
use super::super::rows::{Cells, Format, describe};
use super::super::values::parameter;
use super::{Connection, Done};
use bytes::{BufMut, Bytes};
use data::{Field, Scalar, Type};
use futures::StreamExt;
use query::{Command, Copy, CopyOf, PgType, Prepared, Rows, Statement};
use std::sync::{Arc, OnceLock};

/// Statements and portals that one connection may keep.
const KEPT_MAX: usize = 10_000;

/// Rows that are written before there is a look at whether they may be sent.
pub(super) const ROWS_AT_ONCE: usize = 512;

/// A prepared statement.
pub(super) struct Kept {
    /// `None` if its text is empty.
    pub(super) statement: Option<Statement>,
    /// The oids of parameters that the client declares; 0 where it does not.
    pub(super) declared: Vec<u32>,
    pub(super) prepared: OnceLock<Prepared>,
}

/// A statement with its parameters.
pub(super) struct Portal {
    pub(super) kept: Arc<Kept>,
    pub(super) parameters: Vec<(Type, Scalar)>,
    pub(super) formats: Vec<i16>,
    pub(super) running: Option<Running>,
    /// Is it a cursor, which lives until it is closed or its transaction ends?
    pub(super) is_cursor: bool,
    pub(super) is_held: bool,
}

/// Rows that a portal is in the midst of.
pub(super) struct Running {
    pub(super) rows: Rows,
    /// The batch that is being sent, and the row it is at.
    pub(super) batch: Option<(Cells, usize, usize)>,
    pub(super) is_done: bool,
}

impl Connection {
    pub(super) async fn parse(&mut self, name: String, text: &str, declared: Vec<u32>) -> Done {
        let mut statements = query::statements(text).map_err(|error| PgError::of_query(error, text, 0))?;
        if statements.len() > 1 {
            return Err(PgError::new("42601", "a prepared statement is one statement").into());
        }
        let statement = statements.pop();
        if let Some(statement) = &statement {
            self.check_block(statement)?;
        }
        if !name.is_empty() && self.statements.contains_key(&name) {
            return Err(PgError::new("42P05", format!("there is such a statement already: statement=`{name}`")).into());
        }
        if self.statements.len() >= KEPT_MAX {
            return Err(PgError::new("53200", format!("too many statements: statements_max=`{KEPT_MAX}`")).into());
        }
        let kept = Arc::new(Kept { statement, declared, prepared: OnceLock::new() });
        // One with a name is run often, and looked at before.
        if !name.is_empty() {
            self.prepared(&kept).await?;
        }
        self.statements.insert(name, kept);
        self.output.bare(b'1');
        Ok(())
    }

    /// What the query of a statement takes and gives; `None` if it has none.
    async fn prepared<'a>(&self, kept: &'a Kept) -> Result<Option<&'a Prepared>, PgError> {
        let Some(query) = kept.query() else { return Ok(None) };
        if kept.prepared.get().is_none() {
            let prepared = self.session_of(query).prepare(&query.text).await;
            let prepared = prepared.map_err(|error| PgError::of_statement(error, query))?;
            // It is set once: the connection does one thing at a time.
            let _ = kept.prepared.set(prepared);
        }
        Ok(kept.prepared.get())
    }

    pub(super) async fn bind(
        &mut self,
        name: String,
        statement: &str,
        formats: &[i16],
        values: Vec<Option<Bytes>>,
        results: Vec<i16>,
    ) -> Done {
        let kept = self.statements.get(statement).cloned().ok_or_else(|| no_statement(statement))?;
        if let Some(statement) = &kept.statement {
            self.check_block(statement)?;
        }
        let is_open = (0..values.len()).any(|place| kept.declared.get(place).copied().unwrap_or(0) == 0);
        let prepared = match is_open {
            true => self.prepared(&kept).await?,
            false => kept.prepared.get(),
        };
        let wanted = prepared.map(Prepared::parameters).unwrap_or_default();
        if prepared.is_some() && wanted.len() != values.len() {
            let text = format!("parameters do not match: found=`{}`, wanted=`{}`", values.len(), wanted.len());
            return Err(PgError::new("08P01", text).into());
        }
        let parameters = values.into_iter().enumerate().map(|(place, value)| {
            let declared = kept.declared.get(place).copied().unwrap_or(0);
            let wanted = wanted.get(place).copied().flatten();
            parameter(declared, wanted, Format::of(formats, place), value)
        });
        let parameters = parameters.collect::<Result<Vec<_>, _>>()?;
        self.keep_portal(name, Portal::new(kept, parameters, results))?;
        self.output.bare(b'2');
        Ok(())
    }

    fn keep_portal(&mut self, name: String, portal: Portal) -> Result<(), PgError> {
        if !name.is_empty() && self.portals.contains_key(&name) {
            return Err(PgError::new("42P03", format!("there is such a cursor already: cursor=`{name}`")));
        }
        if self.portals.len() >= KEPT_MAX {
            return Err(PgError::new("53200", format!("too many cursors: cursors_max=`{KEPT_MAX}`")));
        }
        self.portals.insert(name, portal);
        Ok(())
    }

    pub(super) async fn describe_statement(&mut self, name: &str) -> Done {
        let kept = self.statements.get(name).cloned().ok_or_else(|| no_statement(name))?;
        let prepared = self.prepared(&kept).await?;
        let wanted = prepared.map(Prepared::parameters).unwrap_or_default();
        let count = wanted.len().max(kept.declared.len());
        self.output.frame(b't', |body| {
            body.put_i16(count as i16);
            for place in 0..count {
                let own =
                    wanted.get(place).copied().flatten().map_or(PgType::of(Type::String).oid, |ty| PgType::of(ty).oid);
                body.put_u32(kept.declared.get(place).copied().filter(|oid| *oid != 0).unwrap_or(own));
            }
        });
        let fields = self.fields_of(&kept).await?;
        self.describe_maybe(fields, &[]);
        Ok(())
    }

    pub(super) async fn describe_portal(&mut self, name: &str) -> Done {
        let mut portal = self.portals.remove(name).ok_or_else(|| no_cursor(name))?;
        let fields = self.start(&mut portal).await;
        let formats = portal.formats.clone();
        self.portals.insert(name.to_string(), portal);
        let fields = match fields? {
            Some(fields) => Some(fields),
            None => {
                let kept = self.portals[name].kept.clone();
                self.fields_of(&kept).await?
            }
        };
        self.describe_maybe(fields, &formats);
        Ok(())
    }

    /// The columns of what a statement gives; `None` if that is nothing.
    async fn fields_of(&self, kept: &Kept) -> Result<Option<Vec<Field>>, PgError> {
        let Some(statement) = &kept.statement else { return Ok(None) };
        Ok(match &statement.command {
            Command::Query | Command::Catalog => {
                let prepared = self.prepared(kept).await?;
                let rows = prepared.filter(|prepared| prepared.insert().is_none());
                rows.map(|prepared| prepared.fields().to_vec())
            }
            Command::Show(name) => Some(self.shown(name)?.0),
            Command::Fetch { cursor, skip: false, .. } => Some(self.fields_of_cursor(cursor).await?),
            _ => None,
        })
    }

    fn describe_maybe(&mut self, fields: Option<Vec<Field>>, formats: &[i16]) {
        match fields {
            Some(fields) => self.describe_rows(&fields, formats),
            None => self.output.bare(b'n'),
        }
    }

    pub(super) fn describe_rows(&mut self, fields: &[Field], formats: &[i16]) {
        self.output.frame(b'T', |body| describe(fields, formats, body));
    }

    /// Begins to run a portal that gives rows of tables; the columns if it is one.
    async fn start(&self, portal: &mut Portal) -> Result<Option<Vec<Field>>, PgError> {
        if let Some(running) = &portal.running {
            return Ok(Some(running.rows.fields().to_vec()));
        }
        let Some(statement) = &portal.kept.statement else { return Ok(None) };
        if !matches!(statement.command, Command::Query | Command::Catalog) {
            return Ok(None);
        }
        // An INSERT is begun when it is executed.
        if portal.kept.prepared.get().is_some_and(|prepared| prepared.insert().is_some()) {
            return Ok(None);
        }
        let rows = self.rows(&portal.kept, statement, portal.parameters.clone()).await?;
        if rows.insert().is_some() {
            return Ok(None);
        }
        let fields = rows.fields().to_vec();
        portal.running = Some(Running { rows, batch: None, is_done: false });
        Ok(Some(fields))
    }

    /// The rows of a query of this kept statement.
    pub(super) async fn rows(
        &self,
        kept: &Kept,
        statement: &Statement,
        parameters: Vec<(Type, Scalar)>,
    ) -> Result<Rows, PgError> {
        let rows = match kept.prepared.get() {
            Some(prepared) => prepared.execute(parameters).await,
            None => self.session_of(statement).run_with(statement.text.clone(), parameters).await,
        };
        rows.map_err(|error| PgError::of_statement(error, statement))
    }

    pub(super) async fn execute(&mut self, name: &str, rows_max: Option<u64>) -> Done {
        let mut portal = self.portals.remove(name).ok_or_else(|| no_cursor(name))?;
        let kept = portal.kept.clone();
        let Some(statement) = &kept.statement else {
            self.output.bare(b'I');
            self.portals.insert(name.to_string(), portal);
            return Ok(());
        };
        self.check_block(statement)?;
        match &statement.command {
            Command::Query | Command::Catalog => {
                if self.start(&mut portal).await?.is_none() {
                    let rows = self.rows(&kept, statement, std::mem::take(&mut portal.parameters)).await?;
                    return self.insert(rows, statement).await;
                }
                let mut running = portal.running.take().expect("it was started");
                let sent = self.send(&mut running, rows_max, &portal.formats, statement).await?;
                match running.is_done {
                    true => self.output.complete(&format!("{} {sent}", tag(statement))),
                    false => self.output.bare(b's'),
                }
                portal.running = Some(running);
                self.portals.insert(name.to_string(), portal);
                Ok(())
            }
            Command::Show(name) => {
                let shown = self.shown(name)?;
                self.send_shown(&shown);
                Ok(())
            }
            Command::Fetch { cursor, rows, skip } => self.fetch(cursor, *rows, *skip, &portal.formats).await,
            Command::Declare { cursor, query } => {
                // The cursor takes over the parameters, whose query it is.
                let kept = Kept {
                    statement: Some(query.as_ref().clone()),
                    declared: kept.declared.clone(),
                    prepared: kept.prepared.clone(),
                };
                self.declare(cursor, Arc::new(kept), portal.parameters, &statement.text).await
            }
            Command::Copy(copy) if copy.is_from => self.begin_copy(copy, true),
            Command::Copy(copy) => self.copy_out(copy, portal.parameters).await,
            other => self.command(other),
        }
    }

    /// Sends rows, at most so many; tells how many.
    pub(super) async fn send(
        &mut self,
        running: &mut Running,
        rows_max: Option<u64>,
        formats: &[i16],
        statement: &Statement,
    ) -> Result<u64, Trouble> {
        let mut sent = 0;
        loop {
            if rows_max.is_some_and(|rows_max| sent >= rows_max) {
                return Ok(sent);
            }
            let Some((cells, at, rows)) = running.batch(statement).await? else { return Ok(sent) };
            let left = rows_max.map_or(u64::MAX, |rows_max| rows_max - sent);
            let count = (*rows - *at).min(ROWS_AT_ONCE).min(left.min(usize::MAX as u64) as usize);
            cells.put_rows(*at..*at + count, formats, &mut self.output.buffer);
            *at += count;
            sent += count as u64;
            self.output.make_room().await?;
        }
    }

    /// The columns and rows of a SHOW.
    pub(super) fn shown(&self, name: &str) -> Result<(Vec<Field>, Vec<Vec<String>>), PgError> {
        if name == "all" {
            let fields = ["name", "setting", "description"].map(|name| Field::new(name, Type::String));
            let rows = self.variables.all().into_iter().map(|(name, value)| vec![name, value, String::new()]);
            return Ok((fields.to_vec(), rows.collect()));
        }
        let value = self.variables.get(name);
        let value = value.ok_or_else(|| PgError::new("42704", format!("no such setting: setting=`{name}`")))?;
        let heading = match name {
            "time zone" => "TimeZone",
            "transaction isolation level" => "transaction_isolation",
            name => name,
        };
        Ok((vec![Field::new(heading, Type::String)], vec![vec![value]]))
    }

    pub(super) fn send_shown(&mut self, (_, rows): &(Vec<Field>, Vec<Vec<String>>)) {
        // Texts are the same in both forms.
        for row in rows {
            self.output.frame(b'D', |body| {
                body.put_i16(row.len() as i16);
                for cell in row {
                    body.put_i32(cell.len() as i32);
                    body.put_slice(cell.as_bytes());
                }
            });
        }
        self.output.complete("SHOW");
    }

    pub(super) async fn declare(
        &mut self,
        cursor: &str,
        kept: Arc<Kept>,
        parameters: Vec<(Type, Scalar)>,
        text: &str,
    ) -> Done {
        let mut portal = Portal::new(kept, parameters, vec![]);
        if self.start(&mut portal).await?.is_none() {
            return Err(PgError::new("42P11", "a cursor is over a query").into());
        }
        portal.is_cursor = true;
        let words: Vec<String> = text.split_whitespace().take(10).map(str::to_lowercase).collect();
        portal.is_held = words.windows(2).any(|two| two == ["with", "hold"]);
        self.keep_portal(cursor.to_string(), portal)?;
        self.output.complete("DECLARE CURSOR");
        Ok(())
    }

    pub(super) async fn fields_of_cursor(&self, cursor: &str) -> Result<Vec<Field>, PgError> {
        let portal = self.portals.get(cursor).ok_or_else(|| no_cursor(cursor))?;
        match &portal.running {
            Some(running) => Ok(running.rows.fields().to_vec()),
            None => Err(no_cursor(cursor)),
        }
    }

    pub(super) async fn fetch(&mut self, cursor: &str, rows: Option<u64>, skip: bool, formats: &[i16]) -> Done {
        let mut portal = self.portals.remove(cursor).ok_or_else(|| no_cursor(cursor))?;
        let mut running = portal.running.take().ok_or_else(|| no_cursor(cursor))?;
        let kept = portal.kept.clone();
        let statement = kept.statement.as_ref().ok_or_else(|| no_cursor(cursor))?;
        let sent = match skip {
            false => self.send(&mut running, rows, formats, statement).await?,
            true => running.pass(rows, statement).await?,
        };
        portal.running = Some(running);
        self.portals.insert(cursor.to_string(), portal);
        self.output.complete(&format!("{} {sent}", if skip { "MOVE" } else { "FETCH" }));
        Ok(())
    }
}

impl Running {
    /// The batch that is being sent, its rows not all sent yet; `None` at the end.
    async fn batch(&mut self, statement: &Statement) -> Result<Option<&mut (Cells, usize, usize)>, PgError> {
        while self.batch.as_ref().is_none_or(|(_, at, rows)| at == rows) {
            let Some(batch) = self.rows.next().await else {
                (self.batch, self.is_done) = (None, true);
                return Ok(None);
            };
            let batch = batch.map_err(|error| PgError::of_statement(error, statement))?;
            self.batch = Some((Cells::of(self.rows.fields(), &batch), 0, batch.num_rows()));
        }
        Ok(self.batch.as_mut())
    }

    /// Passes over rows, which are made all the same, at most so many; tells how many.
    async fn pass(&mut self, rows_max: Option<u64>, statement: &Statement) -> Result<u64, PgError> {
        let mut passed = 0;
        while rows_max.is_none_or(|rows_max| passed < rows_max) {
            let Some((_, at, rows)) = self.batch(statement).await? else { break };
            let left = rows_max.map_or(u64::MAX, |rows_max| rows_max - passed);
            let count = (*rows - *at).min(left.min(usize::MAX as u64) as usize);
            *at += count;
            passed += count as u64;
        }
        Ok(passed)
    }
}

impl Kept {
    /// The query that a statement is, or is about.
    fn query(&self) -> Option<&Statement> {
        let statement = self.statement.as_ref()?;
        match &statement.command {
            Command::Query | Command::Catalog => Some(statement),
            Command::Declare { query, .. } => Some(query),
            Command::Copy(Copy { of: CopyOf::Query(query), .. }) => Some(query),
            _ => None,
        }
    }
}

impl Portal {
    pub(super) fn new(kept: Arc<Kept>, parameters: Vec<(Type, Scalar)>, formats: Vec<i16>) -> Portal {
        Portal { kept, parameters, formats, running: None, is_cursor: false, is_held: false }
    }
}

pub(super) fn no_cursor(name: &str) -> PgError {
    PgError::new("34000", format!("no such cursor: cursor=`{name}`"))
}

pub(super) fn no_statement(name: &str) -> PgError {
    PgError::new("26000", format!("no such statement: statement=`{name}`"))
}

/// How an answer with rows is tagged.
pub(super) fn tag(statement: &Statement) -> &'static str {
    let first = statement.text.split_whitespace().next().unwrap_or_default();
    match first {
        first if first.eq_ignore_ascii_case("explain") => "EXPLAIN",
        first if first.eq_ignore_ascii_case("show") => "SHOW",
        _ => "SELECT",
    }
}
