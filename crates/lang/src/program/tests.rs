//! Tests of binding and running, and of the examples in the library.

use super::binder::{Binder, Place};
use super::{Program, RowProgram, Scope, WindowProgram};
use crate::diagnostic::Source;
use crate::function::Form;
use crate::library;
use crate::parser::{parse, parse_expr};
use crate::tree::{FunctionDef, StatementKind};
use crate::value::{Code, Host, Value};
use data::{Batch, Schema, Type, parse_table, print_table};
use std::sync::Arc;

struct NoHost;
impl Host for NoHost {}

fn schema() -> Arc<Schema> {
    Schema::of(&[("sym", Type::Symbol), ("price", Type::Double), ("volume", Type::Int)])
}

fn trades() -> Batch {
    let text = "
        sym  price  volume
        A    10.0   1
        B    20.0   2
        A    12.0   3
        A    .      4
        B    22.0   .
    ";
    parse_table(&schema(), text).unwrap()
}

const KEYS: [u32; 5] = [0, 1, 0, 0, 1];

fn functions(text: &str) -> Arc<Vec<Arc<FunctionDef>>> {
    let parsed = parse(&Source::new("test", text));
    let defs = parsed.statements.iter().filter_map(|statement| match &statement.kind {
        StatementKind::Def(def) => Some(def.clone()),
        _ => None,
    });
    Arc::new(defs.collect())
}

fn code(text: &str, defs: &str) -> Code {
    let (text, names) = text.split_once(" as ").unwrap_or((text, ""));
    let expr = Arc::new(parse_expr(&Source::new("test", text)).unwrap());
    Code { expr, names: names.split_whitespace().map(Arc::from).collect(), functions: functions(defs) }
}

fn metrics(texts: &[&str], defs: &str) -> Vec<Code> {
    texts.iter().map(|text| code(text, defs)).collect()
}

fn check(texts: &[&str], defs: &str, expected: &str) {
    let schema = schema();
    let bind = || Program::bind(&metrics(texts, defs), &Scope::of(&schema)).unwrap();
    let mut program = bind();
    let fields = Arc::new(Schema::new(program.fields().to_vec()).unwrap());
    let columns = program.run(&trades(), None, &KEYS, &mut NoHost).unwrap();
    let found = Batch::new(fields.clone(), columns).unwrap();
    let expected = parse_table(&fields, expected).unwrap();
    assert_eq!(found, expected, "\n{}", print_table(&found));
    // Row by row, through bytes after each.
    let mut program = bind();
    let mut parts = vec![];
    for row in 0..5 {
        let columns = program.run(&trades(), Some(&[row]), &KEYS[row as usize..][..1], &mut NoHost).unwrap();
        parts.push(Batch::new(fields.clone(), columns).unwrap());
        let picture = program.snapshot();
        program = bind();
        for key in 0..2 {
            let mut bytes = vec![];
            picture.encode(key, &mut bytes);
            program.decode(key, &mut bytes.as_slice()).unwrap();
        }
    }
    assert_eq!(Batch::concat(fields, &parts).unwrap(), expected);
}

