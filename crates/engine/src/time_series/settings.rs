//! The checked arguments of a time-series engine. All that is wrong with them is reported at once.

use super::grid::Grid;
use crate::arguments::{Arguments, Parameter};
use crate::duration::to_millis;
use crate::kind::{Facts, Input, Split};
use crate::typed_arguments::{elements, kind_of};
use data::{Field, Scalar, Schema, Type};
use lang::{Diagnostic, Metric, Scope, Value, WindowProgram};
use std::sync::Arc;

/// No length may be greater, so that sums of times and lengths stay far from the ends of 64 bits.
const LENGTH_MAX: i64 = 1 << 57;

/// The parameters, in the order of the script's call.
pub(crate) static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "windowSize",
        required: true,
        summary: "Length of a window, in the unit of the time column or as a DURATION; a vector for several \
            windows at once.",
    },
    Parameter {
        name: "step",
        required: true,
        summary: "Distance from one window to the next; each windowSize must be a multiple of it.",
    },
    Parameter {
        name: "metrics",
        required: true,
        summary: "Metacode of aggregates over the rows of a window; for several windows a tuple with one list \
            for each.",
    },
    Parameter {
        name: "timeColumn",
        required: false,
        summary: "Column with the time of a row, or a DATE column and one with the time of day; needed unless \
            useSystemTime is true.",
    },
    Parameter {
        name: "useSystemTime",
        required: false,
        summary: "true: a row's time is the clock when it arrives, in milliseconds, and windows close by the \
            clock; default false.",
    },
    Parameter {
        name: "keyColumn",
        required: false,
        summary: "One or several columns whose values group the rows; array-vector columns group by each of \
            their elements.",
    },
    Parameter {
        name: "updateTime",
        required: false,
        summary: "Also gives the current result of an open window after this length of time; 0: after each append.",
    },
    Parameter {
        name: "useWindowStartTime",
        required: false,
        summary: "true: the output's time is the start of the window; default false, its end.",
    },
    Parameter {
        name: "roundTime",
        required: false,
        summary: "How the first window is aligned when the step is longer than a minute: true (default) to \
            longer units, false to minutes.",
    },
    Parameter {
        name: "fill",
        required: false,
        summary: "What empty windows give: 'none' (default, nothing), 'null', 'ffill' (the last result), a \
            value, or one of these for each metric.",
    },
    Parameter {
        name: "forceTriggerTime",
        required: false,
        summary: "A window of a silent key is closed by rows of other keys that are this much later than its end.",
    },
    Parameter {
        name: "keyPurgeFreqInSecond",
        required: false,
        summary: "At an append at least so many seconds after the last purge, keys without an open window are \
            forgotten; needs forceTriggerTime.",
    },
    Parameter {
        name: "closed",
        required: false,
        summary: "Which end of a window belongs to it: 'left' (default) or 'right'.",
    },
    Parameter {
        name: "subWindow",
        required: false,
        summary: "A pair: only rows from the first to the second distance from the window's start are counted.",
    },
    Parameter {
        name: "parallelism",
        required: false,
        summary: "Accepted for compatibility, from 1 to 63, without effect: the graph decides how work is spread.",
    },
    Parameter {
        name: "acceptedDelay",
        required: false,
        summary: "A window stays open for rows out of order until a row arrives that is this much later than its end.",
    },
];

/// Where a row's time comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TimeSource {
    /// A column.
    Column(usize),
    /// A DATE column and one with the time of day.
    Pair(usize, usize),
    /// The clock of the journal.
    Clock,
}

/// When an open window gives its current result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Update {
    /// Not before it closes.
    Never,
    /// After each append, for the keys it touched.
    EachAppend,
    /// After each slice of this length; rows wait no longer than so many milliseconds.
    Slices { length: i64, wait_ms: i64 },
}

/// What a metric of an empty window gives.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fill {
    /// NULL.
    Null,
    /// The result of the last window that was not empty.
    Previous,
    /// A constant of the metric's type.
    Value(Scalar),
}

