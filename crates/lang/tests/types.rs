//! Every type of the language: made, printed, cast to STRING and back, kept in a table, NULL; and what numbers do at
//! the ends of their types.

use lang::{Host, Session, Source, Value};

struct NoWorld;

impl Host for NoWorld {}

fn run(script: &str) -> Result<Value, String> {
    let result = Session::new().run(&Source::new("t", script), &mut NoWorld);
    result.map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

#[track_caller]
fn shown(script: &str) -> String {
    run(script).unwrap_or_else(|error| panic!("{script}: {error}")).show()
}

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (script, wanted) in cases {
        assert_eq!(shown(script), *wanted, "{script}");
    }
}

/// A type's name and number, a value of it with its text, and a greater value.
const TYPES: &[(&str, &str, &str, &str, &str)] = &[
    ("BOOL", "1", "false", "false", "true"),
    ("CHAR", "2", "97c", "97", "98c"),
    ("SHORT", "3", "-122h", "-122", "122h"),
    ("INT", "4", "21", "21", "22"),
    ("LONG", "5", "9223372036854775806l", "9223372036854775806", "9223372036854775807l"),
    ("DATE", "6", "2013.06.13", "2013.06.13", "2013.06.14"),
    ("MONTH", "7", "2012.06M", "2012.06M", "2012.07M"),
    ("TIME", "8", "13:30:10.008", "13:30:10.008", "13:30:10.009"),
    ("MINUTE", "9", "13:30m", "13:30m", "13:31m"),
    ("SECOND", "10", "13:30:10", "13:30:10", "13:30:11"),
    ("DATETIME", "11", "2012.06.13 13:30:10", "2012.06.13T13:30:10", "2012.06.13T13:30:11"),
    ("TIMESTAMP", "12", "2012.06.13T13:30:10.008", "2012.06.13T13:30:10.008", "2012.06.13T13:30:10.009"),
    ("NANOTIME", "13", "13:30:10.008007006", "13:30:10.008007006", "13:30:10.008007007"),
    (
        "NANOTIMESTAMP",
        "14",
        "2012.06.13T13:30:10.008007006",
        "2012.06.13T13:30:10.008007006",
        "2012.06.13T13:30:10.008007007",
    ),
    ("FLOAT", "15", "2.1f", "2.1", "2.2f"),
    ("DOUBLE", "16", "2.1", "2.1", "2.2"),
    ("SYMBOL", "17", "symbol(`a)", "a", "symbol(`b)"),
    ("STRING", "18", "\"a b\"", "a b", "\"a c\""),
    (
        "UUID",
        "19",
        "uuid(\"5d212a78-cc48-e3b1-4235-b4d91473ee87\")",
        "5d212a78-cc48-e3b1-4235-b4d91473ee87",
        "uuid(\"fd212a78cc48e3b14235b4d91473ee87\")",
    ),
    ("DATEHOUR", "28", "datehour(2012.06.13T13:30:10)", "2012.06.13T13", "2012.06.13T14"),
    ("IPADDR", "30", "ipaddr(\"9.168.1.13\")", "9.168.1.13", "ipaddr(\"10.168.1.13\")"),
    ("IPADDR", "30", "ipaddr(\"2001:0db8::0001\")", "2001:db8::1", "ipaddr(\"fe80::1\")"),
    (
        "INT128",
        "31",
        "int128(\"01671797c52e15f763380b45e841ec32\")",
        "01671797c52e15f763380b45e841ec32",
        "int128(\"f1671797c52e15f763380b45e841ec32\")",
    ),
    ("BLOB", "32", "blob(\"abc\")", "abc", "blob(\"abd\")"),
    ("COMPLEX", "34", "complex(1, -2.5)", "1-2.5i", "complex(1, -1)"),
    ("POINT", "35", "point(1, 2)", "(1, 2)", "point(1, 3)"),
    ("DECIMAL32(2)", "37", "decimal32(1.5, 2)", "1.50", "decimal32(1.51, 2)"),
    ("DECIMAL64(4)", "38", "decimal64(-1.5, 4)", "-1.5000", "decimal64(1.5, 4)"),
    ("DECIMAL128(10)", "39", "decimal128(\"0.0000000001\", 10)", "0.0000000001", "decimal128(1, 10)"),
];

