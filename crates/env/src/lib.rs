//! Env: the outside world as traits, each with a real and a simulated form, and no word of the domain.
//!
//! Only this crate touches files, the system's clock, chance and the process. Whatever stands above it takes a [`Disk`], a
//! [`Clock`] and a [`Chance`], so that a test can stop the program at any write and set the time by hand.

mod chance;
mod clock;
mod disk;
mod error;
mod folder_lock;
mod process;
mod real_disk;
mod sim_disk;

pub use chance::{Chance, OsChance, SeededChance};
pub use clock::{Clock, RealClock, SimClock};
pub use disk::{Append, Disk};
pub use error::{Error, Kind, Result};
pub use folder_lock::FolderLock;
pub use process::{
    end_with_its_reader, free_bytes, give_way, open_files_max, process_cpu_ns, process_peak_bytes,
    process_resident_bytes, processors,
};
pub use real_disk::RealDisk;
pub use sim_disk::{Kill, SimDisk};