/// The checked arguments.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// The input as metrics see it: array vectors as their elements, where rows are flattened.
    pub(crate) input: Input,
    /// Is a row counted once for each element of its array vectors?
    pub(crate) flatten: bool,
    pub(crate) time: TimeSource,
    pub(crate) time_type: Type,
    pub(crate) keys: Vec<usize>,
    /// Names of the key columns by which rows may be split.
    pub(crate) split_by: Vec<String>,
    /// The length of each window.
    pub(crate) windows: Vec<i64>,
    pub(crate) grid: Grid,
    pub(crate) metrics: Vec<Vec<Metric>>,
    pub(crate) update: Update,
    pub(crate) label_start: bool,
    /// By metric column; `None` if empty windows give nothing.
    pub(crate) fill: Option<Vec<Fill>>,
    pub(crate) force: Option<i64>,
    pub(crate) purge_ms: Option<i64>,
    pub(crate) closed_right: bool,
    pub(crate) sub_window: Option<(i64, i64)>,
    pub(crate) delay: i64,
    /// The output.
    pub(crate) schema: Arc<Schema>,
}

impl Settings {
    /// Checks the arguments.
    pub(crate) fn bind(arguments: &Arguments, input: &Input) -> Result<Settings, Vec<Diagnostic>> {
        let mut errors = vec![];
        let schema = &input.schema;
        let system = arguments.boolean("useSystemTime", false, &mut errors);
        let (time, time_type, time_name) = bind_time(arguments, schema, system, &mut errors);
        let keys = arguments.columns("keyColumn", schema, &mut errors);
        let (windows, step, several) = bind_windows(arguments, time_type, &mut errors);
        let metrics = bind_metrics(arguments, &windows, several, &mut errors);
        let update_time = bind_length(arguments, "updateTime", time_type, &mut errors);
        let label_start = arguments.boolean("useWindowStartTime", false, &mut errors);
        let round_time = arguments.boolean("roundTime", true, &mut errors);
        let force = bind_length(arguments, "forceTriggerTime", time_type, &mut errors);
        let purge = arguments.integer("keyPurgeFreqInSecond", &mut errors).filter(|&seconds| seconds != -1);
        let delay = bind_length(arguments, "acceptedDelay", time_type, &mut errors).unwrap_or(0);
        arguments.integer_within("parallelism", 1, 63, &mut errors);
        let closed_right = match arguments.text("closed", &mut errors).as_deref() {
            None | Some("left") => false,
            Some("right") => true,
            Some(other) => {
                errors.push(arguments.error("closed", format!("must be 'left' or 'right', given=`{other}`")));
                false
            }
        };
        let sub_window = bind_sub_window(arguments, time_type, windows.first().copied(), &mut errors);

        let mut refuse = |wrong: bool, name: &str, why: &str| {
            if wrong {
                errors.push(arguments.error(name, why));
            }
        };
        refuse(several && label_start, "useWindowStartTime", "must be false when windowSize is a vector");
        if let Some(update) = update_time {
            refuse(system, "updateTime", "cannot be given when useSystemTime is true");
            let slices = update == 0 || step.is_none_or(|step| step % update == 0);
            refuse(!slices, "updateTime", "must divide step without a rest");
            refuse(force.is_some(), "updateTime", "cannot be given together with forceTriggerTime");
        }
        refuse(force.is_some() && system, "forceTriggerTime", "cannot be given when useSystemTime is true");
        if let Some(seconds) = purge {
            refuse(seconds <= 0, "keyPurgeFreqInSecond", "must be a positive number of seconds, or -1 for never");
            refuse(force.is_none(), "keyPurgeFreqInSecond", "needs forceTriggerTime");
            refuse(keys.is_empty(), "keyPurgeFreqInSecond", "needs keyColumn");
            refuse(fills(arguments), "keyPurgeFreqInSecond", "cannot be given together with fill");
        }
        if sub_window.is_some() {
            let overlap = several || step.is_some_and(|step| windows.first().is_some_and(|&window| window != step));
            refuse(overlap, "subWindow", "needs windowSize to be equal to step");
            refuse(
                update_time.is_some_and(|update| update > 0),
                "subWindow",
                "cannot be given together with updateTime",
            );
            refuse(system, "subWindow", "cannot be given when useSystemTime is true");
        }
        if delay > 0 {
            refuse(force.is_some(), "acceptedDelay", "cannot be given together with forceTriggerTime");
            refuse(update_time.is_some(), "acceptedDelay", "cannot be given together with updateTime");
            let too_long = system && windows.iter().any(|&window| delay > window);
            refuse(too_long, "acceptedDelay", "cannot be longer than windowSize when useSystemTime is true");
        }

        let flatten = keys.iter().any(|&key| schema.fields()[key].ty.element().is_some());
        let input_schema = if flatten { flattened(schema) } else { schema.clone() };
        let scope = Scope { schema: &input_schema, prefixes: &input.prefixes() };
        let program = match WindowProgram::bind(&metrics, &scope) {
            Ok(program) => program,
            Err(more) => {
                errors.extend(more);
                return Err(errors);
            }
        };
        let metric_fields: Vec<Field> = (0..metrics.len()).flat_map(|group| program.fields(group).to_vec()).collect();
        let fill = bind_fill(arguments, &metric_fields, &mut errors);
        let key_fields = keys.iter().map(|&key| input_schema.fields()[key].clone());
        let fields = [Field::new(time_name, time_type)].into_iter().chain(key_fields).chain(metric_fields);
        let output = Schema::new(fields.collect());
        if let Err(error) = &output {
            errors.push(Diagnostic::at(arguments.span("metrics"), error.to_string()));
        }
        let (Some(step), Ok(output), true) = (step, output, errors.is_empty()) else { return Err(errors) };

        let update = match update_time {
            None => Update::Never,
            Some(0) => Update::EachAppend,
            Some(length) => Update::Slices { length, wait_ms: to_millis(2 * length, time_type).max(2_000) },
        };
        let pane = if let Update::Slices { length, .. } = update { length } else { step };
        // The end of a sub-window is what closes; the grid of windows is moved there.
        let offset = sub_window.map_or(0, |(_, end)| end - step);
        let plain = |key: &&usize| schema.fields()[**key].ty.element().is_none();
        Ok(Settings {
            split_by: keys.iter().filter(plain).map(|&key| schema.fields()[key].name.to_string()).collect(),
            input: Input { schema: input_schema, name: input.name.clone() },
            flatten,
            time,
            time_type,
            keys,
            windows,
            grid: Grid::new(time_type, step, pane, round_time, offset),
            metrics,
            update,
            label_start,
            fill,
            force,
            purge_ms: purge.map(|seconds| seconds.saturating_mul(1_000)),
            closed_right,
            sub_window,
            delay,
            schema: Arc::new(output),
        })
    }