fn refusal(texts: &[&str], defs: &str) -> String {
    let schema = schema();
    let errors = Program::bind(&metrics(texts, defs), &Scope::of(&schema)).err().expect("a refusal");
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn window_refusal(text: &str) -> String {
    let schema = schema();
    let errors = WindowProgram::bind(&[metrics(&[text], "")], &Scope::of(&schema)).err().expect("a refusal");
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_key_has_a_state_of_its_own() {
    check(
        &["Price", "cumsum(price * volume) as amount", "prev(volume)", "\"f1\" as factor"],
        "",
        "
        Price  amount  prev_volume  factor
        10.0   10.0    .            f1
        20.0   40.0    .            f1
        12.0   46.0    1            f1
        .      46.0    3            f1
        22.0   40.0    2            f1
        ",
    );
}

#[test]
fn functions_with_state_may_be_nested() {
    check(
        &["msum(cumsum(volume), 2) as twice", "cumsum(volume) - prev(cumsum(volume)) as step"],
        "",
        "
        twice  step
        .      .
        .      .
        5      3
        12     4
        4      0
        ",
    );
}

#[test]
fn a_second_column_may_be_named_and_a_result_may_be_a_list() {
    check(
        &["ewmCov(price, com=0.5, other=volume) as cov", "movingWindowData(volume, 2) as last"],
        "",
        "
        cov  last
        .    [1]
        .    [2]
        2.0  [1,3]
        2.0  [3,4]
        .    [2,.]
        ",
    );
}

#[test]
fn a_user_function_stands_for_its_body() {
    check(
        &["spread(price, volume) as s", "both(price) as low high"],
        "
        @state def spread(x, y, by=2) {
            total = cumsum(x)
            if (y > 2) { return total * by } else { scaled = total + by }
            return scaled
        }
        def both(x) { return x - 1, x + 1 }
        ",
        "
        s     low   high
        12.0  9.0   11.0
        22.0  19.0  21.0
        44.0  11.0  13.0
        44.0  .     .
        44.0  21.0  23.0
        ",
    );
}

#[test]
fn loops_of_a_user_function_are_laid_out() {
    check(
        &["weighted(price, 10) as w", "steps(price) as n"],
        "
        @state def weighted(x, n) {
            total = 0.0
            for (i in 0:n) {
                if (i == 1) continue
                if (i > 3) { break }
                total += (i + 1) * cumsum(x)
            }
            return total
        }
        def steps(x) {
            n = 0
            for (limit in 10 20) {
                if (x <= limit) break
                n = n + 1
            }
            return n
        }
        ",
        "
        w      n
        80.0   0
        160.0  1
        176.0  1
        176.0  0
        336.0  2
        ",
    );
    let text = refusal(&["f(price)"], "def f(x) { for (i in 0:100) { y = x * i }\n return y }");
    assert!(text.contains("has too many turns: turns=`100`, limit=`99`"), "{text}");
    let text = refusal(&["f(price)"], "def f(x) { for (i in x) { y = i }\n return y }");
    assert!(text.contains("a constant is wanted here"), "{text}");
    let branching = "def f(x) { n = 0\n for (i in 0:90) { if (x > i) { n += 1 } }\n return n }";
    let text = refusal(&["f(price)"], branching);
    assert!(text.contains("too many statements in a function of a metric: function=`f`"), "{text}");
}

#[test]
fn what_a_stream_cannot_do_is_refused_by_name() {
    let text = refusal(&["first(price)", "next(price)", "prise + 1", "mavg(price, volume)", "nope(1)"], "");
    assert!(
        text.contains("first is an aggregate function and is not supported in the reactive state engine"),
        "{text}"
    );
    assert!(text.contains("next is not supported on streams"), "{text}");
    assert!(text.contains("unknown column: column=`prise` (did you mean `price`?)"), "{text}");
    assert!(text.contains("mavg: an argument must be constant: parameter=`window`"), "{text}");
    assert!(text.contains("unknown function: function=`nope`"), "{text}");
    let text = refusal(&["f(price)"], "@state def f(x) { y = prev(x)\n y = y + 1\n return y }");
    assert!(text.contains("function=`f`, variable=`y`"), "{text}");
    let text = refusal(&["price + sym"], "");
    assert!(text.contains("add does not take these types: types=`DOUBLE, SYMBOL`"), "{text}");
    let text = refusal(&["deltas(price, -2)", "move(price, -1)", "percentChange(price, -1)", "rank(price)"], "");
    for name in ["deltas", "move", "percentChange"] {
        assert!(text.contains(&format!("{name} would look ahead: steps=`-")), "{text}");
    }
    assert!(text.contains("rank is not supported on streams"), "{text}");
}

#[test]
fn windows_aggregate_rows_and_compute_with_results() {
    let schema = schema();
    let texts = [
        "sum(price * volume) \\ sum(volume) as vwap",
        "last(sym)",
        "count(price)",
        "max(price) - min(price) as range",
        "1 as one",
    ];
    let groups = [metrics(&texts, ""), metrics(&["sum(volume)"], "")];
    let mut program = WindowProgram::bind(&groups, &Scope::of(&schema)).unwrap();
    program.grow(3);
    let rows: &[u32] = &[0, 2, 3, 4];
    let values = program.rows(&trades(), Some(rows), &mut NoHost).unwrap();
    program.fold(&[0, 0, 1, 2], &values, Some(rows)).unwrap();
    program.merge(0, 1);
    let found = |program: &mut WindowProgram, group: usize| {
        let fields = Arc::new(Schema::new(program.fields(group).to_vec()).unwrap());
        Batch::new(fields.clone(), program.emit(group, &[2, 0]).unwrap()).unwrap()
    };
    let first = found(&mut program, 0);
    let expected = "
        vwap  last_sym  count_price  range  one
        .     B         1            0.0    1
        5.75  A         2            2.0    1
    ";
    assert_eq!(first, parse_table(first.schema(), expected).unwrap(), "\n{}", print_table(&first));
    let second = found(&mut program, 1);
    let expected = "
        sum_volume
        .
        8
    ";
    assert_eq!(second, parse_table(second.schema(), expected).unwrap(), "\n{}", print_table(&second));
}

#[test]
fn a_window_refuses_what_is_no_aggregate_of_rows() {
    assert!(window_refusal("sum(max(price))").contains("nested aggregate: function=`sum`"));
    assert!(window_refusal("price").contains("a metric of a window needs an aggregate function"));
    assert!(window_refusal("sum(price) + price").contains("values of rows beside results of aggregate functions"));
    assert!(window_refusal("mavg(price, 3)").contains("a state function is not supported in a window"));
}

#[test]
fn a_function_that_is_given_is_bound_with_the_metric() {
    check(
        &[
            "segmentby(cumsum, volume, price > 11) as run",
            "moving(half{, 4}, volume, 2, 1) as half",
            "accumulate(add, price) as sum",
            "conditionalIterate(volume > 2, volume, prev) as before",
        ],
        "defg half(x, by) { return sum(x) \\ by }",
        "
        run  half  sum   before
        1    0.25  10.0  .
        2    0.5   20.0  .
        3    1.0   22.0  3
        4    1.75  .     4
        2    0.5   42.0  .
        ",
    );
}

#[test]
fn a_function_without_a_place_is_refused_by_name() {
    let metrics = [
        "segmentby(sum, price, volume)",
        "segmentby(next, price, volume)",
        "moving(nope, price, 3)",
        "moving(beta, price, 3)",
        "moving(sum, price, 0)",
        "window(sum, price, -1:1)",
        "accumulate(cumsum, price)",
        "segmentby(cumsum, price, 1)",
        "moving(price, price, 3)",
    ];
    let text = refusal(&metrics, "");
    for error in [
        "sum is an aggregate function and is not supported in the reactive state engine",
        "next is not supported on streams",
        "unknown column: column=`nope`",
        "beta expects 2 arguments: found=`1`",
        "moving: a whole number from 1 to 102400 is wanted: parameter=`window`, value=`0`",
        "window would look ahead: range=`-1:1`",
        "accumulate: cumsum expects 1 argument: found=`2`",
        "a column is wanted, or several: parameter=`Segment`",
        "moving: an argument must be constant: parameter=`func`",
    ] {
        assert!(text.contains(error), "{error}: {text}");
    }
    let text = refusal(&["half(volume)"], "defg half(x) { return sum(x) / 2 }");
    assert!(text.contains("user aggregate functions are not supported here: function=`half`"), "{text}");
    assert!(window_refusal("moving(sum, price, 3)").contains("a state function is not supported in a window"));
}

#[test]
fn a_user_aggregate_is_put_together_or_called_with_the_rows_of_a_window() {
    let defs = "
        defg vwap(p, v) { return sum(p * v) \\ sum(v) }
        defg middle(x, by) { sorted = sort(x); return avg(sorted) + by }
        defg grown(x) { return last(cumsum(x)) }
        defg all(x) { return x }
    ";
    let schema = schema();
    let texts =
        ["vwap(price, volume) as vwap", "middle(price, 1) as m", "grown(volume) * 2 as g", "all(volume) as all"];
    let bind = || WindowProgram::bind(&[metrics(&texts, defs)], &Scope::of(&schema)).unwrap();
    let mut program = bind();
    program.grow(2);
    for row in 0..5 {
        let rows: &[u32] = &[row];
        let values = program.rows(&trades(), Some(rows), &mut NoHost).unwrap();
        program.fold(&[KEYS[row as usize]], &values, Some(rows)).unwrap();
        let picture = program.snapshot();
        program = bind();
        program.grow(2);
        for slot in 0..2 {
            let mut bytes = vec![];
            picture.encode(slot, &mut bytes);
            program.decode(slot, &mut bytes.as_slice()).unwrap();
        }
    }
    let fields = Arc::new(Schema::new(program.fields(0).to_vec()).unwrap());
    let found = |program: &mut WindowProgram, slots: &[u32]| {
        Batch::new(fields.clone(), program.emit(0, slots).unwrap()).unwrap()
    };
    let expected = "
        vwap                m     g   all
        5.75                12.0  16  [1,3,4]
        20.0                22.0  4   [2,.]
    ";
    let first = found(&mut program, &[0, 1]);
    assert_eq!(first, parse_table(&fields, expected).unwrap(), "\n{}", print_table(&first));
    program.merge(0, 1);
    program.reset(&[1]);
    let merged = found(&mut program, &[0]);
    let expected = "
        vwap  m     g   all
        8.6   17.0  20  [1,3,4,2,.]
    ";
    assert_eq!(merged, parse_table(&fields, expected).unwrap(), "\n{}", print_table(&merged));
}

#[test]
fn an_aggregate_that_calls_itself_is_called_and_ends() {
    let schema = schema();
    let bind = |defs: &str| WindowProgram::bind(&[metrics(&["f(volume) as f"], defs)], &Scope::of(&schema));
    assert!(bind("defg f(x) { return f(x) + f(x) }").is_err());
    let mut program =
        bind("defg f(x) { if (count(x) < 2) { return 1 } else { return 1 + f(x[0:(size(x) / 2)]) } }").unwrap();
    program.grow(1);
    let values = program.rows(&trades(), None, &mut NoHost).unwrap();
    program.fold(&[0; 5], &values, None).unwrap();
    let found = program.emit(0, &[0]).unwrap();
    assert_eq!(found[0].get(0), data::Scalar::Int(3));
}

#[test]
fn a_variable_of_the_name_of_its_function_and_a_condition_without_a_value() {
    check(
        &["both(cumsum, volume) as sum", "pick(volume) as picked"],
        "
        def both(cumsum, x) { return cumsum(x) }
        def pick(x) { if (x) { return 1 } else { return 0 } }
        ",
        "
        sum  picked
        1    1
        2    1
        4    1
        8    1
        2    0
        ",
    );
}

#[test]
fn a_filter_picks_rows() {
    let schema = schema();
    let mut filter = RowProgram::bind(&metrics(&["price > 10 and volume in 2 3 4"], ""), &Scope::of(&schema)).unwrap();
    assert_eq!(filter.pick(&trades(), None, &mut NoHost).unwrap(), [1, 2]);
    assert_eq!(filter.pick(&trades(), Some(&[0, 2, 4]), &mut NoHost).unwrap(), [2]);
}

/// A value as the examples write it: floats to six digits, NULL as nothing.
fn print(value: &Value) -> String {
    let scalar = |ty: Type, value: &data::Scalar| match value {
        data::Scalar::Null => String::new(),
        data::Scalar::Float(value) => {
            let text = format!("{value:.6}");
            let text = text.trim_end_matches('0').trim_end_matches('.');
            if text == "-0" { "0".into() } else { text.to_string() }
        }
        data::Scalar::Int(value) if ty.is_temporal() => data::format_script(ty, *value),
        data::Scalar::Int(value) => value.to_string(),
        data::Scalar::Bool(value) => value.to_string(),
        data::Scalar::Text(text) => text.to_string(),
        data::Scalar::List(column) => print(&Value::Vector((**column).clone())),
        other => Value::Scalar(ty, other.clone()).show(),
    };
    match value {
        Value::Scalar(ty, value) => scalar(*ty, value),
        Value::Vector(column) => {
            let values: Vec<String> = (0..column.len()).map(|row| scalar(column.ty(), &column.get(row))).collect();
            format!("[{}]", values.join(","))
        }
        Value::Tuple(values) => format!("({})", values.iter().map(print).collect::<Vec<_>>().join(",")),
        other => format!("{other:?}"),
    }
}

#[test]
fn each_example_gives_what_is_printed() {
    let empty = Schema::new(vec![]).unwrap();
    let scope = Scope::of(&empty);
    let mut wrong = vec![];
    // What works on no columns is the interpreter's to test.
    for function in library::all().filter(|function| !matches!(function.form, Form::Script(_))) {
        let (call, expected) = function.example;
        let expr = parse_expr(&Source::new(function.name, call)).unwrap();
        match Binder::new(&scope, Place::Row).fixed(&expr) {
            Ok(value) if print(&value) == expected => {}
            Ok(value) => wrong.push(format!("{call}: {}, not {expected}", print(&value))),
            Err(error) => wrong.push(format!("{call}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
