//! `orca config`: every setting, its value, and where that comes from.

use super::serve::Flags;
use super::{Failure, Format, listing};
use crate::settings::Settings;
use data::Type;
use serde_json::{Value as Json, json};

/// Whose settings.
#[derive(Debug, clap::Args)]
pub struct Config {
    #[command(flatten)]
    flags: Flags,
    /// How they are printed.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// The columns of a list of settings.
pub const COLUMNS: &[listing::Column] =
    &[("setting", Type::String), ("value", Type::String), ("origin", Type::String), ("help", Type::String)];

/// Prints what `orca serve` with the same flags would go by.
pub fn config(arguments: &Config) -> Result<(), Failure> {
    listing::print(arguments.format, COLUMNS, &rows(&arguments.flags.load()?))
}

/// Settings as objects; passwords are hidden.
pub fn rows(settings: &Settings) -> Vec<Json> {
    let row = |(setting, value, origin): (&crate::settings::Setting, &str, &crate::settings::Origin)| json!({ "setting": setting.key, "value": value, "origin": origin.to_string(), "help": setting.help });
    settings.shown().map(row).collect()
}