    /// The metrics, bound anew with empty state.
    pub(crate) fn program(&self) -> WindowProgram {
        let scope = Scope { schema: &self.input.schema, prefixes: &self.input.prefixes() };
        WindowProgram::bind(&self.metrics, &scope).expect("bound once when the arguments were checked")
    }

    /// What a planner must know.
    pub(crate) fn facts(&self) -> Facts {
        let never = |why: &str| Split::Never(why.to_string());
        let split = if self.keys.is_empty() {
            never("without keyColumn all rows are one group")
        } else if self.split_by.is_empty() {
            never("array-vector key columns group by elements, not by rows")
        } else if self.force.is_some() {
            never("with forceTriggerTime rows of one key close windows of others")
        } else if !self.grid.is_fixed() {
            never(
                "the window grid hangs on the first row of the whole stream, because step does not divide its \
                    alignment",
            )
        } else {
            Split::By(self.split_by.clone())
        };
        let timers = matches!(self.update, Update::Slices { .. });
        Facts {
            split,
            reads_clock: self.time == TimeSource::Clock || timers || self.purge_ms.is_some(),
            reads_batches: self.update == Update::EachAppend,
            reads_arrival: false,
        }
    }
}

/// The time's source, its type, and the name of the output's time column. After an error a guess, so that the other
/// arguments can be checked.
fn bind_time(
    arguments: &Arguments,
    schema: &Schema,
    system: bool,
    errors: &mut Vec<Diagnostic>,
) -> (TimeSource, Type, Arc<str>) {
    let unknown = (TimeSource::Clock, Type::Timestamp, "timestamp".into());
    if system {
        let name = arguments.get("timeColumn").and_then(|_| arguments.text("timeColumn", errors));
        return (TimeSource::Clock, Type::Timestamp, name.unwrap_or(unknown.2));
    }
    if arguments.get("timeColumn").is_none() {
        errors.push(arguments.error("timeColumn", "must be given unless useSystemTime is true"));
        return unknown;
    }
    let before = errors.len();
    let columns = arguments.columns("timeColumn", schema, errors);
    let fields: Vec<&Field> = columns.iter().map(|&column| &schema.fields()[column]).collect();
    match (columns.as_slice(), fields.as_slice()) {
        _ if errors.len() > before => unknown,
        (&[column], [field]) if field.ty.is_temporal() => (TimeSource::Column(column), field.ty, field.name.clone()),
        (&[date, time], [date_field, time_field]) => {
            let ty = match (date_field.ty, time_field.ty) {
                (Type::Date, Type::Second) => Some(Type::Datetime),
                (Type::Date, Type::Time) => Some(Type::Timestamp),
                (Type::Date, Type::Nanotime) => Some(Type::Nanotimestamp),
                _ => None,
            };
            if ty.is_none() {
                let message = format!(
                    "of two columns must be DATE with SECOND, TIME or NANOTIME, given=`{} {}, {} {}`",
                    date_field.name, date_field.ty, time_field.name, time_field.ty
                );
                errors.push(arguments.error("timeColumn", message));
            }
            (TimeSource::Pair(date, time), ty.unwrap_or(unknown.1), "concatDateTime".into())
        }
        (_, [field]) => {
            let message = format!("must be of a temporal type, column=`{}`, type=`{}`", field.name, field.ty);
            errors.push(arguments.error("timeColumn", message));
            unknown
        }
        _ => {
            let message = format!("must be one column or a DATE and a time column, given=`{}`", fields.len());
            errors.push(arguments.error("timeColumn", message));
            unknown
        }
    }
}

