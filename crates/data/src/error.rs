//! What can be wrong with data.

/// The result of a data operation.
pub type Result<T> = std::result::Result<T, Error>;

/// Why data were refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A text that is no value of the type.
    #[error("not a {ty} value: text=`{text}`")]
    Parse {
        /// The text found.
        text: String,
        /// The type wanted, as the script language writes it.
        ty: String,
    },
    /// A value outside the range of its type.
    #[error("value out of range: value=`{value}`, type=`{ty}`")]
    Range {
        /// The value.
        value: String,
        /// The type whose range it leaves.
        ty: String,
    },
    /// Two columns or schemas that ought to be alike and are not.
    #[error("type mismatch: wanted=`{wanted}`, found=`{found}`")]
    Type {
        /// What was wanted.
        wanted: String,
        /// What was found.
        found: String,
    },
    /// Columns of one batch with different numbers of rows.
    #[error("columns of different length: column=`{column}`, rows=`{rows}`, wanted=`{wanted}`")]
    Length {
        /// The column at fault.
        column: String,
        /// Its rows.
        rows: usize,
        /// The rows of the columns before it.
        wanted: usize,
    },
    /// Two columns of one name (names know no case).
    #[error("duplicate column: column=`{column}`")]
    DuplicateColumn {
        /// The name.
        column: String,
    },
    /// A dictionary that may not grow any more.
    #[error("too many distinct symbols: limit=`{limit}`; use STRING for a column of this kind")]
    DictionaryFull {
        /// The greatest number of entries.
        limit: usize,
    },
    /// A table written as text that cannot be read.
    #[error("bad text table: line=`{line}`, {reason}")]
    TextTable {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}
