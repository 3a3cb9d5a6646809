//! `orca eval`: one expression of the script language.

use super::{Failure, Format};
use crate::embedded::{Embedded, Options};

/// What is evaluated.
#[derive(Debug, clap::Args)]
pub struct Eval {
    /// The expression.
    #[arg(allow_hyphen_values = true)]
    expression: String,
    /// How the value is printed: `json` gives a vector as an array and NULL as null.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Evaluates it and prints the value.
pub fn eval(arguments: &Eval) -> Result<(), Failure> {
    let orca = Embedded::open(&Options::default())?;
    let source = lang::Source::new("expression", arguments.expression.as_str());
    let value = orca.run_script(&source)?;
    match arguments.format {
        Format::Json => {
            let mut text = String::new();
            query::format::json_value(&value, &mut text);
            println!("{text}");
        }
        Format::Table | Format::Csv => println!("{value}"),
    }
    orca.close();
    Ok(())
}