/// Window lengths, step, and whether windowSize is a vector.
fn bind_windows(arguments: &Arguments, unit: Type, errors: &mut Vec<Diagnostic>) -> (Vec<i64>, Option<i64>, bool) {
    let step = arguments.length("step", unit, errors);
    let windows = arguments.lengths("windowSize", unit, errors);
    let positive = |name: &str, length: i64, errors: &mut Vec<Diagnostic>| {
        let good = length > 0 && length <= LENGTH_MAX;
        if !good {
            let bound = if length > 0 { "is too long" } else { "must be greater than 0" };
            errors.push(arguments.error(name, format!("{bound}, given=`{length}`")));
        }
        good
    };
    let step = step.filter(|&step| positive("step", step, errors));
    for &window in &windows {
        if positive("windowSize", window, errors)
            && let Some(step) = step.filter(|step| window % step != 0)
        {
            let message = format!("must be a multiple of step, windowSize=`{window}`, step=`{step}`");
            errors.push(arguments.error("windowSize", message));
        }
    }
    let several = matches!(arguments.get("windowSize"), Some(Value::Vector(_) | Value::Tuple(_)));
    if several && windows.is_empty() && errors.is_empty() {
        errors.push(arguments.error("windowSize", "must hold at least one length"));
    }
    (windows, step, several)
}

fn bind_metrics(
    arguments: &Arguments,
    windows: &[i64],
    several: bool,
    errors: &mut Vec<Diagnostic>,
) -> Vec<Vec<Metric>> {
    let single = !several || windows.len() == 1;
    if single {
        return vec![arguments.metrics("metrics", errors)];
    }
    let groups = arguments.metric_groups("metrics", errors);
    if groups.len() != windows.len() && !windows.is_empty() {
        let message = format!(
            "must have one list for each windowSize, windowSize=`{}`, metrics=`{}`",
            windows.len(),
            groups.len()
        );
        errors.push(arguments.error("metrics", message));
    }
    groups
}

/// A length that may be 0.
fn bind_length(arguments: &Arguments, name: &str, unit: Type, errors: &mut Vec<Diagnostic>) -> Option<i64> {
    let length = arguments.length(name, unit, errors)?;
    if !(0..=LENGTH_MAX).contains(&length) {
        let bound = if length < 0 { "must not be negative" } else { "is too long" };
        errors.push(arguments.error(name, format!("{bound}, given=`{length}`")));
        return None;
    }
    Some(length)
}

fn bind_sub_window(
    arguments: &Arguments,
    unit: Type,
    window: Option<i64>,
    errors: &mut Vec<Diagnostic>,
) -> Option<(i64, i64)> {
    let value = arguments.get("subWindow")?;
    let Value::Pair(start, end) = value else {
        let message = format!("must be a pair such as 0s:10s, given=`{}`", kind_of(value));
        errors.push(arguments.error("subWindow", message));
        return None;
    };
    let start = arguments.length_of("subWindow", start, unit, errors)?;
    let end = arguments.length_of("subWindow", end, unit, errors)?;
    if start < 0 || end <= start || window.is_some_and(|window| end > window) {
        let message = format!("must lie within the window and not be empty, subWindow=`{start}:{end}`");
        errors.push(arguments.error("subWindow", message));
        return None;
    }
    Some((start, end))
}