#[test]
fn every_type_is_made_printed_cast_kept_and_null() {
    for (ty, number, value, text, greater) in TYPES {
        let plain = ty.split('(').next().expect("a name");
        let decimal = plain != *ty;
        let set = format!("x = {value}; y = {greater}; n = NULL${ty};");
        let is = |script: &str, wanted: &str| assert_eq!(shown(&format!("{set} {script}")), wanted, "{set} {script}");

        // Made and printed.
        is("x", text);
        is("typestr(x)", ty);
        is("type(x)", number);
        is("typestr([x, y, x])", &if *ty == "STRING" { format!("{ty} VECTOR") } else { format!("FAST {ty} VECTOR") });
        let printed = run(&format!("{set} (x, n, [x, n])")).expect("values").to_string();
        is(&format!("eqObj({printed}, (x, n, [x, n]))"), "true");
        assert_eq!(run(&printed).expect("values").to_string(), printed);

        // Cast to STRING and back.
        is("string(x)", text);
        is(&format!("string(x)${ty} == x"), "true");
        is(&format!("cast(string([x, y]), {ty}) == [x, y]"), "[true,true]");
        is(&format!("typestr(cast(string(x), \"{ty}\"))"), ty);

        // Compared.
        is("(x == x, x == y, x != y)", "(true,false,true)");
        is("(x in [x, n], y in [x, n], n in [x, n], n in [x, y])", "(true,false,true,false)");
        is("size(distinct([x, y, x, n, n]))", "3");
        is("sort([y, n, x]) == [n, x, y]", "[true,true,true]");
        is("d = dict([x, y], 1 2); d[y]", "2");
        if !matches!(plain, "COMPLEX" | "POINT") {
            is("(x < y, y < x, n < x, x between x:y)", "(true,false,true,true)");
        }

        // NULL.
        is("(isNull(n), isNull(x), n == n, n == x)", "(true,false,true,false)");
        is("typestr(n)", ty);
        is("isNull([x, n])", "[false,true]");
        is("nullFill([n, y], x) == [x, y]", "[true,true]");
        if !decimal {
            is(&format!("({0}(), typestr({0}()))", ty.to_lowercase()), &format!("(,\"{ty}\")"));
        }

        // Kept in a table.
        let table = format!("t = table(1:0, `k`v, [INT, {ty}]);");
        is(&format!("{table} t.append!(table(1 2 as k, [x, n] as v)); t"), &format!("k v\n1 {text}\n2"));
        is(
            &format!("{table} tableInsert(t, 1, x); (schema(t).colDefs.typeString[1], t.v[0] == x)"),
            &format!("(\"{ty}\",true)"),
        );
        is(
            "t = table([x, y, x, n] as k, 1 2 3 4 as v); exec sum_v from (select sum(v) from t group by k order by sum_v)",
            "[2,4,4]",
        );
        is("t = table([x, y, x, n] as k, 1 2 3 4 as v); exec v from t where k == x", "[1,3]");
        is("t = table([y, x, n] as k, 1 2 3 as v); exec v from t order by k", "[3,2,1]");
        is(&format!("isNull(array({ty}, 2, 2, n))"), "[true,true]");
    }
}

#[test]
fn a_duration_is_made_of_its_text() {
    check(&[
        ("duration(\"5m\")", "5m"),
        ("typestr(duration(\"200ms\"))", "DURATION"),
        ("type(1y)", "36"),
        ("string(5m)", "5m"),
        ("temporalAdd(2024.01.31, duration(\"1M\"))", "2024.02.29"),
        ("temporalAdd(2024.01.02T09:30:00.000, duration(\"-2H\"))", "2024.01.02T07:30:00.000"),
        // Units are told apart by case.
        ("(1M, 1m, 1y, 1w, 1d, 1B, 1H, 1s, 1ms, 1us, 1ns)", "(1M,1m,1y,1w,1d,1B,1H,1s,1ms,1us,1ns)"),
    ]);
    for (script, wanted) in [
        ("duration(\"5\")", "found=`\"5\"`"),
        ("duration(\"m\")", "found=`\"m\"`"),
        ("duration(\"5x\")", "found=`\"5x\"`"),
        ("duration(\"00b\")", "found=`\"00b\"`"),
        ("duration(5)", "found=`5`"),
    ] {
        let error = run(script).expect_err(script);
        assert!(
            error.starts_with("t:1:1: a length of time is wanted: parameter=`text`") && error.contains(wanted),
            "{error}"
        );
    }
    assert!(run("5m + 3m").is_err());
}

