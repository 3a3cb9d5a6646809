use super::{Parsed, parse, parse_expr};
use crate::diagnostic::Source;
use proptest::prelude::*;

fn parsed(text: &str) -> Parsed {
    parse(&Source::new("test", text))
}

/// The expression as the printer writes it, after checking that its text parses back to the same text.
fn printed(text: &str) -> String {
    let expr = parse_expr(&Source::new("test", text)).unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
    let once = expr.to_string();
    let again = parse_expr(&Source::new("test", once.clone())).unwrap_or_else(|errors| panic!("{once}: {errors:?}"));
    assert_eq!(again.to_string(), once, "the text of {text}");
    once
}

fn errors(text: &str) -> Vec<String> {
    parsed(text).errors.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (text, wanted) in cases {
        assert_eq!(printed(text), *wanted, "the text of {text}");
    }
}

#[test]
fn literals_keep_their_type() {
    check(&[
        ("122h", "122h"),
        ("22l", "22l"),
        ("97c", "97c"),
        ("1b", "true"),
        ("2.1f", "2.1f"),
        ("3.", "3.0"),
        ("1e-3", "0.001"),
        ("1_000", "1000"),
        ("3000000000", "3000000000l"),
        ("00i", "00i"),
        ("-128c", "00c"),
        ("NULL", "NULL"),
        ("'a'", "97c"),
        ("'abc'", "\"abc\""),
        ("\"say \\\"so\\\"\"", "\"say \\\"so\\\"\""),
        ("2012.06.13", "2012.06.13"),
        ("2012.06.13 13:30:10", "2012.06.13T13:30:10"),
        ("2012.06.13T13:30:10.008", "2012.06.13T13:30:10.008"),
        ("2012.06.13T13:30:10.008000001", "2012.06.13T13:30:10.008000001"),
        ("2012.06M", "2012.06M"),
        ("13:30:10.008", "13:30:10.008"),
        ("13:30m", "13:30m"),
        ("5m", "5m"),
        ("200ms", "200ms"),
    ]);
}

#[test]
fn blanks_between_scalars_make_a_vector() {
    check(&[
        ("1 2 3", "1 2 3"),
        ("20 20.02", "20.0 20.02"),
        ("-2 -3 4", "-2 -3 4"),
        ("`a`b `c", "`a`b`c"),
        ("\"x y\" \"z\"", "\"x y\" \"z\""),
        ("2012.06.13 2012.06.14", "2012.06.13 2012.06.14"),
        ("09:30:00 13:00:00", "09:30:00 13:00:00"),
        ("[1, , 4]", "[1, , 4]"),
        ("(1, \"a\")", "(1, \"a\")"),
        ("(1,)", "(1,)"),
    ]);
}

#[test]
fn a_minus_is_a_sign_only_where_a_number_begins() {
    check(&[("x -3", "x - 3"), ("x - -3", "x - -3"), ("f(x) -3", "f(x) - 3"), ("-x", "-x"), ("2 * -3", "2 * -3")]);
}

#[test]
fn operators_bind_by_their_precedence() {
    check(&[
        ("1 + 2 * 3", "1 + 2 * 3"),
        ("(1 + 2) * 3", "(1 + 2) * 3"),
        ("2 ** 3 ** 2", "2 ** 3 ** 2"),
        ("a - (b - c)", "a - (b - c)"),
        ("3 * a..10", "3 * a..10"),
        ("(3 * a)..10", "(3 * a)..10"),
        ("1..6$2:3", "1..6 $ 2:3"),
        ("-2:2", "-2:2"),
        ("a || b && !c", "a || b && !c"),
        ("not x in y", "!(x in y)"),
        ("a < b < c", "a < b && b < c"),
        ("(a < b) < c", "(a < b) < c"),
        ("x between 1:6 and y", "x between 1:6 && y"),
        ("x between 1 and 6", "x between 1:6"),
        ("a ? b : c ? d : e", "a ? b : c ? d : e"),
        ("sum 1 2 3 == 6", "sum(1 2 3 == 6)"),
        ("avg sin abs x", "avg(sin(abs(x)))"),
        ("1 2 3 add 4", "add(1 2 3, 4)"),
        ("x add y", "add(x, y)"),
        ("add:A(x)", "accumulate(add, x)"),
    ]);
}

