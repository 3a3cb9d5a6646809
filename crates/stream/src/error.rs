//! What can be wrong with tables, logs and journals.

pub use env::Kind;

/// The result of an operation on a table, a log or a journal.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation was refused or failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] env::Error),
    /// Rows that do not fit, or a dictionary that is full.
    #[error(transparent)]
    Rows(#[from] data::Error),
    /// Rows of another schema than the table's.
    #[error("rows do not fit the table: table=`{table}`, column=`{column}`, wanted=`{wanted}`, found=`{found}`")]
    Schema {
        /// The table.
        table: String,
        /// The column at fault; empty if their number is.
        column: String,
        /// The type, or number of columns, of the table.
        wanted: String,
        /// That of the rows.
        found: String,
    },
    /// A specification that no table can have.
    #[error("bad table: table=`{table}`, {reason}")]
    Spec {
        /// The table.
        table: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A table that is made where one is.
    #[error("table exists: table=`{table}`, folder=`{folder}`")]
    Exists {
        /// The table.
        table: String,
        /// Where it is.
        folder: String,
    },
    /// A sequence number that comes again with other rows.
    #[error("other rows for the same sequence number: table=`{table}`, writer=`{writer}`, seq=`{seq}`")]
    Differs {
        /// The table.
        table: String,
        /// Who wrote.
        writer: String,
        /// The number.
        seq: u64,
    },
    /// A sequence number that is held, its rows being older than what the table keeps.
    #[error("rows of this sequence number are no longer kept: table=`{table}`, writer=`{writer}`, seq=`{seq}`")]
    HeldNoMore {
        /// The table.
        table: String,
        /// Who wrote.
        writer: String,
        /// The number.
        seq: u64,
    },
    /// Offsets that the table does not have, no longer or not yet.
    #[error("no such rows: table=`{table}`, from=`{from}`, to=`{to}`, start=`{start}`, end=`{end}`")]
    Offsets {
        /// The table.
        table: String,
        /// The first offset asked for.
        from: u64,
        /// The one after the last.
        to: u64,
        /// The first offset there is.
        start: u64,
        /// The one after the last.
        end: u64,
    },
    /// A place to cut that lies inside an append, which is whole or not at all.
    #[error("cannot cut inside an append: table=`{table}`, offset=`{offset}`")]
    CutInside {
        /// The table.
        table: String,
        /// The place.
        offset: u64,
    },
    /// A reader of a table that was cut back since.
    #[error("table was cut back: table=`{table}`, era=`{era}`, now=`{now}`, offset=`{offset}`, end=`{end}`")]
    Era {
        /// The table.
        table: String,
        /// The reader's era.
        era: u64,
        /// The table's.
        now: u64,
        /// How far the reader was.
        offset: u64,
        /// The table's end.
        end: u64,
    },
    /// Bytes on disk that are not what was written.
    #[error("damaged: path=`{path}`, place=`{place}`, {reason}")]
    Damaged {
        /// The file or folder.
        path: String,
        /// The byte, counted from the start of the log.
        place: u64,
        /// What is wrong there.
        reason: String,
    },
    /// A file of a version that this build does not read.
    #[error("unknown version: path=`{path}`, version=`{version}`")]
    Version {
        /// The file.
        path: String,
        /// Its version.
        version: u64,
    },
    /// A record larger than a log takes.
    #[error("append too large: bytes=`{bytes}`, limit=`{limit}`")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The greatest size.
        limit: usize,
    },
    /// A log whose last write failed in a way that leaves its end unknown; opening it anew mends it.
    #[error("log is closed since a write failed: folder=`{folder}`")]
    Closed {
        /// The log's folder.
        folder: String,
    },
    /// An entry from an attempt that was replaced by a later one.
    #[error("journal is at a later attempt: journal=`{journal}`, attempt=`{attempt}`, now=`{now}`")]
    Attempt {
        /// The journal.
        journal: u64,
        /// The entry's attempt.
        attempt: u64,
        /// The journal's.
        now: u64,
    },
    /// An entry that does not follow the last one.
    #[error("epoch does not follow the last one: journal=`{journal}`, epoch=`{epoch}`, wanted=`{wanted}`")]
    Epoch {
        /// The journal.
        journal: u64,
        /// The entry's epoch.
        epoch: u64,
        /// The one that comes next.
        wanted: u64,
    },
    /// A journal that was never begun, or is finished.
    #[error("no such journal: journal=`{journal}`")]
    NoJournal {
        /// The journal.
        journal: u64,
    },
}

impl Error {
    /// What the caller can do.
    pub fn kind(&self) -> Kind {
        match self {
            Error::Disk(error) => error.kind(),
            Error::Rows(_) | Error::Schema { .. } | Error::Spec { .. } | Error::TooLarge { .. } => Kind::Invalid,
            Error::CutInside { .. } => Kind::Invalid,
            Error::Exists { .. } | Error::Differs { .. } | Error::Attempt { .. } | Error::Epoch { .. } => {
                Kind::Conflict
            }
            Error::Era { .. } => Kind::Conflict,
            Error::HeldNoMore { .. } | Error::Offsets { .. } | Error::NoJournal { .. } => Kind::NotFound,
            Error::Damaged { .. } | Error::Version { .. } => Kind::Data,
            Error::Closed { .. } => Kind::Unavailable,
        }
    }
}