#[test]
fn an_hour_of_a_date_counts_hours() {
    check(&[
        ("typestr(2012.06.13T13)", "DATEHOUR"),
        ("datehour(2012.06.13)", "2012.06.13T00"),
        ("datehour(2012.06M)", "2012.06.01T00"),
        ("datehour(2012.06.13T13:59:59.999999999)", "2012.06.13T13"),
        ("datehour(1969.12.31T23:59:59)", "1969.12.31T23"),
        ("datehour(\"2012-06-13 13\")", "2012.06.13T13"),
        ("datehour(\"2012.06.13T13:45\")", "2012.06.13T13"),
        ("datehour(372253)", "2012.06.19T13"),
        ("2012.06.13T23 + 1 25", "[2012.06.14T00,2012.06.15T00]"),
        ("2012.06.13T00 - 1", "2012.06.12T23"),
        ("2012.06.14T01 - 2012.06.13T23", "2"),
        ("typestr(2012.06.14T01 - 2012.06.13T23)", "INT"),
        ("2012.06.13T22..2012.06.14T01", "[2012.06.13T22,2012.06.13T23,2012.06.14T00,2012.06.14T01]"),
        ("2012.06.13T13 2012.06.13T14", "[2012.06.13T13,2012.06.13T14]"),
        ("temporalAdd(2012.06.13T13, 2H)", "2012.06.13T15"),
        ("temporalAdd(2012.06.13T13, 2, \"d\")", "2012.06.15T13"),
        ("temporalAdd(2012.01.31T13, 1M)", "2012.02.29T13"),
        ("temporalAdd(2012.06.15T13, 1B)", "2012.06.18T13"),
        ("temporalAdd(2012.06.13T13, 120m)", "2012.06.13T15"),
        ("date(2012.06.13T13)", "2012.06.13"),
        ("month(2012.06.13T13)", "2012.06M"),
        ("datetime(2012.06.13T13)", "2012.06.13T13:00:00"),
        ("timestamp(2012.06.13T13)", "2012.06.13T13:00:00.000"),
        ("nanotimestamp(2012.06.13T13)", "2012.06.13T13:00:00.000000000"),
        ("second(2012.06.13T13)", "13:00:00"),
        ("2012.06.13T13$LONG", "372109"),
        ("(hour(2012.06.13T13), minuteOfHour(2012.06.13T13))", "(13,0)"),
        (
            "(year(2012.06.13T13), monthOfYear(2012.06.13T13), dayOfMonth(2012.06.13T13), weekday(2012.06.13T13))",
            "(2012,6,13,3)",
        ),
        ("(quarterOfYear(2012.06.13T13), weekOfYear(2012.06.13T13), dayOfYear(2012.06.13T13))", "(2,24,165)"),
        (
            "(monthBegin(2012.06.13T13), yearEnd(2012.06.13T13), businessDay(2012.06.16T13))",
            "(2012.06.01,2012.12.31,2012.06.15)",
        ),
        ("isMonthEnd(2012.06.30T13)", "true"),
        ("temporalFormat(2012.06.13T13, \"yyyy-MM-dd HH:mm\")", "2012-06-13 13:00"),
        ("bar(2012.06.13T13, 6)", "2012.06.13T12"),
        ("bar(2012.06.13T13, 1d)", "2012.06.13T00"),
        ("2012.06.13T13 == 2012.06.13T13:00:00", "true"),
        ("2012.06.13T13 > 2012.06.13", "true"),
        ("2012.06.13T13 < 2012.06.13T13:00:00.001", "true"),
        ("2012.06.13T13 in [2012.06.13T13:00:00.000]", "true"),
        ("typestr(max(2012.06.13T13, 2012.06.13))", "DATEHOUR"),
        ("deltas([2012.06.13T13, 2012.06.13T15])", "[,2]"),
    ]);
}

#[test]
fn complex_numbers_are_added_multiplied_and_divided() {
    check(&[
        ("complex(1, 2) + complex(3, -4)", "4-2i"),
        ("complex(1, 2) - 1", "0+2i"),
        ("2 * complex(1, 2)", "2+4i"),
        ("complex(1, 2) * complex(1, -2)", "5+0i"),
        ("complex(5, 0) \\ complex(1, 2)", "1-2i"),
        ("complex(1, 2) \\ 0", ""),
        ("complex(1, 2) + NULL", ""),
        ("complex(1e308, 0) * 10", ""),
        ("complex(1 2, [3,])", "[1+3i,]"),
        ("complex(1 2, 3) + complex(1, 1)", "[2+4i,3+4i]"),
        ("complex(0, -0.0) == complex(-0.0, 0)", "true"),
        ("1.5$COMPLEX", "1.5+0i"),
        ("\"1e-3-2i\"$COMPLEX", "0.001-2i"),
        ("point(1 2, 3) == point(1, 3)", "[true,false]"),
        ("point(NULL, 1)", ""),
    ]);
    for (script, wanted) in [
        (
            "complex(1, 2) < complex(1, 3)",
            "t:1:1: lt does not take these types: types=`COMPLEX, COMPLEX` (complex numbers and points have no order)",
        ),
        (
            "point(1, 2) >= point(1, 3)",
            "t:1:1: ge does not take these types: types=`POINT, POINT` (complex numbers and points have no order)",
        ),
        ("point(1, 2) + point(1, 3)", "t:1:1: add does not take these types: types=`POINT, POINT`"),
        ("complex(\"a\", 1)", "t:1:1: a number is wanted: argument=`1`, type=`STRING`"),
        ("datehour(13:30:00)", "t:1:1: no such cast: from=`SECOND`, to=`DATEHOUR`"),
        ("uuid(5)", "t:1:1: no such cast: from=`INT`, to=`UUID`"),
    ] {
        assert_eq!(run(script).expect_err(script), wanted);
    }
}

