//! Modules: texts of functions and constants that a script uses.

use super::Interpreter;
use crate::diagnostic::Diagnostic;
use crate::function::Result;
use crate::parser::{Parsed, parse};
use crate::tree::{ExprKind, FunctionDef, StatementKind};
use std::sync::Arc;

/// How many modules may use one another in a row.
pub(crate) const MODULES_MAX: u32 = 16;

impl Interpreter<'_> {
    /// `use path`: the module's functions and constants by their names, and by `path::name`.
    pub(super) fn use_module(&mut self, path: &Arc<str>) -> Result<()> {
        self.use_module_within(path, 0)
    }

    fn use_module_within(&mut self, path: &Arc<str>, within: u32) -> Result<()> {
        if within >= MODULES_MAX {
            return Err(Diagnostic::new(format!("modules use one another: module=`{path}`, levels=`{within}`")));
        }
        let Some(source) = self.host.module(path) else {
            return Err(Diagnostic::new(format!("no such module: module=`{path}`"))
                .help("it is the file of that name beside the script, `::` being a folder"));
        };
        let Parsed { statements, errors } = parse(&source);
        if let Some(error) = errors.into_iter().next() {
            return Err(Diagnostic::new(format!("module has an error: module=`{path}`, error=`{error}`")));
        }
        for statement in &statements {
            match &statement.kind {
                StatementKind::Module(name) if name == path => {}
                StatementKind::Module(name) => {
                    return Err(Diagnostic::new(format!("module has another name: module=`{path}`, found=`{name}`")));
                }
                StatementKind::UseModule(other) => self.use_module_within(other, within + 1)?,
                StatementKind::Def(def) => self.take_in(path, def)?,
                StatementKind::Assign(targets, None, value) if matches!(&targets[..], [target] if matches!(target.kind, ExprKind::Name(_))) =>
                {
                    let ExprKind::Name(name) = &targets[0].kind else { unreachable!("looked at above") };
                    let value = self.eval(value).map_err(|error| Diagnostic::new(error.message))?;
                    self.frame.variables.insert(format!("{path}::{name}").into(), value.clone());
                    self.frame.variables.insert(name.clone(), value);
                }
                _ => {
                    let (line, column) = source.place(statement.span.start);
                    let message = format!("a module holds functions and constants alone: module=`{path}`");
                    return Err(Diagnostic::new(format!("{message}, line=`{line}`, column=`{column}`")));
                }
            }
        }
        Ok(())
    }

    /// Adds a function of a module. Another one of the same name would be called in its place, so there must be none.
    fn take_in(&mut self, path: &str, def: &Arc<FunctionDef>) -> Result<()> {
        let other = self.user_function(&def.name).filter(|known| known.text != def.text);
        if other.is_some() {
            let message = format!("function is defined already: function=`{}`, module=`{path}`", def.name);
            return Err(Diagnostic::new(message).help("give one of them another name"));
        }
        let qualified = FunctionDef { name: format!("{path}::{}", def.name).into(), ..(**def).clone() };
        let functions = Arc::make_mut(&mut self.frame.functions);
        functions.retain(|known| known.name != def.name && known.name != qualified.name);
        functions.extend([def.clone(), Arc::new(qualified)]);
        Ok(())
    }
}
