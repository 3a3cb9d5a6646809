//! What can go wrong outside.

/// The result of an operation on the outside world.
pub type Result<T> = std::result::Result<T, Error>;

/// What the caller can do about an error. Every error of the program has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The request is wrong and will be wrong again.
    Invalid,
    /// The caller may not do it.
    Denied,
    /// What it speaks of is not there.
    NotFound,
    /// It clashes with what is there.
    Conflict,
    /// It may go well later.
    Unavailable,
    /// Stored data are damaged or unreadable.
    Data,
    /// The program is wrong.
    Internal,
}

/// Why the outside world did not do as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No file of this path.
    #[error("no such file: path=`{path}`")]
    NotFound {
        /// The path below the disk's root.
        path: String,
    },
    /// A path that leaves the disk's root or names nothing.
    #[error("bad path: path=`{path}`")]
    Path {
        /// The path as given.
        path: String,
    },
    /// The operating system refused.
    #[error("disk failed: action=`{action}`, path=`{path}`, reason=`{reason}`")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The path below the disk's root.
        path: String,
        /// What the operating system said.
        reason: String,
    },
    /// A folder that another process holds.
    #[error("folder is in use by another process: folder=`{folder}`")]
    InUse {
        /// The folder.
        folder: String,
    },
    /// The simulated process is dead: nothing it does has an effect any more.
    #[error("the simulated process was killed")]
    Killed,
}

impl Error {
    /// What the caller can do.
    pub fn kind(&self) -> Kind {
        match self {
            Error::NotFound { .. } => Kind::NotFound,
            Error::Path { .. } => Kind::Invalid,
            Error::Io { .. } | Error::InUse { .. } | Error::Killed => Kind::Unavailable,
        }
    }
}