#[test]
fn a_text_that_is_no_value_is_told_how_one_is_written() {
    for (script, wanted) in [
        (
            "uuid(\"12\")",
            "t:1:1: not a UUID value: text=`12` (a UUID is written as 5d212a78-cc48-e3b1-4235-b4d91473ee87)",
        ),
        (
            "ipaddr(\"1.2.3\")",
            "t:1:1: not a IPADDR value: text=`1.2.3` (an address is written as 192.168.1.13 or 2001:db8::1)",
        ),
        (
            "int128([\"\", \"xy\"])",
            "t:1:1: not a INT128 value: text=`xy` (an INT128 is written as 32 hexadecimal digits)",
        ),
        ("\"1+2\"$COMPLEX", "t:1:1: not a COMPLEX value: text=`1+2` (a complex number is written as 1+2i)"),
        ("\"1,2\"$POINT", "t:1:1: not a POINT value: text=`1,2` (a point is written as (1, 2))"),
        ("2100.01.01T00:00:00", "t:1:1: value out of range: value=`2100.01.01T00:00:00`, type=`DATETIME`"),
    ] {
        assert_eq!(run(script).expect_err(script), wanted);
    }
    // An empty text is NULL.
    check(&[
        ("uuid([\"5d212a78cc48e3b14235b4d91473ee87\", \"\"])", "[5d212a78-cc48-e3b1-4235-b4d91473ee87,]"),
        ("isNull(ipaddr(\"\"))", "true"),
        ("isNull(blob(\"\"))", "true"),
        ("blob([\"a\\\"b\", \"\"])", "[\"a\"b\",]"),
        ("blob(\"a\\\"b\")", "a\"b"),
        ("string(blob(\"ä\"))", "ä"),
    ]);
}

#[test]
fn what_a_type_has_no_room_for_is_null() {
    check(&[
        // The least value of the storage is the NULL of whole numbers.
        ("(char(127), char(128), char(-127), char(-128), isNull(char(-128)))", "(127,,-127,,true)"),
        ("(short(32767), short(32768), short(-32768))", "(32767,,)"),
        ("(int(2147483647l), int(2147483648l), int(-2147483648l))", "(2147483647,,)"),
        (
            "(int(2147483647.9), int(2147483648.0), int(-2147483647.9), int(-2147483648.0))",
            "(2147483647,,-2147483647,)",
        ),
        (
            "(long(9.2e18), long(9223372036854775808.0), long(-9223372036854775808.0), long(1e19))",
            "(9200000000000000000,,,)",
        ),
        ("[300, 1]$CHAR", "[,1]"),
        ("1e39$FLOAT", ""),
        ("isNull(float([1e39, -1e39, 1]))", "[true,true,false]"),
        ("(float(\"1e39\"), double(\"1e400\"), double(\"inf\"), double(\"nan\"))", "(,,,)"),
        // Arithmetic.
        ("isNull(2147483647 + 1)", "true"),
        ("(2147483647 + 2, -2147483647 - 2)", "(-2147483647,2147483647)"),
        ("isNull(9223372036854775807l + 1l)", "true"),
        ("isNull(-9223372036854775807l - 1l)", "true"),
        ("isNull(127c + 1c)", "true"),
        ("100c + 100c", "-56"),
        ("isNull(1 << 31)", "true"),
        ("[1e308, 1] * 10", "[,10]"),
        ("-1e308 * 10", ""),
        ("3e38f + 3e38f", ""),
        ("1e308 \\ 0.1", ""),
        ("(1.0 / 0, 1 / 0, 1 % 0, 1 \\ 0)", "(,,,)"),
        ("isNull(1.0 / 0)", "true"),
        // Times.
        (
            "(datetime(1901.12.13), datetime(1901.12.14), datetime(2038.01.19), datetime(2038.01.20))",
            "(,1901.12.14T00:00:00,2038.01.19T00:00:00,)",
        ),
        (
            "(nanotimestamp(1677.09.20), nanotimestamp(1677.09.22), nanotimestamp(2262.04.11), nanotimestamp(2262.04.13))",
            "(,1677.09.22T00:00:00.000000000,2262.04.11T00:00:00.000000000,)",
        ),
        ("2038.01.19T03:14:07 + 0 1", "[2038.01.19T03:14:07,]"),
        ("datetime(\"2038.01.20T00:00:00\")", ""),
        // Decimals.
        ("(decimal32(9999999.99, 2), decimal32(10000000, 2), decimal32(-10000000, 2))", "(9999999.99,,)"),
        ("(decimal64(99999999999999l, 4), decimal64(100000000000000l, 4))", "(99999999999999.0000,)"),
        ("decimal32(9999999.99, 2) + decimal32(0.01, 2)", ""),
        ("decimal128(\"99999999999999999999999999999999999999\", 0)", "99999999999999999999999999999999999999"),
        ("decimal128(\"100000000000000000000000000000000000000\", 0)", ""),
        ("decimal32(1, 9)", ""),
        ("decimal32(00F, 2)", ""),
    ]);
}