#[test]
fn a_letter_behind_a_function_is_a_higher_order_function() {
    check(&[
        ("+ :E (1 2 3, 4 5 6)", "each(add, 1 2 3, 4 5 6)"),
        ("+:T 1 2 3", "reduce(add, 1 2 3)"),
        ("0 +:T x", "reduce(add, x, 0)"),
        ("sum:U([1 2,3 4])", "loop(sum, [1 2, 3 4])"),
        ("add:E(a, b)", "each(add, a, b)"),
        ("0 +:A 1 2 3", "accumulate(add, 1 2 3, 0)"),
        ("1 2 +:L 1 2 3", "eachLeft(add, 1 2, 1 2 3)"),
        ("1 2 3 +:R 1 2", "eachRight(add, 1 2 3, 1 2)"),
        ("+ :P x", "eachPre(add, x)"),
        ("- :P x", "eachPre(sub, x)"),
        ("1 -:P x", "eachPre(sub, x, 1)"),
        ("+ :O x", "eachPost(add, x)"),
        ("price avg :G sym", "groupby(avg, price, sym)"),
        ("price avg :X sym", "contextby(avg, price, sym)"),
        ("price avg:X sym", "contextby(avg, price, sym)"),
        ("price f:X sym", "contextby(f, price, sym)"),
        ("price > price avg :X sym", "price > contextby(avg, price, sym)"),
        ("x *:C y", "cross(mul, x, y)"),
        ("sum:H(m)", "byRow(sum, m)"),
        ("sum:V m", "byColumn(sum, m)"),
        ("<+:E x>", "<each(add, x)>"),
        ("f{1}:E x + y", "each(f{1}, x + y)"),
        ("add:E(a, b) + 1", "each(add, a, b) + 1"),
        ("(x -> x):E(1 2)", "each((x -> x), 1 2)"),
        // Not one: a pair, a condition's branch, a key.
        ("a:E", "a:E"),
        ("m[a:T]", "m[a:T]"),
        ("c ? a :E", "c ? a : E"),
        ("c ? f:E(x) : y", "c ? each(f, x) : y"),
        ("{a: E (x)}", "{a: E(x)}"),
    ]);
}

#[test]
fn case_is_a_choice_by_conditions() {
    check(&[
        ("case when a then 1 end", "iif(a || false, 1, NULL)"),
        ("case when a > 1 then x when b then y else z end", "iif(a > 1 || false, x, iif(b || false, y, z))"),
        ("f(case when a then b else c end) + 1", "f(iif(a || false, b, c)) + 1"),
        ("<case when a then b end as x>", "<iif(a || false, b, NULL) as x>"),
    ]);
    assert_eq!(
        errors("case when a then b else c"),
        ["test:1:26: syntax error: expected `end`, found the end of the script"]
    );
}

#[test]
fn calls_take_names_gaps_and_partial_applications() {
    check(&[
        ("f(a=1, , b)", "f(a=1, , b)"),
        ("msum{, 3}", "msum{, 3}"),
        ("weigh{,}", "weigh{, }"),
        ("obj.method{1}", "obj.method{1}"),
        ("a.b.c(1)[2].d", "a.b.c(1)[2].d"),
        ("table(1 2 as id)", "table(id=1 2)"),
        ("INT[]", "INT[]"),
        ("::sum(x)", "::sum(x)"),
        ("{\"a\": 1, \"b\": x}", "{\"a\": 1, \"b\": x}"),
    ]);
}

#[test]
fn lambdas_keep_their_own_text() {
    check(&[
        ("x -> x+1", "x -> x+1"),
        ("(x, y) -> x*y", "(x, y) -> x*y"),
        ("{x, y -> x*y}", "{x, y -> x*y}"),
        ("def(x) { return x }", "def(x) { return x }"),
        ("each(x -> x+1, v)", "each((x -> x+1), v)"),
        ("s.map(msg -> select * from msg where a > 1)", "s.map(msg -> select * from msg where a > 1)"),
    ]);
}

#[test]
fn metacode_ends_at_the_bracket_that_compares_nothing() {
    check(&[
        ("<price > 10>", "<price > 10>"),
        ("[<price < 2>, <price > 6>]", "[<price < 2>, <price > 6>]"),
        ("f(filter=<prev(price) != price>, keepOrder=true)", "f(filter=<prev(price) != price>, keepOrder=true)"),
        ("<[a, b as c, MACD(x) as `d`e]>", "<[a, b as c, MACD(x) as `d`e]>"),
        ("(<[sum(v) as s]>, <[max(p)]>)", "(<[sum(v) as s]>, <[max(p)]>)"),
        ("<-5 + x>", "<-5 + x>"),
        ("<a > (b > c)>", "<a > (b > c)>"),
    ]);
    let statements = parsed("d[`k] = <A * B>\nd[`l] = <price>\nx = 1").statements;
    assert_eq!(statements.len(), 3);
}

#[test]
fn queries_take_all_their_clauses() {
    let text = "select top 3 sym, sum(x) as s from t where a = 1, b > 2\n group by sym, bar(time, 5) as k\n \
                having sum(x) > 1\n order by s desc, k asc nulls first";
    assert_eq!(
        printed(text),
        "select sym, sum(x) as s from t where a == 1, b > 2 group by sym, bar(time, 5) as k having sum(x) > 1 \
         order by s desc, k limit 3"
    );
    check(&[
        ("exec last(n) from stats", "exec last(n) from stats"),
        ("select count(*) from a.b.c", "select count(*) from a.b.c"),
        (
            "select *, x * 2 as y from t context by s csort k desc limit -1",
            "select *, x * 2 as y from t context by s csort k desc limit -1",
        ),
    ]);
}

#[test]
fn a_line_that_begins_with_a_dot_goes_on() {
    let statements = parsed("g.source(`a)\n  .f(1)   // a remark\n\n  .g(2)\nx = 1").statements;
    assert_eq!(statements.len(), 2);
}

