mod matrices;

use super::{Session, call_function, free_names};
use crate::diagnostic::{Diagnostic, Source};
use crate::tree::StatementKind;
use crate::value::{Args, Host, Object, Table, Value};
use proptest::prelude::*;
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// A host that knows one kind of object and notes what is asked of it.
#[derive(Default)]
struct Notes(Vec<String>);

#[derive(Debug)]
struct Stream;

impl Object for Stream {
    fn class(&self) -> &'static str {
        "DStream"
    }

    fn any(&self) -> &dyn Any {
        self
    }
}

impl Host for Notes {
    fn call(&mut self, name: &str, args: &Args) -> Option<Result<Value, Diagnostic>> {
        let known = matches!(name, "createStreamGraph" | "existsCatalog" | "createCatalog");
        known.then(|| {
            self.0.push(format!("{name}({})", args.values.len()));
            Ok(if name == "existsCatalog" { Value::bool(false) } else { Value::Object(Arc::new(Stream)) })
        })
    }

    fn method(&mut self, _: &Arc<dyn Object>, name: &str, args: &Args) -> Option<Result<Value, Diagnostic>> {
        let known = self.names().contains(&name);
        known.then(|| {
            self.0.push(format!(".{name}({})", args.values.len()));
            let stream = Value::Object(Arc::new(Stream));
            Ok(if name == "fork" { Value::Tuple(vec![stream.clone(), stream]) } else { stream })
        })
    }

    fn sleep(&mut self, time: Duration) -> Result<(), Diagnostic> {
        self.0.push(format!("slept {} ms", time.as_millis()));
        Ok(())
    }

    fn names(&self) -> Vec<&'static str> {
        vec![
            "source",
            "timeSeriesEngine",
            "reactiveStateEngine",
            "sink",
            "submit",
            "fork",
            "parallelize",
            "sync",
            "map",
        ]
    }

    fn use_catalog(&mut self, name: &str) -> Result<(), Diagnostic> {
        self.0.push(format!("use {name}"));
        Ok(())
    }

    fn print(&mut self, text: &str) {
        self.0.push(text.to_string());
    }

    fn module(&mut self, path: &str) -> Option<Arc<Source>> {
        let text = match path {
            "bars" => "module bars\ndef width(x) { return double_(x) }\ndef double_(x) { return x * 2 }\nLIMIT = 5",
            "tools::more" => "module tools::more\nuse bars\ndef four(x) { return width(width(x)) }",
            "clash" => "def width(x) { return x }",
            "loud" => "print(1)",
            "round" => "use round",
            _ => return None,
        };
        Some(Source::new(path, text))
    }

    fn chance(&mut self) -> Option<u64> {
        Some(1 << 63)
    }

    fn late(&mut self) -> Option<u64> {
        self.0.iter().any(|note| note == "late").then_some(7)
    }
}

fn run(script: &str) -> Result<Value, String> {
    let result = Session::new().run(&Source::new("test", script), &mut Notes::default());
    result.map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    told(cases, |script| match run(script) {
        Ok(value) => value.show(),
        Err(error) => error,
    });
}

#[track_caller]
fn refused(cases: &[(&str, &str)]) {
    told(cases, |script| match run(script) {
        Ok(value) => format!("no error: {}", value.show()),
        Err(error) => error,
    });
}