#[test]
fn casts_between_numbers_cut_or_round() {
    check(&[
        // Whole numbers cut a fraction, decimals round half away from zero.
        ("(int(2.5), int(-2.5), short(2.9f), long(-0.9))", "(2,-2,2,0)"),
        ("(int(decimal32(5.79, 2)), int(decimal32(-5.79, 2)), double(decimal32(5.79, 2)))", "(5,-5,5.79)"),
        ("long(decimal64(\"123456789012345678\", 0))", "123456789012345678"),
        ("long(decimal128(\"9223372036854775808\", 0))", ""),
        ("(decimal32(1.245, 2), decimal32(-1.245, 2), \"1.244\"$DECIMAL32(2))", "(1.25,-1.25,1.24)"),
        (
            "(decimal32(decimal64(1.245, 3), 2), decimal32(decimal64(-1.245, 3), 2), decimal64(decimal32(1.2, 1), 3))",
            "(1.25,-1.25,1.200)",
        ),
        ("decimal128(\"12345678901234567890123456.789\", 3)", "12345678901234567890123456.789"),
        ("decimal32(\"1e2\", 1)", "100.0"),
        ("(decimal32(true, 1), bool(decimal32(0.1, 1)), bool(decimal32(0, 1)))", "(1.0,true,false)"),
        (
            "(bool(2), bool(0), bool(0.5), bool(\"TRUE\"), bool(\"false\"), bool(\"x\"), bool(00i))",
            "(true,false,true,true,false,,)",
        ),
        ("(16777217$FLOAT, 0.1f$DOUBLE == 0.1, string(1.1f))", "(16777216,false,\"1.1\")"),
        ("1 2 3$DOUBLE", "[1,2,3]"),
        ("[1.5, , 2.5]$INT", "[1,,2]"),
        ("(true$INT, 97c$INT, 97$CHAR, 3h$LONG, 3l$SHORT, 3$FLOAT, 3.7f$LONG, 3.7$SHORT)", "(1,97,97,3,3,3,3,3)"),
        // Texts.
        (
            "(int(\" 12 \"), int(\"12.7\"), int(\"1e3\"), int(\"12a\"), int(\"\"), int(\"2147483648\"))",
            "(12,12,1000,,,)",
        ),
        (
            "(long(\"9223372036854775807\"), long(\"9223372036854775808\"), double(\"1.5\"), double(\"x\"))",
            "(9223372036854775807,,1.5,)",
        ),
        ("cast([\"1\", \"x\", \"\"], SHORT)", "[1,,]"),
    ]);
}

#[test]
fn typed_nulls_have_literals() {
    for (literal, ty) in [
        ("00b", "BOOL"),
        ("00c", "CHAR"),
        ("00h", "SHORT"),
        ("00i", "INT"),
        ("00l", "LONG"),
        ("00f", "FLOAT"),
        ("00F", "DOUBLE"),
        ("00d", "DATE"),
        ("00M", "MONTH"),
        ("00m", "MINUTE"),
        ("00s", "SECOND"),
        ("00t", "TIME"),
        ("00D", "DATETIME"),
        ("00T", "TIMESTAMP"),
        ("00n", "NANOTIME"),
        ("00N", "NANOTIMESTAMP"),
    ] {
        assert_eq!(
            shown(&format!("(typestr({literal}), isNull({literal}), {literal} == NULL)")),
            format!("(\"{ty}\",true,true)")
        );
    }
}