#[test]
fn a_newline_within_brackets_ends_nothing() {
    assert_eq!(errors("x = f(\n  1,\n  2\n)\ny = [1,\n 2]\nz = 1 +\n 2"), Vec::<String>::new());
}

#[test]
fn every_statement_is_read() {
    let text = "
        if (a) { b = 1 } else if (c) b = 2; else { b = 3 }
        for (x in [1, 2]) { if (x > 1) break; continue }
        for (i in 0:n) s += i
        while (true) { x -= 1 }
        do { x *= 2 } while (x < 10)
        try { throw \"no\" } catch (ex) { print(ex) }
        @state
        def f(mutable a, b=3) { return a, b }
        defg g(x): sum(x)
        a, b = f(1)
        t.col = 1; d[`k] = 2
        use catalog demo
        use CATALOG demo
        use ops::more
        share t as n
        insert into t values (1, 2)
        insert into t (a, b) values (1, 2)
        update t set a = 1, b = 2 where c = 3 context by d
        delete from t where a = 1
        assert x == 1
        go
        undef(`t, SHARED)
    ";
    assert_eq!(errors(text), Vec::<String>::new());
}

#[test]
fn seed_scripts_parse_verbatim() {
    for script in [
        include_str!("../../tests/scripts/one_minute_indicators.dos"),
        include_str!("../../tests/scripts/engine_fork.dos"),
        include_str!("../../tests/scripts/parallel_klines.dos"),
    ] {
        assert_eq!(errors(script), Vec::<String>::new());
    }
}

#[test]
fn one_run_reports_every_error() {
    assert_eq!(
        errors("x = * 2\nif (a >) { y = ] }\nf(1, 2 3x)\nz = 1"),
        [
            "test:1:5: syntax error: expected an expression, found `*`",
            "test:2:8: syntax error: expected an expression, found `)`",
            "test:2:16: syntax error: expected an expression, found `]`",
            "test:3:8: unknown letters behind a number: found=`3x` (a length of time ends with y M w d B H m s ms us ns, a \
             number with b c h i l f F)",
        ]
    );
}

#[test]
fn an_open_bracket_is_named() {
    assert_eq!(
        errors("g = createStreamGraph(\"refused\"\ng.submit()"),
        ["test:2:1: syntax error: expected `,` or `)`, found `g` (the `(` at 1:22 is not closed)"]
    );
}

#[test]
fn what_cannot_be_done_is_said() {
    assert_eq!(errors("if (a) { go }"), ["test:1:10: `go` is not allowed within a block"]);
    assert_eq!(
        errors("f（1）").first().map(String::as_str),
        Some("test:1:2: unexpected character: found=`（` (did you mean `(`?)")
    );
}

#[test]
fn hostile_nesting_is_refused() {
    for (part, count) in [
        ("(", 10_000),
        ("[", 200_000),
        ("-", 10_000),
        ("not ", 10_000),
        ("x->", 10_000),
        ("<", 10_000),
        ("f{", 10_000),
        ("select ", 10_000),
        ("def(x){", 10_000),
        ("if(a){", 10_000),
        ("a?", 10_000),
        ("1+", 100_000),
        (".f()", 100_000),
        ("a<(", 10_000),
    ] {
        assert!(!errors(&format!("x{}", part.repeat(count))).is_empty(), "{part}");
        assert!(!errors(&part.repeat(count)).is_empty(), "{part}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_parser_panic(text in any::<String>()) {
        parsed(&text);
    }

    #[test]
    fn no_soup_of_tokens_makes_the_parser_panic(words in prop::collection::vec(prop::sample::select(WORDS), 0..40)) {
        parsed(&words.concat());
    }

    #[test]
    fn what_parses_prints_to_text_that_parses_to_the_same(words in prop::collection::vec(prop::sample::select(WORDS), 1..12)) {
        let text = words.concat();
        if parse_expr(&Source::new("soup", text.as_str())).is_ok() {
            printed(&text);
        }
    }
}

const WORDS: &[&str] = &[
    "x",
    " y ",
    "f",
    "1",
    " 2",
    "-3",
    "2.5",
    "5m",
    "`a",
    "\"s\"",
    "09:30m",
    "2024.01.02",
    "NULL",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "<[",
    "]>",
    ",",
    ", ",
    ".",
    ":",
    " : ",
    "..",
    "->",
    " -> ",
    "=",
    " = ",
    "==",
    " + ",
    "-",
    " - ",
    "*",
    "/",
    "\\",
    "**",
    " && ",
    " || ",
    "!",
    " in ",
    " between ",
    " as ",
    "select ",
    " from ",
    " where ",
    " group by ",
    "exec ",
    "def",
    "return ",
    "if",
    " else ",
    "for",
    "try",
    "catch",
    "?",
    " ? ",
    "$",
    "\n",
    ";",
    "::",
    "@state ",
    "go",
    "insert into ",
    " values ",
    "not ",
    "sum ",
    "_",
    "\u{4e2d}",
];