/// Tells all cases that give something else than wanted.
#[track_caller]
fn told(cases: &[(&str, &str)], given: impl Fn(&str) -> String) {
    let found = cases.iter().map(|(script, wanted)| (script, *wanted, given(script)));
    let wrong = found.filter(|(_, wanted, found)| wanted != found);
    let wrong: Vec<String> =
        wrong.map(|(script, wanted, found)| format!("{script}\n  gives {found:?}\n  not   {wanted:?}")).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const TABLE: &str = "t = table(1 2 3 as id, `a`b`a as sym, 1.5 2.5 3.5 as p);";

#[track_caller]
fn check_table(script: &str, wanted: &str) {
    let value = run(&format!("{TABLE}\n{script}")).unwrap_or_else(|error| panic!("{script}: {error}"));
    let lines = |text: &str| text.trim().lines().map(|line| line.trim().to_string()).collect::<Vec<_>>();
    assert_eq!(lines(&value.show()), lines(wanted), "{script}");
}

#[test]
fn operators_are_functions_of_the_library() {
    check(&[
        ("60 * 1000", "60000"),
        ("typestr(60 * 1000)", "INT"),
        ("1 2 3 + 1", "[2,3,4]"),
        ("\"m\" + \"_trades\"", "m_trades"),
        ("7 / 2", "3"),
        ("!true", "false"),
        ("3 in 1 2 3", "true"),
        ("2024.01.30 + 0..2", "[2024.01.30,2024.01.31,2024.02.01]"),
        ("5..3", "[5,4,3]"),
        ("[1, , 3]", "[1,,3]"),
        ("1 2 > 1 ? `a`b : `c`d", "[\"c\",\"b\"]"),
    ]);
}

#[test]
fn dictionaries_tables_and_vectors_are_changed_by_index() {
    check(&[
        ("d = dict(STRING, ANY); d[`x] = `p:`q; d[`x]", "\"p\":\"q\""),
        ("d = dict(STRING, ANY); d[string(NULL)] = [<a > 1>]; size(d)", "1"),
        ("d = dict(1 2, `a`b); d[2]", "b"),
        ("d = {\"a\": 1}; d.a", "1"),
        ("\"a\" in {\"a\": 1}", "true"),
        ("v = 1 2 3; v[1] = 9; v", "[1,9,3]"),
        ("v = 1 2 3; v[v > 1]", "[2,3]"),
        ("v = 1..9; v[2:4]", "[3,4]"),
        ("v = 1 2; v[5]", ""),
        ("r = array(ANY, 0, 0); r.append!(dict(STRING, ANY)); r.append!(1); size(r)", "2"),
        ("t = table(1 2 as a); t.b = t.a * 2; t[1].b", "4"),
        ("t = keyedTable(`k, 1:0, `k`v, [INT, INT]); t.append!(table(1 2 1 as k, 5 6 7 as v)); t.v", "[7,6]"),
        (
            "t = keyedTable(`k, 1 2 as k, 5 6 as v); insert into t values(2, 9); insert into t values(3, 1); t.v",
            "[5,9,1]",
        ),
        ("t = keyedTable(`k`d, `a`a as k, 1 2 as d, 5 6 as v); tableInsert(t, `a, 2, 7); t.v", "[5,7]"),
        (
            "t = keyedTable(`k, 1 2 3 as k, 5 6 7 as v); delete from t where k = 1; t.append!(table(3 4 as k, 8 9 as v)); t.v",
            "[6,8,9]",
        ),
        (
            "t = keyedTable(`k, 1 2 as k, 5 6 as v); c = copy(t); c.append!(table(2 as k, 0 as v)); (t.v, c.v)",
            "([5,6],[5,0])",
        ),
        ("t = keyedStreamTable(`k, 1:0, `k`v, [INT, INT]); t.append!(table(1 2 1 as k, 5 6 7 as v)); t.v", "[5,6]"),
        ("t = streamTable(1:0, `k`v, [INT, INT]); t.append!(table(1 1 as k, 5 6 as v)); t.v", "[5,6]"),
        ("share(table(1 2 as a), `shared); shared.a", "[1,2]"),
        ("share (table(1 2 as a)) as shared; shared.a", "[1,2]"),
        ("t = table(10:0, `a`b, [INT, STRING]); t.append!(table(1 2 as a, `x`y as b)); t.b", "[\"x\",\"y\"]"),
    ]);
}

#[test]
fn each_example_of_a_script_function_gives_what_is_printed() {
    let scripts = crate::library::all().filter(|function| matches!(function.form, crate::function::Form::Script(_)));
    // There is no clock here.
    for function in scripts.filter(|function| !matches!(function.name, "now" | "today")) {
        check(&[function.example]);
    }
}

#[test]
fn whole_vectors_are_ranked_and_put_in_order() {
    check(&[
        ("rank(45 16 32 21)", "[3,0,2,1]"),
        ("rank(45 16 32 21, false)", "[0,3,1,2]"),
        ("rank([1,2,2,3], tiesMethod='average')", "[0,1.5,1.5,3]"),
        ("rank([1,2,2,3], tiesMethod='first')", "[0,1,2,3]"),
        ("rank([1,2,2,3], tiesMethod='max', percent=true)", "[0.25,0.75,0.75,1]"),
        ("rank([1.0000001, 1.0000002, 1.0000003, 2.0001, 2.0002], precision=6)", "[0,0,0,3,4]"),
        ("rank([3,,1])", "[1,,0]"),
        ("rank([3,,1], ignoreNA=false)", "[2,0,1]"),
        ("rank(`b`a`c)", "[1,0,2]"),
        ("rank(1 2 3 4 5 6, groupNum=4)", "[0,0,1,1,2,3]"),
        ("rank(1 1 1 2, groupNum=3)", "[0,0,0,2]"),
        ("rank(1 2, groupNum=5)", "[0,1]"),
        ("rank([NULL, NULL])", "[,]"),
        ("denseRank(1 5 5 6 8 8 9)", "[0,1,1,2,3,3,4]"),
        ("denseRank(1 5 5 6 7, percent=true)[1]", "0.5"),
        ("sort([3,2,,5], false)", "[5,3,2,]"),
        ("sort(symbol(`c`a`b))", "[\"a\",\"b\",\"c\"]"),
        ("x = 3 1 2; sort!(x); x", "[1,2,3]"),
        ("isort(4 1 3 2)", "[1,3,2,0]"),
        ("isort(4 1 3 2, false)", "[0,2,3,1]"),
        ("isort([1 1 0, 3 2 1], [true, false])", "[2,0,1]"),
        ("isSorted(3 2 2, false)", "true"),
        ("isSorted(3 2 4)", "false"),
        ("isDuplicated([1,3,1,-6,,2,,1], FIRST)", "[false,false,true,false,false,false,true,true]"),
        ("isDuplicated([1,3,1,-6,,2,,1], LAST)", "[true,false,true,false,true,false,false,false]"),
        ("isDuplicated([1,3,1,-6,,2,,1], NONE)", "[true,false,true,false,true,false,true,true]"),
        ("isDuplicated([1 1 1, 2 3 2])", "[false,false,true]"),
        ("winsorize(1..10, 0.1)", "[2,2,3,4,5,6,7,8,9,9]"),
        ("winsorize(1..10, [0.12, 0.17])", "[2,2,3,4,5,6,7,8,9,9]"),
        ("winsorize(1..10, [0.12, 0.17], false)", "[2,2,3,4,5,6,7,8,8,8]"),
        ("winsorize([1,2,3,4,], 0.2)", "[2,2,3,4,4]"),
        ("winsorize([1,2,3,4,], 0.2, nanPolicy='lower')", "[1,2,3,3,1]"),
        ("winsorize([1,2,3,4,], 0.2, nanPolicy='omit')", "[2,2,3,4,]"),
        ("winsorize(1 2, 1)", "[2,2]"),
        ("bucket(9 23 54 36 46 12, 12:54, 2, true)", "[0,1,3,2,2,1]"),
        ("bucket([0.0, 0.5, 1.0,], 0:1, 4)", "[0,2,,]"),
        ("quantileSeries([6, 47, 49, 15, 42, 41, 7, 39, 43, 40, 36], [0.25, 0.5, 0.75])", "[25.5,40,42.5]"),
        ("quantileSeries([6, 47, 49, 15, 42, 41, 7, 39, 43, 40, 36], [0.25, 0.5, 0.75], 'higher')", "[36,40,43]"),
        ("searchK([1,7,3,5,3,9,6,1,], 2)", "1"),
        ("searchK([1,7,3,5,3,9,6,1,], 3)", "3"),
        ("searchK([1,,], 2)", ""),
        ("searchK(symbol(`c`a`b), 1)", "a"),
        ("hasNull([1,2,,4])", "true"),
        ("hasNull(5)", "false"),
        ("find(`a`b, `b)", "1"),
        ("find([1,,2], [NULL, 2.0, 3.0])", "[1,2,-1]"),
        ("binsrch(1 3 3 5, 3 6)", "[1,-1]"),
        ("asof(1 3 3 5, [0,3,9,NULL])", "[-1,2,3,-1]"),
    ]);
    refused(&[
        ("rank(1 2, groupNum=0)", "test:1:1: a whole number above 0 is wanted: parameter=`groupNum`, value=`0`"),
        ("rank(1 2, precision=16)", "test:1:1: a precision from 1 to 15 is wanted: precision=`16`"),
        ("sort(1)", "test:1:1: a vector is wanted: parameter=`X`"),
        ("winsorize(1 2, 1.5)", "test:1:1: one or two numbers from 0 to 1 are wanted: parameter=`limit`"),
        ("bucket(1 2, 0:7, 2)", "test:1:1: the range cannot be divided into equal parts: size=`7`, bucketNum=`2`"),
        ("bucket(1 2, 7:0, 2)", "test:1:1: a range from a smaller to a greater value is wanted: parameter=`dataRange`"),
        ("quantileSeries(1 2, 2)", "test:1:1: numbers from 0 to 1 are wanted: parameter=`q`"),
        ("searchK(1 2, 0)", "test:1:1: a whole number above 0 is wanted: parameter=`k`, value=`0`"),
        ("isDuplicated(1 2, `ALL)", "test:1:1: one of FIRST, LAST, NONE is wanted: parameter=`keep`"),
    ]);
}

#[test]
fn vectors_are_cut_and_put_together() {
    check(&[
        ("reverse(1..6)", "[6,5,4,3,2,1]"),
        ("cut(1..10, 3)", "([1,2,3],[4,5,6],[7,8,9],[10])"),
        ("cut(1..10, [0,2,7])", "([1,2],[3,4,5,6,7],[8,9,10])"),
        ("flatten([1 2, 3 4])", "[1,2,3,4]"),
        ("flatten([1 2, 2.5])", "[1,2,2.5]"),
        ("flatten(fixedLengthArrayVector(1 2, 3 4))", "[1,3,2,4]"),
        ("head(6 5 4)", "6"),
        ("tail(6 5 4, 9)", "[6,5,4]"),
        ("ifirstNot([[,,4,7,8,], [1,,,4,,]])", "3"),
        ("ilastNot([[,,4,7,8,], [1,,,4,,]])", "3"),
        ("ifirstNot(take(int(), 5))", "-1"),
        ("matrix(1 2, 3.5 4.5)[0]", "[1,2]"),
    ]);
    refused(&[
        (
            "cut(1 2, 0)",
            "test:1:1: a whole number above 0, or places in a vector, are wanted: parameter=`size`, found=`0`",
        ),
        ("cut(1 2, 1 5)", "test:1:1: rising places of elements are wanted: parameter=`size`, found=`[1, 5]`, size=`2`"),
        ("head([])", "test:1:1: there is no element: function=`head`"),
        ("matrix(1 2, 3)", "test:1:1: argument of a wrong kind: function=`matrix`, found=`INT`"),
        ("matrix()", "test:1:1: matrix expects columns: found=`0`"),
        ("rowSum(())", "test:1:1: rowSum expects 1 or more arguments: found=`0` (its parameters are X)"),
    ]);
}

#[test]
fn scripts_look_ahead_and_across_rows() {
    check(&[
        ("move(3 9 5 1 4 9, -2)", "[5,1,4,9,,]"),
        ("deltas(1 3 2 5 6, -2)", "[-1,-2,-4,,]"),
        ("percentChange(4 5 8 8, -2)", "[-0.5,-0.375,,]"),
        ("iterate(1, 0.5, 3)", "[0.5,0.25,0.125]"),
        ("iterate([1, 1], [1, 1], 10)", "[2,3,5,8,13,21,34,55,89,144]"),
        ("flatten(rowMove(fixedLengthArrayVector([4.5, 2.6], [1.5, 4.8], [4.9, 2.0]), -2))", "[4.9,,,2,,]"),
        ("flatten(rowNext(fixedLengthArrayVector(1 2, 3 4)))", "[3,,4,]"),
        ("flatten(rowRank(fixedLengthArrayVector([3,9], [1,], [2,2])))", "[2,0,1,1,,0]"),
        ("flatten(rowDenseRank([3 9, 3 9, 4 2]))", "[0,0,1,1,1,0]"),
        ("rowAt(matrix(3.1 4.5 2.2, 4.2 4.3 5.1, 6.2 7.1 2.2), [2, 0, 5])", "[6.2,4.5,]"),
        ("rowAt(matrix(33.2 33.1, 33.8 32.8), rowImax(200 150, 180 280))", "[33.2,32.8]"),
        ("flatten(rowAt([1 2, 3 4], [1 0, -1 1]))", "[3,,2,4]"),
        ("rowSum([1 2, 3 4])", "[4,6]"),
    ]);
    let books = "left = fixedLengthArrayVector(9.01 8.99, 9.0 8.97, 8.99 8.95, 8.98 8.93, 8.97 8.91);
        right = fixedLengthArrayVector(9.02 9.0, 9.01 8.98, 9.0 8.97, 8.99 8.96, 8.98 8.95);";
    check(&[
        (&format!("{books} places = rowAlign(left, right, 'bid'); flatten(places[0])"), "[-1,0,1,2,3,-1,0,-1,1,-1,2]"),
        (&format!("{books} places = rowAlign(left, right, 'bid'); flatten(places[1])"), "[0,1,2,3,4,0,-1,1,2,3,4]"),
        (&format!("{books} flatten(rowAlign(left, right, 'allBid')[0])"), "[-1,0,1,2,3,4,-1,0,-1,1,-1,2,3,4]"),
    ]);
    refused(&[
        ("iterate(1, 0.8, -1)", "test:1:1: number of values is out of range: X=`-1`, limit=`10000000`"),
        ("move(1 2, -2000000)", "test:1:1: too many rows to look back: steps=`2000000`"),
        ("rowAt(1 2, 0 0)", "test:1:1: an array vector is wanted: parameter=`X`, type=`INT`"),
    ]);
}

#[test]
fn control_flow_goes_where_it_is_sent() {
    check(&[
        ("s = 0; for (i in 0:10) { if (i == 3) continue; if (i > 5) break; s += i }; s", "12"),
        ("s = \"\"; for (x in [\"a\", \"b\"]) { s = s + x }; s", "ab"),
        ("i = 0; while (true) { i += 1; if (i > 5) break }; i", "6"),
        ("i = 3; do { i -= 1 } while (i > 0); i", "0"),
        ("try { throw \"boom\" } catch (ex) { r = ex }; r", "boom"),
        ("a, b = (1, `x); b", "x"),
    ]);
}

#[test]
fn functions_take_defaults_names_and_partial_applications() {
    check(&[
        ("def f(a, b=3) { return a + b }; f(1) + f(b=1, a=2)", "7"),
        ("def f(a, b) { return a - b }; g = f{, 100}; g(1)", "-99"),
        ("def f(n) { if (n <= 1) return 1; return n * f(n - 1) }; f(10)", "3628800"),
        ("def f(mutable q) { q[0] = 99 }; w = 1 2; f(w); w", "[99,2]"),
        ("def f(a) { return a, a * 2 }; x, y = f(4); y", "8"),
        ("each(x -> x * 2, 1 2 3)", "[2,4,6]"),
        // Rows without a value have no weight, however great the others are.
        ("mvar([1e200, , 1e200, 1e200], 3, 1)", "[,,0,0]"),
        ("accumulate(add, 1 2 3)", "[1,3,6]"),
        ("reduce(sub, 1 2 3, 10)", "4"),
        ("moving(sum, 1 2 3, 2)", "[,3,5]"),
        ("eval(<1 + 2>)", "3"),
    ]);
}

#[test]
fn a_function_sees_no_variables_of_the_session() {
    refused(&[(
        "limit_price = 10.0; f = x -> x > limit_price; f(1)",
        "test:1:34: unknown name: name=`limit_price` (a function sees its parameters and its own variables, not those of \
         the session)",
    )]);
}

#[test]
fn unknown_names_suggest_the_nearest() {
    refused(&[
        ("price = 1; prise", "test:1:12: unknown name: name=`prise` (did you mean `price`?)"),
        ("msumm(1 2, 2)", "test:1:1: unknown function: name=`msumm` (did you mean `msum`?)"),
        (
            "g = createStreamGraph(`a); g.sorce(1)",
            "test:1:28: unknown method: object=`DStream`, method=`sorce` (did you mean `source`?)",
        ),
    ]);
}

#[test]
fn what_never_ends_is_ended() {
    let mut session = Session { limit_steps: Some(10_000), ..Session::new() };
    let source = Source::new("test", "while (true) { try { while (true) {} } catch (ex) {} }");
    let errors = session.run(&source, &mut Notes::default()).expect_err("it never ends");
    assert_eq!(errors[0].message, "script took too many steps: limit=`10000`");
    let error = run("def f(n) { return [1, f(n + 1)] }; f(1)").expect_err("it never ends");
    assert!(error.contains("calls are nested too deeply"), "{error}");
}

#[test]
fn a_script_that_takes_too_much_memory_is_ended() {
    let mut session = Session { limit_bytes: Some(1_000_000), ..Session::new() };
    for script in [
        "x = 1..1000000",
        "try { x = take(1, 9999999) } catch (ex) {}",
        "x = array(LONG, 1000000)",
        "x = take(repeat(\"a\", 1000), 9000)",
        "x = [til(100000), til(100000), til(100000), til(100000)]",
        "t = table(til(2000) as a); cj(t, t)",
        "x = til(10); while (true) { x = x <- x }",
        "r = []; for (i in 0:100) r.append!(til(10000))",
        "d = {\"a\": 1}; for (i in 0:100) d[string(i)] = til(10000)",
        "def f(n) { x = til(10000); return f(n + 1) }; f(1)",
    ] {
        let errors = session.run(&Source::new("test", script), &mut Notes::default()).expect_err(script);
        assert_eq!(errors[0].message, "script takes too much memory: limit_bytes=`1000000`", "{script}");
        session = Session { limit_bytes: Some(1_000_000), ..Session::new() };
    }
    // What is let go is no longer counted.
    let source = Source::new("test", "for (i in 0:1000) x = til(10000)\nsize(x)");
    assert_eq!(session.run(&source, &mut Notes::default()).expect("enough").show(), "10000");
}

#[test]
fn a_script_that_takes_too_long_is_ended() {
    let source = Source::new("test", "print(`late); while (true) { try { while (true) {} } catch (ex) {} }");
    let errors = Session::new().run(&source, &mut Notes::default()).expect_err("it never ends");
    assert_eq!(errors[0].message, "script took too long: limit_ms=`7`");
}

#[test]
fn a_script_sleeps_a_little_at_a_time() {
    let mut host = Notes::default();
    let slept = Session::new().run(&Source::new("test", "sleep(25); sleep(0)"), &mut host);
    assert!(slept.is_ok() && host.0 == ["slept 10 ms", "slept 10 ms", "slept 5 ms"], "{:?}", host.0);
    let source = Source::new("test", "print(`late); sleep(9999999999)");
    let errors = Session::new().run(&source, &mut Notes::default()).expect_err("it is late");
    assert_eq!(errors[0].message, "script took too long: limit_ms=`7`");
    refused(&[("sleep(-1)", "test:1:1: a whole number from 0 on is wanted: milliseconds=`-1`")]);
}

#[test]
fn modules_bring_functions_and_constants() {
    check(&[
        ("use bars\nwidth(3)", "6"),
        ("use bars\nbars::width(LIMIT) + bars::LIMIT", "15"),
        ("use tools::more\nfour(1)", "4"),
        ("use bars\nuse bars\nwidth(3)", "6"),
    ]);
    refused(&[
        (
            "use nowhere",
            "test:1:1: no such module: module=`nowhere` (it is the file of that name beside the script, `::` being a \
             folder)",
        ),
        (
            "use bars\nuse clash",
            "test:2:1: function is defined already: function=`width`, module=`clash` (give one of them another name)",
        ),
        ("use loud", "test:1:1: a module holds functions and constants alone: module=`loud`, line=`1`, column=`1`"),
        ("use round", "test:1:1: modules use one another: module=`round`, levels=`16`"),
    ]);
}

#[test]
fn tables_are_joined_by_keys() {
    const TWO: &str = "l = table(1 2 3 as id, 4 5 6 as x); r = table(1 3 3 5 as id, 7 8 9 10 as x);";
    for (script, wanted) in [
        ("ej(l, r, `id)", "id x r_x\n1 4 7\n3 6 8\n3 6 9"),
        ("lj(l, r, `id)", "id x r_x\n1 4 7\n2 5\n3 6 8\n3 6 9"),
        ("lsj(l, r, `id)", "id x r_x\n1 4 7\n2 5\n3 6 8"),
        ("select l.x, r.x as y from ej(l, r, `id)", "x y\n4 7\n6 8\n6 9"),
        ("select count(*) as n from fj(l, r, `id)", "n\n5"),
        ("select count(*) as n from cj(l, r)", "n\n12"),
        ("select sum(x) as s from lj(l, r, `id) where isNull(r_x)", "s\n5"),
    ] {
        let value = run(&format!("{TWO}\n{script}")).unwrap_or_else(|error| panic!("{script}: {error}"));
        let words = |text: &str| -> Vec<Vec<String>> {
            text.lines().map(|line| line.split_whitespace().map(str::to_string).collect()).collect()
        };
        assert_eq!(words(&value.show()), words(wanted), "{script}");
    }
    const TIMED: &str =
        "t = table(`A`A`B as s, 2 5 7 as t, 1 2 3 as p); q = table(`A`A`B as s, 1 3 6 as t, 7 8 9 as b);";
    for (script, wanted) in [
        ("aj(t, q, `s`t).b", "[7,8,9]"),
        ("aj(t, q, `s`t).q_t", "[1,3,6]"),
        ("wj(t, q, -2:0, <sum(b)>, `s`t).sum_b", "[7,8,9]"),
        ("wj(t, q, -1:0, <[sum(b) as m]>, `s`t).m", "[7,,9]"),
        ("pwj(t, q, -1:0, <[sum(b) as m]>, `s`t).m", "[7,8,9]"),
        ("size(cj(table(1 2 as a), table(3 4 5 as b)))", "6"),
    ] {
        let value = run(&format!("{TIMED}\n{script}")).unwrap_or_else(|error| panic!("{script}: {error}"));
        assert_eq!(value.show(), wanted, "{script}");
    }
    refused(&[("t = table(1 as a); ej(t, t, `b)", "test:1:20: unknown column: column=`b`, table=`left`")]);
}

#[test]
fn queries_pivot_fill_spans_and_put_nulls_where_told() {
    check(&[
        ("t = table(1 2 1 as a, `x`y`x as s, 1 2 3 as p); exec p from t pivot by a, s", "  x y\n1|3\n2|  2"),
        ("t = table(1 2 1 as a, `x`y`x as s, 1 2 3 as p); exec sum(p) from t pivot by a, s", "  x y\n1|4\n2|  2"),
        (
            "t = table(1 2 1 as a, `x`y`x as s, 1 2 3 as p); columnNames(select p from t pivot by a, s)",
            "[\"a\",\"x\",\"y\"]",
        ),
        (
            "t = table(0 10 40 as ts, 1 2 3 as v); (select sum(v) as s from t group by interval(ts, 10, \"null\")).s",
            "[1,2,,,3]",
        ),
        (
            "t = table(0 10 40 as ts, 1 2 3 as v); (select sum(v) as s from t group by interval(ts, 10, \"prev\")).s",
            "[1,2,2,2,3]",
        ),
        (
            "t = table(0 10 40 as ts, 1 2 3 as v); (select sum(v) as s from t group by interval(ts, 10, \"post\")).s",
            "[1,2,3,3,3]",
        ),
        (
            "t = table(0 10 40 as ts, 1 2 5 as v); (select sum(v) as s from t group by interval(ts, 10, \"linear\")).s",
            "[1,2,3,4,5]",
        ),
        (
            "t = table(0 10 40 as ts, 1 2 3 as v); (select sum(v) as s from t group by interval(ts, 10, 0)).s",
            "[1,2,0,0,3]",
        ),
        (
            "t = table(0 10 40 as ts, 1 2 3 as v); (select sum(v) as s from t group by interval(ts, 10, \"none\")).s",
            "[1,2,3]",
        ),
        (
            "t = table(09:30:00 + 0 30 90 240 as ts, 1 2 3 4 as v); \
             (select sum(v) as s from t group by interval(ts, 1m, \"null\")).s",
            "[3,3,,,4]",
        ),
        ("(select * from table([1,,3] as a) order by a nulls last).a", "[1,3,]"),
        ("(select * from table([1,,3] as a) order by a desc nulls first).a", "[,3,1]"),
        ("(select * from table([1,,3] as a) order by a desc).a", "[3,1,]"),
        ("(select * from table(1 2 3 4 as a) limit 1, 2).a", "[2,3]"),
        ("(select distinct s from table(`b`a`b as s)).distinct_s", "[\"b\",\"a\"]"),
        ("(select a from table(`x`y`x as s, 1 2 3 as a) group by s).a", "[[1,3],[2]]"),
        ("(select s, count(*) as n from table(`x`y`x as s) group by s having count(*) > 1).n", "[2]"),
    ]);
}

#[test]
fn metacode_is_made_at_run_time() {
    check(&[
        ("sqlCol(`a`b)", "(<a>,<b>)"),
        ("sqlCol(`a, sum)", "<sum(a)>"),
        ("makeCall(add, 1, <x>)", "<add(1, x)>"),
        ("eval(makeCall(def(x) { return x * 3 }, 2))", "6"),
        ("x = 3; eval(parseExpr(\"x + 2\"))", "5"),
        ("eval(expr(6, <, 8))", "true"),
        ("eval(expr(1, +, 2, *, 3))", "7"),
        ("expr(<a>, -, <b + c>)", "<a - (b + c)>"),
        ("expr(sum, 1 2 3).eval()", "6"),
        ("t = table(1 2 3 as a, 4 5 6 as b); sql(sqlCol(`b), t, <a > 1>).eval().b", "[5,6]"),
        ("t = table(1 2 1 as a, 4 5 6 as b); sql(sqlCol(`b, sum, `s), t, groupBy=sqlCol(`a)).eval().s", "[10,5]"),
        ("t = table(1 2 1 as a); sql(sqlCol(`a), t, orderBy=sqlCol(`a), ascOrder=0, exec=true).eval()", "[2,1,1]"),
    ]);
    refused(&[
        (
            "c = <x>; for (i in 0:500) c = makeCall(neg, c)",
            "test:1:31: metacode is too large: parts=`799`, limit=`10000`, levels=`400`",
        ),
        (
            "parseExpr(\"1 +\")",
            "test:1:1: text is no expression: expression:1:4: syntax error: expected an expression, found the end of \
             the script",
        ),
    ]);
}

#[test]
fn values_are_told_changed_and_made_by_chance() {
    check(&[
        ("type(1) + type(1.5) + type(`a)", "38"),
        ("rand(10, 2)", "[5,5]"),
        ("t = table(1 2 as a, 3 4 as b); t.rename!(`x`y); t.drop!(`x); t.y", "[3,4]"),
        ("t = table(2 1 as a); t.addColumn(`c, INT); t.sortBy!(`a); t.c", "[,]"),
        ("1..6$2:3", "#0 #1 #2\n1  3  5\n2  4  6"),
        ("x = set(1 2 3); y = set(3 4); [size(x | y), size(x & y), size(x - y), size(x ^ y)]", "[4,1,2,3]"),
        ("x = set(1 2 3); x.append!(9); x.erase!(1); keys(x)", "[2,3,9]"),
        ("1 5 in set(1 2)", "[true,false]"),
        (
            "d = dict(til(200000), til(200000)); d.erase!(7); d[7] = 1; d[199999] = 2; d[199999] + d[7] + size(d)",
            "200003",
        ),
        ("d = dict(1 2, 3 4); d.clear!(); d[5] = 6; d[1] = 7; d", "5->6\n1->7"),
        ("typestr(set(1 2)) + form(set(1 2))$STRING", "INT SET4"),
        ("d = dict(INT, ANY); d[1.0] = 5; keys(d)", "[1]"),
        ("transpose(1..6$2:3)", "#0 #1\n1  2\n3  4\n5  6"),
        ("drop(1 2 3, -1)", "[1,2]"),
        ("d = dict(`a`b, 1 2); dictUpdate!(d, add, `a`c, 5 6); d.c", "6"),
        ("s = 0; timer(3) { s += 1 }; s", "3"),
        ("date(\"9999999999999\")", ""),
        ("long(\"99999999999999999999\")", ""),
        ("temporalAdd(2024.01.05, 1B)", "2024.01.08"),
        ("temporalAdd(2024.01.06, -1B)", "2024.01.05"),
        ("temporalAdd(2024.01.08, -1B)", "2024.01.05"),
        ("temporalAdd(2024.01.05, 6B)", "2024.01.15"),
        ("temporalParse(\"14:30:05\", \"HH:mm:ss\")", "14:30:05"),
        ("temporalParse(\"20240102\", \"yyyyMMdd\")", "2024.01.02"),
        ("temporalParse(\"3/2/2024 2:05:06 PM\", \"M/d/yyyy h:mm:ss aa\")", "2024.03.02T14:05:06"),
        ("temporalParse(\"2024-13-02\", \"yyyy-MM-dd\")", ""),
        ("temporalFormat(2024.01.02T14:03:05.123, \"yyyy.MM.dd HH:mm:ss.SSS\")", "2024.01.02 14:03:05.123"),
        ("format(0.256, \"0.0%\")", "25.6%"),
        ("format(12, \"000000\")", "000012"),
        ("format(12345.6, \"0.00E00\")", "1.23E04"),
        ("format(-0.5, \"#.##\")", "-.5"),
    ]);
    refused(&[
        ("d = dict(STRING, ANY); d[`a] = d", "test:1:24: a dictionary cannot hold itself"),
        ("t = (1, 2); for (i in 0:100) t = (t, 1)", "test:1:34: values are nested too deeply: levels=`64`"),
        ("t = (1, 2); for (i in 0:100) t[0] = t", "test:1:30: values are nested too deeply: levels=`64`"),
        ("d = {\"a\": 1}; for (i in 0:100) d = {\"a\": d}", "test:1:36: values are nested too deeply: levels=`64`"),
        ("repeat(\"a\", 100000)", "test:1:1: too many repeats: n=`100000`, limit=`65536`"),
    ]);
}

#[test]
fn a_script_with_a_syntax_error_is_not_run_at_all() {
    let mut host = Notes::default();
    let errors =
        Session::new().run(&Source::new("test", "print(1)\ngo\nx = )"), &mut host).expect_err("a syntax error");
    assert_eq!((errors.len(), host.0.len()), (1, 0));
}

#[test]
fn a_session_keeps_variables_and_functions() {
    let mut session = Session::new();
    let mut host = Notes::default();
    for (script, wanted) in [("def f(x) { return x + 1 }; a = 1", ""), ("f(a)", "2"), ("nope", "!"), ("f(a)", "2")] {
        let result = session.run(&Source::new("test", script), &mut host);
        assert_eq!(result.map_or("!".to_string(), |value| value.show()), wanted, "{script}");
    }
}

#[test]
fn seed_scripts_run() {
    for (script, calls) in [
        (include_str!("../../tests/scripts/one_minute_indicators.dos"), 9),
        (include_str!("../../tests/scripts/engine_fork.dos"), 11),
        (include_str!("../../tests/scripts/parallel_klines.dos"), 17),
    ] {
        let mut host = Notes::default();
        if let Err(errors) = Session::new().run(&Source::new("seed", script), &mut host) {
            panic!("{errors:?}");
        }
        assert_eq!(host.0.len(), calls, "{:?}", host.0);
    }
}

#[test]
fn conditions_are_applied_one_after_another() {
    check_table("select * from t where sym = `a, p > 2", "id sym p\n3  a   3.5");
    check_table("exec p from t where sym = `a", "[1.5,3.5]");
    check_table("exec last(p) from t", "3.5");
    check_table("select id, p * 2 from t order by p desc limit 2", "id p_mul\n3  7\n2  5");
    check_table("select t.id from t where t.p > 2", "id\n2\n3");
}

#[test]
fn groups_come_in_the_order_of_their_keys() {
    check_table("select sum(p) from t group by sym", "sym sum_p\na   5\nb   2.5");
    check_table(
        "select sym, sum(p) as s, count(*) as n from t where id > 1 group by sym order by s desc",
        "sym s   n\na   3.5 1\nb   2.5 1",
    );
    check_table("select sum(p) from t where id > 100 group by sym", "sym sum_p");
}

#[test]
fn context_by_keeps_the_rows_of_each_group() {
    check_table("select sym, cumsum(p) as c from t context by sym", "sym c\na   1.5\na   5\nb   2.5");
    check_table("select * from t context by sym limit -1", "id sym p\n3  a   3.5\n2  b   2.5");
}

#[test]
fn tables_are_changed_in_place() {
    check_table("insert into t values (4 5, `c`d, 9.0 8.0); select id from t", "id\n1\n2\n3\n4\n5");
    check_table(
        "update t set p = p + 1, q = id * 2 where sym = `b; t",
        "id sym p   q\n1  a   1.5\n2  b   3.5 4\n3  a   3.5",
    );
    check_table("update t set p = sum(p) context by sym; t", "id sym p\n1  a   5\n2  b   2.5\n3  a   5");
    check_table("delete from t where sym = `a; t", "id sym p\n2  b   2.5");
}

#[test]
fn an_engine_calls_a_function_without_a_session() {
    let mut session = Session::new();
    let mut host = Notes::default();
    let script = "def twice(x) { return x * 2 }; f = msg -> select twice(id) as two from msg where p > 2; f";
    let Ok(Value::Function(function)) = session.run(&Source::new("test", script), &mut host) else {
        panic!("a function")
    };
    let Ok(Value::Table(table)) = run(&format!("{TABLE} t")) else { panic!("a table") };
    let result = call_function(&function, vec![Value::Table(Table::new(table.batch()))], &mut host);
    assert_eq!(result.map(|value| value.show()), Ok("two\n4\n6".to_string()));
}

#[test]
fn free_names_are_those_without_a_meaning() {
    let parsed = crate::parser::parse(&Source::new(
        "test",
        "def f(a, b=c) { d = a + k; for (i in d) { g = h(i, INT, msum) }; return select x from t where x > y }",
    ));
    let StatementKind::Def(def) = &parsed.statements[0].kind else { panic!("a definition") };
    let names: Vec<String> = free_names(def).into_iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(names, ["c", "k", "t"]);
}

#[test]
fn values_print_as_text_that_evaluates_to_them() {
    for script in [
        "1 2 3",
        "[1, NULL]",
        "(1, `a, 2.5)",
        "{\"a\": 1, \"b\": [1, 2]}",
        "dict(1 2, (`x, 5m))",
        "table(1 2 as id, `a`b as name, [1.5, NULL] as p)",
        "<price > 10 as big>",
        "x -> x + 1",
        "msum{, 3}",
        "\"1.25\"$DECIMAL64(2)",
        "09:30m : 15:00m",
        "array(INT[], 0).append!([[1, 2], [3]])",
        "symbol(`a`b)",
        "2024.01.02T09:30:00.000 2024.01.02T09:31:00.000",
        "1h : 00i",
    ] {
        let value = run(script).unwrap_or_else(|error| panic!("{script}: {error}"));
        let text = value.to_string();
        let again = run(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((again.to_string(), again.show(), again.kind()), (text, value.show(), value.kind()), "{script}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_soup_of_words_makes_the_interpreter_panic(words in prop::collection::vec(prop::sample::select(WORDS), 1..14)) {
        let mut session = Session { limit_steps: Some(2_000), ..Session::new() };
        let script = format!("{TABLE} d = dict(`a`b, 1 2); v = 1 2 3; s = \"x\"; {}", words.concat());
        if let Ok(value) = session.run(&Source::new("soup", script), &mut Notes::default()) {
            value.show();
            value.to_string();
        }
    }
}

const WORDS: &[&str] = &[
    "t",
    "d",
    "v",
    "s",
    "`a",
    "1",
    " -1 ",
    "NULL",
    "0:2",
    "true",
    "5m",
    "x -> x",
    "<id>",
    "\"q\"",
    " + ",
    " * ",
    "..",
    " in ",
    "[",
    "]",
    "(",
    ")",
    ", ",
    " = ",
    ";",
    ".id",
    ".sym",
    ".size()",
    "[0]",
    "[`p]",
    "[1:]",
    "select ",
    "exec ",
    " from t",
    " where ",
    " group by sym",
    " context by sym",
    " order by ",
    " limit ",
    "sum(",
    "take(",
    "each(",
    "table(",
    "array(INT, ",
    "moving(sum, ",
    "v.append!(",
    "t.append!(",
    "insert into t values (",
    "update t set p = ",
    "delete from t where ",
    "accumulate(add, ",
    "set(",
    "join(",
    " as n",
    "f{",
    "}",
    "$INT",
];
