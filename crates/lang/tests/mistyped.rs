//! Scripts with one mistake each: the error names its place, what is wrong, and often what would mend it.

use lang::{Host, Session, Source};

struct NoWorld;

impl Host for NoWorld {}

#[test]
fn each_mistake_is_told_with_its_place_and_its_mend() {
    let cases: &[(&str, &[&str])] = &[
        ("mvag(1 2 3, 2)", &["t:1:1: unknown function: name=`mvag` (did you mean `mavg`?)"]),
        ("price = 1 2 3\nsum(prcie)", &["t:2:5: unknown name: name=`prcie` (did you mean `price`?)"]),
        (
            "t = table(1 2 as price)\nselect prise from t",
            &["t:2:8: unknown name: name=`prise` (did you mean `price`?)"],
        ),
        ("t = table(1 2 as price)\nt.prise", &["t:2:1: unknown column: column=`prise` (did you mean `price`?)"]),
        (
            "mavg(1 2 3)",
            &["t:1:1: mavg expects 2 to 3 arguments: found=`1` (its parameters are X, window, minPeriods)"],
        ),
        (
            "mavg(1 2 3, 2, 3, 4)",
            &["t:1:1: mavg expects 2 to 3 arguments: found=`4` (its parameters are X, window, minPeriods)"],
        ),
        ("mavg(1 2 3, windw=2)", &["t:1:1: mavg has no such parameter: parameter=`windw` (did you mean `window`?)"]),
        (
            "round(2.5, precison=1)",
            &["t:1:1: round has no such parameter: parameter=`precison` (did you mean `precision`?)"],
        ),
        (
            "temporalAdd(2024.01.31, 1, \"Q\")",
            &[
                "t:1:1: a duration, or a whole number and a unit, are wanted: parameter=`duration` (units are y M w d B H m s ms us ns)",
            ],
        ),
        (
            "x = 5x",
            &[
                "t:1:5: unknown letters behind a number: found=`5x` (a length of time ends with y M w d B H m s ms us ns, a number with b c h i l f F)",
            ],
        ),
        ("x = 2024.13.01", &["t:1:5: not a DATE value: text=`2024.13.01`"]),
        ("x = 25:61:00", &["t:1:5: not a SECOND value: text=`25:61:00`"]),
        (
            "t = keyedTable(`prise, 1 2 as price)",
            &["t:1:5: the table has no such column: column=`prise` (did you mean `price`?)"],
        ),
        (
            "t = streamTable(1 2 as price)\nupdate t set price = 0",
            &[
                "t:2:1: rows and columns of a stream table stay as they are; rows can only be added (take a copy that can be changed: `select * from t`)",
            ],
        ),
        ("t = keyedTable(`k, 1 2 as k)\nupdate t set k = 0", &["t:2:1: several rows would have one key: keys=`k`"]),
        (
            "t = table(1 2 as price)\nshare(t, prices)",
            &[
                "t:2:10: syntax error: expected the name to share it by, as a text: `share(t, \"name\")`, found `prices`",
            ],
        ),
        ("select a form t", &["t:1:10: syntax error: expected `from`, found `form`"]),
        (
            "t = table(1 2 as a)\nselect a from t wher a > 1",
            &["t:2:17: syntax error: expected a clause or the end of the query, found `wher` (did you mean `where`?)"],
        ),
        (
            "t = table(1 2 as a)\nselect a from t group a",
            &["t:2:23: syntax error: expected `by` after `group`, found `a`"],
        ),
        (
            "t = table(1 2 as a)\nselect a from t order a",
            &["t:2:23: syntax error: expected `by` after `order`, found `a`"],
        ),
        ("x = (1 + 2\ny = 3", &["t:2:1: syntax error: expected `,` or `)`, found `y` (the `(` at 1:5 is not closed)"]),
        ("x = [1, 2\ny = 3", &["t:2:1: syntax error: expected `,` or `]`, found `y` (the `[` at 1:5 is not closed)"]),
        (
            "def f(x) { return x\ny = 3",
            &["t:2:6: syntax error: expected `}`, found the end of the script (the `{` at 1:10 is not closed)"],
        ),
        ("x = \"abc", &["t:1:5: string is not closed: expected=`\"`"]),
        ("if (x > 1 { y = 2 }", &["t:1:11: syntax error: expected `)`, found `{`"]),
        ("for (i of 0:3) print(i)", &["t:1:8: syntax error: expected `in`, found `of`"]),
        ("while x < 3 { x += 1 }", &["t:1:7: syntax error: expected `(`, found `x`"]),
        ("try { x = 1 }", &["t:1:14: syntax error: expected `catch`, found the end of the script"]),
        ("else { x = 1 }", &["t:1:1: syntax error: expected a statement before `else`, found `else`"]),
        ("1 + 2 = 3", &["t:1:1: syntax error: expected a variable, an element or a column before `=` (`==` compares)"]),
        ("1 2 3 + 1 2", &["t:1:1: add: vectors of different length: parameter=`Y`, rows=`2`, wanted=`3`"]),
        ("\"a\" * 2", &["t:1:1: mul does not take these types: types=`STRING, INT`"]),
        ("def f(a) { return a }\nf(1, 2)", &["t:2:1: too many arguments: function=`f`, parameters=`1`, arguments=`2`"]),
        (
            "def f(first) { return first }\nf(frist=1)",
            &["t:2:1: unknown parameter: function=`f`, parameter=`frist` (did you mean `first`?)"],
        ),
        ("m = 1..6$2:3\nm[0, 3]", &["t:2:1: no such column of a matrix: index=`3`, columns=`3`"]),
        (
            "m = 1..6$2:3\nm[0, 1, 2]",
            &["t:2:1: a matrix has a row and a column as index: found=`3` (write m[row, column], or m[column])"],
        ),
        ("(1..6$2:3) + 1 2 3", &["t:1:1: add: vectors of different length: parameter=`Y`, rows=`3`, wanted=`2`"]),
        ("(1..6$2:3) * (1..6$3:2)", &["t:1:1: mul: matrices of different shape: shapes=`2:3, 3:2`"]),
        ("1..6$4:2", &["t:1:1: not as many elements as the shape has: shape=`4:2`, elements=`6`"]),
        ("x = 5\ny = case when x > 3 then 1", &["t:2:27: syntax error: expected `end`, found the end of the script"]),
        ("table(10:0, `a`b, [INT])", &["t:1:1: not as many types as columns: columns=`2`, types=`1`"]),
        ("table(10:0, `a`b, [INT, DUOBLE])", &["t:1:25: unknown name: name=`DUOBLE` (did you mean `DOUBLE`?)"]),
        ("table(10:0, `a`b, `INT`DUOBLE)", &["t:1:1: not a type: found=`\"DUOBLE\"` (did you mean `DOUBLE`?)"]),
        (
            "t = table(1 2 as a, 3 4 as b)\nt.append!(table(1 as a))",
            &["t:2:1: not as many columns as the table has: wanted=`2`, found=`1`"],
        ),
        (
            "t = table(1 2 as a, 3 4 as b)\ninsert into t values (1)",
            &["t:2:1: not as many columns as the table has: wanted=`2`, found=`1`"],
        ),
        (
            "t = table(1 2 as a)\ninsert into t (aa) values (1)",
            &["t:2:1: unknown column: column=`aa` (did you mean `a`?)"],
        ),
        (
            "x = 1 ，2",
            &[
                "t:1:7: unexpected character: found=`，` (did you mean `,`?)",
                "t:1:8: syntax error: expected the end of the statement, found `2`",
            ],
        ),
        (
            "use catalg demo",
            &[
                "t:1:12: syntax error: expected the end of the statement, found `demo` (a catalog is used by `use catalog name`, a module by `use name`)",
            ],
        ),
        ("cast(1, INTEGER)", &["t:1:9: unknown name: name=`INTEGER`"]),
        ("cast(1, \"INTEGER\")", &["t:1:1: a type is wanted: parameter=`type`, found=`\"INTEGER\"`"]),
        ("\"12\"$INTT", &["t:1:6: unknown name: name=`INTT` (did you mean `INT`?)"]),
        (
            "temporalParse(\"2024\", \"qqqq\")",
            &["t:1:1: unknown letter in a format: letter=`q`, format=`qqqq` (known are y M d H h a m s S n)"],
        ),
        ("msum(1 2 3, 0)", &["t:1:1: a whole number from 2 to 102400 is wanted: parameter=`window`, value=`0`"]),
        (
            "rank(1 2, tiesMethod=\"mn\")",
            &["t:1:1: one of min, max, average, first is wanted: parameter=`tiesMethod` (did you mean `min`?)"],
        ),
        (
            "t = table(1 2 as idd)\nej(t, t, `id)",
            &["t:2:1: unknown column: column=`id`, table=`left` (did you mean `idd`?)"],
        ),
        (
            "regexFind(\"a\", \"[\")",
            &[
                "t:1:1: not a regular expression: parameter=`pattern`, found=`[` (a bracket or a repetition in it is not complete; a `\\` before a mark takes its meaning away)",
            ],
        ),
        ("@stat def f(x) { return x }", &["t:1:2: syntax error: expected `state` after `@`, found `stat`"]),
        (
            "x = {\"a\" 1}",
            &[
                "t:1:6: syntax error: expected values of one type in a vector (write `:` between a key and its value, or a tuple: (a, b))",
            ],
        ),
        ("x = 1 +", &["t:1:8: syntax error: expected an expression, found the end of the script"]),
        ("a, b = (1, 2, 3)", &["t:1:8: not as many values as names: names=`2`, values=`3`"]),
        ("x = 1 2 `a", &["t:1:5: syntax error: expected values of one type in a vector (write a tuple: (a, b))"]),
        (
            "bar(2024.01.01T00:00:00, 5q)",
            &[
                "t:1:26: unknown letters behind a number: found=`5q` (a length of time ends with y M w d B H m s ms us ns, a number with b c h i l f F)",
            ],
        ),
        (
            "bar(2024.01.01T00:00:00, \"5m\")",
            &["t:1:1: a whole number above 0, or a duration for a time, is wanted: parameter=`interval`"],
        ),
        ("t = table(1 2 as a)\nselect sum(a) from t group by b", &["t:2:31: unknown name: name=`b`"]),
        ("t = table(1 2 as a)\nupdate t set a = 1 where bb > 1", &["t:2:26: unknown name: name=`bb`"]),
        (
            "t = table(1 2 as a)\nselect a from t pivot by a",
            &["t:2:26: `pivot by` needs a key for rows and one for columns"],
        ),
        ("f = 5\nf(1)", &["t:2:1: not a function: name=`f`, found=`INT`"]),
        ("d = {\"a\": 1}\nd.size2()", &["t:2:1: unknown function: name=`size2` (did you mean `size`?)"]),
        (
            "x = 1 2 3\nx[1",
            &["t:2:4: syntax error: expected `,` or `]`, found the end of the script (the `[` at 2:2 is not closed)"],
        ),
        ("x = 1 2 3\nx[\"a\"]", &["t:2:1: not an index: found=`STRING`"]),
        ("x = `a`b\nx.uper()", &["t:2:1: unknown function: name=`uper` (did you mean `upper`?)"]),
        ("t = table(1 2 as a)\nselect top a from t", &["t:2:12: syntax error: expected a number of rows after `top`"]),
        ("t = table(1 2 as a)\ndelete t where a = 1", &["t:2:8: syntax error: expected `from`, found `t`"]),
        ("def f(a, a) { return a }\nf(1, 2)", &["t:1:10: two parameters have one name: parameter=`a`"]),
        ("retrun 5", &["t:1:1: unknown function: name=`retrun` (did you mean `return`?)"]),
    ];
    for (script, wanted) in cases {
        match Session::new().run(&Source::new("t", *script), &mut NoWorld) {
            Ok(value) => panic!("{script}: {}", value.show()),
            Err(errors) => {
                let found: Vec<String> = errors.iter().map(ToString::to_string).collect();
                assert_eq!(found, *wanted, "{script}");
            }
        }
    }
}