/// Does `fill` ask for anything?
fn fills(arguments: &Arguments) -> bool {
    arguments.get("fill").is_some_and(|value| word(value) != Some("none"))
}

fn word(value: &Value) -> Option<&str> {
    match value {
        Value::Scalar(ty, Scalar::Text(text)) if ty.is_text() => Some(text),
        _ => None,
    }
}

fn bind_fill(arguments: &Arguments, fields: &[Field], errors: &mut Vec<Diagnostic>) -> Option<Vec<Fill>> {
    let value = arguments.get("fill").filter(|_| fills(arguments))?;
    let list = matches!(value, Value::Vector(_) | Value::Tuple(_));
    let values = if list { elements(value) } else { vec![value.clone(); fields.len()] };
    if values.len() != fields.len() {
        let message =
            format!("must have one value for each metric, fill=`{}`, metrics=`{}`", values.len(), fields.len());
        errors.push(arguments.error("fill", message));
        return None;
    }
    let mut fill = vec![];
    for (value, field) in values.iter().zip(fields) {
        match word(value) {
            Some("null") => fill.push(Fill::Null),
            Some("ffill") => fill.push(Fill::Previous),
            Some("none") => errors.push(arguments.error("fill", "cannot be 'none' for one metric of a list")),
            _ => match constant(value, field.ty) {
                Some(value) => fill.push(Fill::Value(value)),
                None => {
                    let (name, ty, given) = (&field.name, field.ty, kind_of(value));
                    let message = format!(
                        "must be 'none', 'null', 'ffill' or a value of the metric's type, metric=`{name}`, \
                            type=`{ty}`, given=`{given}`"
                    );
                    errors.push(arguments.error("fill", message));
                }
            },
        }
    }
    Some(fill)
}

/// A constant as a value of this type, if it is one.
fn constant(value: &Value, wanted: Type) -> Option<Scalar> {
    let Value::Scalar(ty, scalar) = value else { return None };
    match scalar {
        Scalar::Null => Some(Scalar::Null),
        Scalar::Int(_) if ty.is_integer() && wanted.is_float() => scalar.as_f64().map(Scalar::Float),
        Scalar::Int(_) if ty.is_integer() && wanted.is_integer() => Some(scalar.clone()),
        Scalar::Float(_) if wanted.is_float() => Some(scalar.clone()),
        Scalar::Float(_) if wanted.is_integer() => scalar.as_i64().map(Scalar::Int),
        Scalar::Text(_) if wanted.is_text() => Some(scalar.clone()),
        _ if *ty == wanted => Some(scalar.clone()),
        _ => None,
    }
}

