//! The checked arguments of a reactive state engine. All that is wrong with them is reported at once.

use crate::arguments::{Arguments, Parameter};
use crate::kind::{Facts, Input, Split};
use data::{Field, Schema, Type};
use lang::{Diagnostic, Metric, Program, RowProgram, Scope};
use std::sync::Arc;

/// The parameters, in the order of the script's call.
pub(crate) static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "metrics",
        required: true,
        summary: "Metacode of columns, row functions and state functions such as mavg or cumsum; each gives one \
            value for each row.",
    },
    Parameter {
        name: "keyColumn",
        required: false,
        summary: "One or several columns; each combination of their values has a state of its own.",
    },
    Parameter {
        name: "filter",
        required: false,
        summary: "Metacode of a condition on the input; only rows that meet it are given out, all change the state.",
    },
    Parameter {
        name: "keepOrder",
        required: false,
        summary: "Accepted for compatibility, without effect: rows always come out in the order they came in.",
    },
    Parameter {
        name: "keyPurgeFilter",
        required: false,
        summary: "Metacode of a condition on the output; keys with rows that meet it are forgotten when they \
            are a tenth of all keys or more.",
    },
    Parameter {
        name: "keyPurgeFreqInSecond",
        required: false,
        summary: "Keys are forgotten only at an append at least so many seconds after the one before; default 0.",
    },
    Parameter {
        name: "keyCapacity",
        required: false,
        summary: "Accepted for compatibility, without effect: room for keys grows by itself.",
    },
    Parameter {
        name: "parallelism",
        required: false,
        summary: "Accepted for compatibility, from 1 to 63, without effect: the graph decides how work is spread.",
    },
];

/// The checked arguments.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) input: Input,
    pub(crate) keys: Vec<usize>,
    /// The metrics, then the filter if there is one.
    metrics: Vec<Metric>,
    pub(crate) filter: bool,
    purge: Option<Metric>,
    pub(crate) purge_every_ms: i64,
    /// The output.
    pub(crate) schema: Arc<Schema>,
}

impl Settings {
    /// Checks the arguments.
    pub(crate) fn bind(arguments: &Arguments, input: &Input) -> Result<Settings, Vec<Diagnostic>> {
        let mut errors = vec![];
        let keys = arguments.columns("keyColumn", &input.schema, &mut errors);
        let mut metrics = arguments.metrics("metrics", &mut errors);
        let filter = arguments.code("filter", &mut errors);
        arguments.boolean("keepOrder", true, &mut errors);
        let purge = arguments.code("keyPurgeFilter", &mut errors);
        let seconds = arguments.integer_within("keyPurgeFreqInSecond", 0, i64::MAX, &mut errors).unwrap_or(0);
        arguments.integer_within("keyCapacity", 1, i64::MAX, &mut errors);
        arguments.integer_within("parallelism", 1, 63, &mut errors);
        for &key in &keys {
            let field = &input.schema.fields()[key];
            if field.ty.element().is_some() {
                let message = format!("cannot be an array vector, column=`{}`, type=`{}`", field.name, field.ty);
                errors.push(arguments.error("keyColumn", message));
            }
        }
        if purge.is_some() && keys.is_empty() {
            errors.push(arguments.error("keyPurgeFilter", "needs keyColumn"));
        }

        let scope = Scope { schema: &input.schema, prefixes: &input.prefixes() };
        let has_filter = filter.is_some();
        metrics.extend(filter);
        let program = match Program::bind(&metrics, &scope) {
            Ok(program) => program,
            Err(more) => {
                errors.extend(more);
                return Err(errors);
            }
        };
        let mut fields = program.fields().to_vec();
        if has_filter {
            condition("filter", arguments, fields.pop(), &mut errors);
        }
        let keys_first = keys.iter().map(|&key| input.schema.fields()[key].clone());
        let schema = match Schema::new(keys_first.chain(fields).collect()) {
            Ok(schema) => Arc::new(schema),
            Err(error) => {
                errors.push(Diagnostic::at(arguments.span("metrics"), error.to_string()));
                return Err(errors);
            }
        };
        if let Some(purge) = &purge {
            match RowProgram::bind(std::slice::from_ref(purge), &Scope::of(&schema)) {
                Ok(program) => condition("keyPurgeFilter", arguments, program.fields().first().cloned(), &mut errors),
                Err(more) => errors.extend(more),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(Settings {
            input: input.clone(),
            keys,
            metrics,
            filter: has_filter,
            purge,
            purge_every_ms: seconds.saturating_mul(1_000),
            schema,
        })
    }

    /// The metrics and the filter, bound anew with empty state.
    pub(crate) fn program(&self) -> Program {
        let scope = Scope { schema: &self.input.schema, prefixes: &self.input.prefixes() };
        Program::bind(&self.metrics, &scope).expect("bound once when the arguments were checked")
    }

    /// The purge filter, bound anew to the output.
    pub(crate) fn purge_program(&self) -> Option<RowProgram> {
        let purge = self.purge.as_ref()?;
        let scope = Scope::of(&self.schema);
        Some(RowProgram::bind(std::slice::from_ref(purge), &scope).expect("bound once when the arguments were checked"))
    }

    /// What a planner must know.
    pub(crate) fn facts(&self) -> Facts {
        let names = self.keys.iter().map(|&key| self.input.schema.fields()[key].name.to_string()).collect();
        let split = if self.keys.is_empty() {
            Split::Never("without keyColumn all rows share one state".into())
        } else if self.purge.is_some() {
            Split::Never("keyPurgeFilter counts the keys of all rows".into())
        } else {
            Split::By(names)
        };
        let purges = self.purge.is_some();
        Facts { split, reads_clock: purges, reads_batches: purges, reads_arrival: false }
    }
}

fn condition(name: &str, arguments: &Arguments, field: Option<Field>, errors: &mut Vec<Diagnostic>) {
    if let Some(field) = field.filter(|field| field.ty != Type::Bool) {
        errors.push(arguments.error(name, format!("must be a condition, type=`{}`", field.ty)));
    }
}
