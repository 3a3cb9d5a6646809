//! Why a file could not be read.

use std::path::Path;

/// The result of reading a file.
pub type Result<T> = std::result::Result<T, Error>;

/// What the caller can do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Give another file or schema.
    Invalid,
    /// Name a file or column that exists.
    NotFound,
    /// Mend the file.
    Data,
}

/// Why a file could not be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A file that cannot be opened or read on.
    #[error("cannot read file: {reason}, file=`{file}`")]
    Open {
        /// The file.
        file: String,
        /// What the system says.
        reason: String,
    },
    /// A file of no kind that is read here.
    #[error("unknown kind of file: file=`{file}`, known=`.csv, .csv.zst, .jsonl, .jsonl.zst, .parquet`")]
    Format {
        /// The file.
        file: String,
    },
    /// A column that the schema has and the file has not.
    #[error("missing column: column=`{column}`, file=`{file}`, columns of the file=`{known}`{near}")]
    MissingColumn {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// The columns the file has.
        known: String,
        /// A mend: the name that may be meant.
        near: String,
    },
    /// A column of rows that the table has not.
    #[error("unknown column: column=`{column}`, of=`{file}`, known=`{known}`{near}")]
    UnknownColumn {
        /// What the rows are of.
        file: String,
        /// The column.
        column: String,
        /// The columns there are.
        known: String,
        /// A mend: the name that may be meant.
        near: String,
    },
    /// A value that is none of its column's type.
    #[error("not a {ty} value: value=`{value}`, column=`{column}`, row=`{row}`, file=`{file}`")]
    Value {
        /// The file.
        file: String,
        /// The line of a text file, the row of others; both from 1.
        row: u64,
        /// The column.
        column: String,
        /// The value, as the file has it.
        value: String,
        /// The type wanted.
        ty: String,
    },
    /// Rows that do not go into the table.
    #[error("rows do not fit: {reason}, file=`{file}`")]
    Unfit {
        /// The file.
        file: String,
        /// Why, and where.
        reason: String,
    },
    /// A file that breaks the rules of its format.
    #[error("malformed file: {reason}, file=`{file}`")]
    Malformed {
        /// The file.
        file: String,
        /// What is wrong, and where.
        reason: String,
    },
    /// A column whose values are of a kind that the wanted type cannot take.
    #[error("column cannot be read: column=`{column}`, wanted=`{wanted}`, found=`{found}`, file=`{file}`")]
    Type {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// The type wanted.
        wanted: String,
        /// The type found.
        found: String,
    },
    /// A merge by a column that orders nothing.
    #[error("cannot merge by this column: column=`{column}`, {reason}")]
    Interleave {
        /// The column.
        column: String,
        /// Why.
        reason: String,
    },
    /// Data that do not go together.
    #[error("{error}, file=`{file}`")]
    Data {
        /// The file.
        file: String,
        /// What is wrong.
        error: data::Error,
    },
}

impl Error {
    /// What the caller can do.
    pub fn kind(&self) -> Kind {
        match self {
            Error::Open { .. } | Error::MissingColumn { .. } | Error::UnknownColumn { .. } => Kind::NotFound,
            Error::Format { .. } | Error::Type { .. } | Error::Interleave { .. } => Kind::Invalid,
            Error::Value { .. } | Error::Unfit { .. } | Error::Malformed { .. } | Error::Data { .. } => Kind::Data,
        }
    }

    pub(crate) fn open(path: &Path, reason: impl std::fmt::Display) -> Error {
        Error::Open { file: path.display().to_string(), reason: reason.to_string().to_lowercase() }
    }

    /// An error unless the schema has the column.
    pub(crate) fn known(file: &str, column: &str, schema: &data::Schema) -> Result<()> {
        if schema.index_of(column).is_some() {
            return Ok(());
        }
        let known = schema.names();
        let near = lang::nearest(column, known.iter().map(String::as_str));
        Err(Error::UnknownColumn {
            file: file.to_string(),
            column: column.to_string(),
            near: near.map_or(String::new(), |near| format!(" (did you mean `{near}`?)")),
            known: known.join(", "),
        })
    }

    pub(crate) fn missing(file: &str, column: &str, known: &[String]) -> Error {
        let near = lang::nearest(column, known.iter().map(String::as_str));
        Error::MissingColumn {
            file: file.to_string(),
            column: column.to_string(),
            known: known.join(", "),
            near: near.map_or(String::new(), |near| format!(" (did you mean `{near}`?)")),
        }
    }
}
