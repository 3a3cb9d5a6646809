//! Rows in bulk: INSERT, COPY from the client and COPY to it.

use super::super::copy::{CopyIn, CopyOut, PIECE_ROWS};
use super::super::error::PgError;
use super::portals::ROWS_AT_ONCE;
use super::{Connection, Done};
use crate::server::Append;
use bytes::{BufMut, Bytes, BytesMut};
use data::{Batch, Scalar, Type};
use futures::StreamExt;
use graph::{FullName, NameKind};
use query::{Copy, CopyFormat, CopyOf, DEFAULT_SCHEMA, Rows, Statement};

/// Rows that come in.
pub(super) struct Copying {
    pub(super) table: FullName,
    pub(super) rows: CopyIn,
    pub(super) taken: u64,
    pub(super) is_extended: bool,
}

impl Connection {
    pub(super) async fn insert(&mut self, rows: Rows, statement: &Statement) -> Done {
        let target = rows.insert().cloned().ok_or_else(|| PgError::new("XX000", "an INSERT has no table"))?;
        let rows = rows.map(|batch| batch.map_err(|error| PgError::of_statement(error, statement)));
        let count = self.server.insert(&target, rows).await?;
        self.has_appended |= count > 0;
        self.output.complete(&format!("INSERT 0 {count}"));
        Ok(())
    }

    async fn append(&mut self, table: FullName, rows: Batch) -> Result<(), PgError> {
        if rows.rows() == 0 {
            return Ok(());
        }
        let server = self.server.clone();
        // An append waits for the log, and for graphs that are behind.
        let append = move || server.append(Append { table, writer: None, rows });
        let appended = tokio::task::spawn_blocking(append).await;
        appended.map_err(|_| PgError::new("XX000", "an append broke off"))??;
        self.has_appended = true;
        Ok(())
    }

    pub(super) fn begin_copy(&mut self, copy: &Copy, is_extended: bool) -> Done {
        let CopyOf::Table(name, columns) = &copy.of else {
            return Err(PgError::new("42601", "rows are copied into a table").into());
        };
        let table = self.public_table(name)?;
        let schema = self.server.orca().table_of(&table).map_err(PgError::from)?.schema().clone();
        let rows = CopyIn::new(schema, columns, copy.clone())?;
        self.describe_copy(b'G', copy.format, rows.fields());
        self.copying = Some(Copying { table, rows, taken: 0, is_extended });
        Ok(())
    }

    /// A public table as a client wrote its name; names know no case.
    fn public_table(&self, name: &str) -> Result<FullName, PgError> {
        let catalog = self.tables.catalog();
        let parts: Vec<&str> = name.split('.').collect();
        let default = self.database.clone().unwrap_or_else(|| self.tables.default_catalog());
        let (of_catalog, schema, of_table) = match parts[..] {
            [table] => (default.as_str(), DEFAULT_SCHEMA, table),
            [schema, table] if schema.eq_ignore_ascii_case("public") => (default.as_str(), DEFAULT_SCHEMA, table),
            [schema, table] => (default.as_str(), schema, table),
            [catalog, schema, table] => (catalog, schema, table),
            _ => return Err(PgError::new("42602", format!("not a table's name: name=`{name}`"))),
        };
        let own = |known: Vec<String>, name: &str| known.into_iter().find(|known| known.eq_ignore_ascii_case(name));
        let of_catalog = own(catalog.catalogs(), of_catalog).unwrap_or_else(|| of_catalog.to_string());
        if !schema.eq_ignore_ascii_case(DEFAULT_SCHEMA) {
            return Err(PgError::new("42501", format!("only public tables take rows: table=`{name}`")));
        }
        let known = catalog.tables(&of_catalog, DEFAULT_SCHEMA);
        let Some(table) = own(known.clone(), of_table) else {
            let near = lang::nearest(of_table, known.iter().map(String::as_str));
            let error = PgError::new("42P01", format!("unknown table: table=`{name}`"));
            return Err(PgError { hint: near.map(|near| format!("did you mean `{near}`?")), ..error });
        };
        FullName::new(&of_catalog, NameKind::Table, &table).map_err(|error| PgError::new("42602", error.to_string()))
    }

