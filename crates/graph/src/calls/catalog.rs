//! Calls on catalogs.

use super::{Call, Desk, FunctionCall, needed};
use crate::name::check_part;
use engine::Arguments;
use lang::{Diagnostic, Value};

pub(super) static FUNCTIONS: &[FunctionCall] = &[
    Call {
        name: "existsCatalog",
        parameters: &[needed("name", "the catalog's name")],
        summary: "Whether a catalog exists. Names of catalogs know no case.",
        run: |desk, args| {
            let catalog = name(args)?;
            Ok(Value::bool(desk.platform.catalog_exists(&catalog)))
        },
    },
    Call {
        name: "createCatalog",
        parameters: &[needed("name", "the catalog's name")],
        summary: "Creates a catalog: a space of names for graphs, tables and engines.",
        run: |desk, args| {
            let catalog = name(args)?;
            check_part(&catalog).map_err(|error| Diagnostic::at(args.span("name"), error.to_string()))?;
            if desk.platform.catalog_exists(&catalog) {
                return Err(args.error("name", format!("is a catalog already: catalog=`{catalog}`")));
            }
            desk.platform.create_catalog(&catalog)?;
            Ok(Value::NULL)
        },
    },
    Call {
        name: "dropCatalog",
        parameters: &[needed("name", "the catalog's name")],
        summary: "Drops a catalog and the graphs in it.",
        run: drop_catalog,
    },
];

fn name(args: &Arguments) -> Result<String, Diagnostic> {
    let mut errors = vec![];
    let text = args.text("name", &mut errors).map(|text| text.to_string());
    text.ok_or_else(|| errors.pop().unwrap_or_else(|| args.error("name", "is missing")))
}

fn drop_catalog(desk: &mut Desk, args: &Arguments) -> Result<Value, Diagnostic> {
    let catalog = name(args)?;
    if !desk.platform.catalog_exists(&catalog) {
        return Err(args.error("name", format!("is no catalog: catalog=`{catalog}`")));
    }
    desk.platform.drop_catalog(&catalog)?;
    if desk.catalog.as_ref().is_some_and(|current| current.to_lowercase() == catalog.to_lowercase()) {
        *desk.catalog = None;
    }
    Ok(Value::NULL)
}