/// The columns when each row is counted once for each element of its array vectors.
fn flattened(schema: &Schema) -> Arc<Schema> {
    let element = |field: &Field| Field::new(field.name.clone(), field.ty.element().unwrap_or(field.ty));
    Arc::new(Schema::new(schema.fields().iter().map(element).collect()).expect("the names did not change"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{Columns, bind, refuse};

    const TRADES: Columns = &[("time", Type::Timestamp), ("sym", Type::Symbol), ("volume", Type::Int)];

    #[test]
    fn wrong_arguments_are_refused_all_at_once() {
        let call = |arguments: &str| format!("timeSeriesEngine({arguments})");
        let refuse = |arguments: &str, words: &[&str]| refuse(TRADES, &call(arguments), words);
        refuse("50000, 60000, <[sum(volume)]>, `time", &["windowSize must be a multiple of step"]);
        refuse("\"minute\", 60000, <[sum(volume)]>, `time", &["windowSize must be an integer or a DURATION", "STRING"]);
        refuse("0, 60000, <[sum(volume)]>, `time", &["windowSize must be greater than 0"]);
        refuse("60000, -1, <[sum(volume)]>, `time", &["step must be greater than 0"]);
        refuse("60000, 60000, <[sum(volume)]>, `tine", &["unknown column: column=`tine`", "did you mean `time`"]);
        refuse("60000, 60000, <[sum(volume)]>, `time, false, `sin", &["unknown column: column=`sin`"]);
        refuse("60000, 60000, <[sum(volume)]>, `sym", &["timeColumn must be of a temporal type, column=`sym`"]);
        refuse("60000, 60000, <[sum(volume)]>", &["timeColumn must be given"]);
        refuse(
            "60000, 60000, <[sum(volume)]>, `time, false, `sym, updateTime=1000, forceTriggerTime=1000",
            &["updateTime cannot be given together with forceTriggerTime"],
        );
        refuse("60000, 60000, <[sum(volume)]>, `time, updateTime=7", &["updateTime must divide step"]);
        refuse("60000, 60000, <[sum(volume)]>, `time, true, updateTime=0", &["updateTime", "useSystemTime"]);
        refuse(
            "60000, 60000, <[sum(volume)]>, `time, true, forceTriggerTime=0",
            &["forceTriggerTime", "useSystemTime"],
        );
        refuse(
            "60000, 60000, <[sum(volume), count(volume)]>, `time, fill=[0]",
            &["fill must have one value for each metric"],
        );
        refuse("60000, 60000, <[sum(volume)]>, `time, fill=`zero", &["fill must be"]);
        refuse("60000, 60000, <[sum(volume)]>, `time, fill=[\"none\"]", &["fill cannot be 'none'"]);
        refuse(
            "[60000, 120000], 60000, (<[sum(volume)]>, <[count(volume)]>, <[sum(volume) as c]>), `time",
            &["metrics must have one list for each windowSize"],
        );
        refuse(
            "[60000, 120000], 60000, (<[sum(volume)]>, <[count(volume)]>), `time, useWindowStartTime=true",
            &["useWindowStartTime must be false"],
        );
        refuse("60000, 60000, <[sum(volume)]>, `time, keyPurgeFreqInSecond=10", &["needs forceTriggerTime"]);
        refuse(
            "60000, 60000, <[sum(volume)]>, `time, forceTriggerTime=1, fill=`null, keyPurgeFreqInSecond=10",
            &["keyPurgeFreqInSecond cannot be given together with fill"],
        );
        refuse(
            "120000, 60000, <[sum(volume)]>, `time, subWindow=0:10",
            &["subWindow needs windowSize to be equal to step"],
        );
        refuse("60000, 60000, <[sum(volume)]>, `time, subWindow=10:5", &["subWindow must lie within the window"]);
        refuse(
            "60000, 60000, <[sum(volume)]>, `time, forceTriggerTime=1, acceptedDelay=1",
            &["acceptedDelay cannot be given together with forceTriggerTime"],
        );
        refuse("60000, 60000, <[sum(volume)]>, , true, acceptedDelay=60001", &["acceptedDelay cannot be longer"]);
        refuse("60000, 60000, <[sum(volume)]>, `time, parallelism=64", &["parallelism must be from 1 to 63"]);
        refuse("60000, 60000, <[sum(volume)]>, `time, closed=`middle", &["closed must be 'left' or 'right'"]);
        refuse("60000, 60000, <[sum(volume) as sym]>, `time, false, `sym", &["duplicate column: column=`sym`"]);
        refuse("1s, 1m, <[sum(volume)]>, `tine, closed=`middle", &["windowSize", "tine", "closed"]);
        refuse("60000, 60000, 5, `time", &["metrics must be metacode"]);
    }

    #[test]
    fn facts_say_what_the_arguments_make_of_them() {
        let facts = |arguments: &str| {
            bind(TRADES, &format!("timeSeriesEngine({arguments})"))
                .unwrap_or_else(|errors| panic!("{errors:?}"))
                .facts()
        };
        let by_sym = Split::By(vec!["sym".into()]);
        let keyed = facts("60000, 60000, <[sum(volume)]>, `time, false, `sym");
        assert_eq!(keyed.split, by_sym);
        assert!(!keyed.reads_clock && !keyed.reads_batches && !keyed.reads_arrival);
        let never = |arguments: &str, why: &str| match facts(arguments).split {
            Split::Never(reason) => assert!(reason.contains(why), "{reason}"),
            other => panic!("{arguments}: {other:?}"),
        };
        never("60000, 60000, <[sum(volume)]>, `time", "keyColumn");
        never("7200000, 7200000, <[sum(volume)]>, `time, false, `sym", "first row");
        never("60000, 60000, <[sum(volume)]>, `time, false, `sym, forceTriggerTime=1", "forceTriggerTime");
        let update = facts("60000, 60000, <[sum(volume)]>, `time, false, `sym, updateTime=0");
        assert!(update.reads_batches && !update.reads_clock);
        assert!(facts("60000, 60000, <[sum(volume)]>, `time, false, `sym, updateTime=1000").reads_clock);
        let system = facts("60000, 60000, <[sum(volume)]>, , true, `sym");
        assert!(system.reads_clock);
        assert_eq!(system.split, by_sym);
    }
}