    fn describe_copy(&mut self, letter: u8, format: CopyFormat, fields: usize) {
        let format = (format == CopyFormat::Binary) as i16;
        self.output.frame(letter, |body| {
            body.put_u8(format as u8);
            body.put_i16(fields as i16);
            (0..fields).for_each(|_| body.put_i16(format));
        });
    }

    pub(super) async fn copy_data(&mut self, bytes: Bytes) -> Done {
        // What comes after an error is not looked at.
        let Some(mut copying) = self.copying.take() else { return Ok(()) };
        copying.rows.push(&bytes)?;
        if copying.rows.rows() >= PIECE_ROWS {
            self.append_piece(&mut copying).await?;
        }
        self.copying = Some(copying);
        Ok(())
    }

    pub(super) async fn copy_done(&mut self) -> Done {
        let Some(mut copying) = self.copying.take() else { return Ok(()) };
        copying.rows.finish()?;
        self.append_piece(&mut copying).await?;
        self.output.complete(&format!("COPY {}", copying.taken));
        if copying.is_extended { Ok(()) } else { self.run_waiting().await }
    }

    async fn append_piece(&mut self, copying: &mut Copying) -> Result<(), PgError> {
        let rows = copying.rows.take()?;
        copying.taken += rows.rows() as u64;
        self.append(copying.table.clone(), rows).await
    }

    pub(super) async fn copy_out(&mut self, copy: &Copy, parameters: Vec<(Type, Scalar)>) -> Done {
        let query = match &copy.of {
            CopyOf::Query(query) => query.as_ref().clone(),
            CopyOf::Table(name, columns) => {
                let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
                let columns: Vec<String> = columns.iter().map(|column| quoted(column)).collect();
                let columns = if columns.is_empty() { "*".to_string() } else { columns.join(", ") };
                let table: Vec<String> = name.split('.').map(quoted).collect();
                let text = format!("SELECT {columns} FROM {}", table.join("."));
                query::statements(&text)
                    .ok()
                    .and_then(|mut statements| statements.pop())
                    .ok_or_else(|| PgError::new("42602", format!("not a table's name: name=`{name}`")))?
            }
        };
        let rows = self.session_of(&query).run_with(query.text.clone(), parameters).await;
        let mut rows = rows.map_err(|error| PgError::of_statement(error, &query))?;
        if rows.insert().is_some() {
            return Err(PgError::new("0A000", "only rows of a query are copied").into());
        }
        let out = CopyOut::new(copy.clone(), rows.fields().to_vec());
        self.describe_copy(b'H', copy.format, rows.fields().len());
        let (mut sent, mut scratch) = (0, BytesMut::new());
        let mut head = BytesMut::new();
        out.head(&mut head);
        // Clients take the head of the binary form with its first row.
        if copy.format != CopyFormat::Binary {
            self.send_copy(&head.split());
        }
        while let Some(batch) = rows.next().await {
            let batch = batch.map_err(|error| PgError::of_statement(error, &query))?;
            let cells = out.cells(&batch);
            for row in 0..batch.num_rows() {
                self.output.frame(b'd', |body| {
                    body.put_slice(&head.split());
                    out.row(&cells, row, &mut scratch, body);
                });
                if row % ROWS_AT_ONCE == 0 {
                    self.output.make_room().await?;
                }
            }
            sent += batch.num_rows();
            self.output.make_room().await?;
        }
        out.foot(&mut head);
        self.send_copy(&head);
        self.output.bare(b'c');
        self.output.complete(&format!("COPY {sent}"));
        Ok(())
    }

    /// Clients take a piece without bytes for the end.
    fn send_copy(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.output.frame(b'd', |body| body.put_slice(bytes));
        }
    }
}
