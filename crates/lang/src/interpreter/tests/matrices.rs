//! Matrices, and the functions that make and take them.

use super::{check, refused, run};

/// What is printed, line by line; the margin of a line ends with `!`.
#[track_caller]
fn printed(script: &str, wanted: &str) {
    let value = run(script).unwrap_or_else(|error| panic!("{script}: {error}"));
    let wanted: Vec<&str> = wanted.trim().lines().map(|line| line.trim().trim_start_matches('!')).collect();
    assert_eq!(value.show().lines().collect::<Vec<_>>(), wanted, "{script}");
}

/// Each case behind the same beginning.
#[track_caller]
fn check_with(start: &str, cases: &[(&str, &str)]) {
    let scripts: Vec<String> = cases.iter().map(|(script, _)| format!("{start} {script}")).collect();
    let cases: Vec<(&str, &str)> =
        scripts.iter().zip(cases).map(|(script, (_, wanted))| (&**script, *wanted)).collect();
    check(&cases);
}

#[test]
fn a_matrix_is_printed_in_columns_below_its_labels() {
    printed(
        "1..6$2:3",
        "
        !#0 #1 #2
        !1  3  5
        !2  4  6
        ",
    );
    printed(
        "rename!(matrix([1, NULL, 30], [4.5, 5, 6]), 2024.01.01 2024.01.02 2024.01.03, `a`long)",
        "
        !           a  long
        !2024.01.01|1  4.5
        !2024.01.02|   5
        !2024.01.03|30 6
        ",
    );
    let shown = run("take(1..2$2:1, 101)").unwrap().show();
    assert_eq!((shown.lines().count(), shown.lines().last()), (102, Some("… 101 rows in all")));
}

#[test]
fn a_matrix_is_made_of_columns_shapes_types_and_tables() {
    check(&[
        ("typestr(1..6$2:3)", "FAST INT MATRIX"),
        ("typestr(matrix(1 2, 3.5 4.5))", "FAST DOUBLE MATRIX"),
        ("typestr(matrix(`a`b, `c`d))", "STRING MATRIX"),
        ("(form(1..6$2:3), type(1..6$2:3))", "(3,4)"),
        ("m = matrix(INT, 2, 3); (m[0], shape(m))", "([0,0],2:3)"),
        ("matrix(DOUBLE, 2, 2, , 1)[1]", "[1,1]"),
        ("matrix(INT, 1, 2, defaultValue=7)[0, 1]", "7"),
        ("matrix(STRING, 2, 1)[0]", "[,]"),
        ("m = matrix(INT, 2, 0); (rows(m), cols(m), size(m))", "(2,0,0)"),
        ("m = matrix(table(1 2 as a, 3.5 4.5 as b)); (colNames(m), m[1])", "([\"a\",\"b\"],[3.5,4.5])"),
        ("m = matrix(1..4$2:2, 5 6); shape(m)", "2:3"),
        ("flatten(matrix([1 2, 3 4]))", "[1,2,3,4]"),
        ("m = 1..6$2:3; (rows(m), cols(m), size(m), shape(m))", "(2,3,6,2:3)"),
        ("flatten(transpose(1..6$2:3))", "[1,3,5,2,4,6]"),
        ("transpose([1 2, 3 4])", "([1,3],[2,4])"),
        ("flatten(1..6$2:3$3:2)", "[1,2,3,4,5,6]"),
        ("m = reshape(1..6, 3:2); (m[1], reshape(m))", "([4,5,6],[1,2,3,4,5,6])"),
        ("m = concatMatrix([1..4$2:2, 5..6$2:1]); (shape(m), m[2])", "(2:3,[5,6])"),
        ("m = concatMatrix([1..4$2:2, 5.5 6.5$1:2], false); (shape(m), m[1])", "(3:2,[3,4,6.5])"),
        ("m = 1..4$2:2; m.append!(5 6); (cols(m), m[2])", "(3,[5,6])"),
        ("flatten((1..4$2:2) <- (5..8$2:2))", "[1,2,3,4,5,6,7,8]"),
        ("flatten(join(9 8, 1..4$2:2))", "[9,8,1,2,3,4]"),
        ("m = rename!(1..4$2:2, `a`b, `x`y); (rowNames(m), columnNames(m))", "([\"a\",\"b\"],[\"x\",\"y\"])"),
        ("m = 1..4$2:2; m.rename!(`x`y); (colNames(m), rowNames(m))", "([\"x\",\"y\"],)"),
        ("m = rename!(1..4$2:2, `a`b, `x`y); rowNames(transpose(m))", "[\"x\",\"y\"]"),
        ("rowNames(rename!(rename!(1..4$2:2, `a`b, `x`y), NULL, `x`y))", ""),
        ("table(rename!(1..4$2:2, `x`y)).y", "[3,4]"),
        ("t = table(1 as a, 2 as b); t.append!(1..4$2:2); t.b", "[2,3,4]"),
        ("m = 1..4$2:2; n = m; n[0, 0] = 9; m[0, 0]", "1"),
        ("eqObj(1..4$2:2, matrix(1 2, 3 4))", "true"),
        ("eqObj(1..4$2:2, rename!(1..4$2:2, `a`b))", "false"),
        ("(1 2 3 4$2:2)$DOUBLE", "#0 #1\n1  3\n2  4"),
    ]);
    refused(&[
        ("matrix(1 2, 3 4 5)", "test:1:1: columns of different length: function=`matrix`, rows=`2, 3`"),
        ("matrix(1 2, `a`b)", "test:1:1: columns of one kind are wanted: types=`INT, STRING`"),
        ("1..6$2:2", "test:1:1: not as many elements as the shape has: shape=`2:2`, elements=`6`"),
        (
            "matrix(INT, 100000, 100000)",
            "test:1:1: matrix cannot be made: type=`INT`, shape=`100000:100000`, limit=`10000000`",
        ),
        ("matrix(INT, -1, 1)", "test:1:1: size is out of range: size=`-1`, limit=`10000000`"),
        ("rename!(1..4$2:2, `a)", "test:1:1: not as many labels as columns: columns=`2`, labels=`1`"),
        ("(1..4$2:2) <- 1 2 3", "test:1:1: columns of different length: function=`concatMatrix`, rows=`2, 3`"),
        (
            "concatMatrix([1..4$2:2, 1..2$2:1], false)",
            "test:1:1: matrices of different width: function=`concatMatrix`, columns=`2, 1`",
        ),
    ]);
}

#[test]
fn the_text_of_a_matrix_is_the_matrix_again() {
    for script in [
        "1..6$2:3",
        "matrix([1, NULL], [NULL, NULL])",
        "matrix(`a`b, `c`d)",
        "matrix(INT, 2, 0)",
        "rename!(1..4$2:2, 2024.01.01 2024.01.02, `x`y)",
        "rename!(1..4$2:2, `x`y)",
        "rename!(1..4$2:2, 1 2, NULL)",
    ] {
        let value = run(script).unwrap();
        let again = run(&value.to_string()).unwrap_or_else(|error| panic!("{value}: {error}"));
        assert_eq!((value.show(), value.to_string()), (again.show(), again.to_string()), "{script}");
    }
}

#[test]
fn an_index_of_a_matrix_is_a_row_and_a_column() {
    let m = "m = rename!(1..6$2:3, `a`b, `x`y`z);";
    let cases = [
        ("m[1]", "[3,4]"),
        ("m[1, 2]", "6"),
        ("m[1, ]", "[2,4,6]"),
        ("m[, 0]", "[1,2]"),
        ("m[1 0, 0]", "[2,1]"),
        ("m[0, 0:2]", "[1,3]"),
        ("m[0:2, 1:3]", "  y z\na|3 5\nb|4 6"),
        ("m[1:2, ]", "  x y z\nb|2 4 6"),
        ("m[2 0]", "  z x\na|5 1\nb|6 2"),
        ("m[m > 2]", "[3,4,5,6]"),
        ("m[1][0]", "3"),
        ("at(m, 2)", "[5,6]"),
        ("(m, 1)[0, 1, 1]", "4"),
        ("m[1, 0] = 50; m[0]", "[1,50]"),
        ("m[1] = 7; m[1]", "[7,7]"),
        ("m[1] = 7 8; m[1, ]", "[2,8,6]"),
        ("m[0, ] = 7 8 9; m[0, ]", "[7,8,9]"),
        ("m[0:2, 0:2] = 10 20 30 40; flatten(m)", "[10,20,30,40,5,6]"),
        ("m[, 1:3] = 1..4$2:2; flatten(m)", "[1,2,1,2,3,4]"),
        ("m[m > 4] = 0; flatten(m)", "[1,2,3,4,0,0]"),
        ("m[0, 0] = NULL; m[0, 0] = 2.5; m[0, 0]", "2"),
        ("m[1][0] = 9; m[1]", "[9,4]"),
        ("m[0, 0] += 9; m[0, 0]", "10"),
        ("d = {\"k\": m}; d[\"k\", 1, 1] = 9; d.k[1, 1]", "9"),
        ("m[0, 1] = 9; rowNames(m)", "[\"a\",\"b\"]"),
        ("s = 0; for (c in m) { s += last(c) }; s", "12"),
        ("a, b, c = m; b", "[3,4]"),
        ("head(m)", "[1,3,5]"),
        ("tail(m, 1)", "  x y z\nb|2 4 6"),
        ("reverse(m)", "  x y z\nb|2 4 6\na|1 3 5"),
        ("drop(m, 1)", "  x y z\nb|2 4 6"),
        ("take(m, 3).rows()", "3"),
    ];
    check_with(m, &cases);
    refused(&[
        ("m = 1..6$2:3\nm[3]", "test:2:1: no such column of a matrix: index=`3`, columns=`3`"),
        ("m = 1..6$2:3\nm[2, 0]", "test:2:1: no such row of a matrix: index=`2`, rows=`2`"),
        ("m = 1..6$2:3\nm[0:3, ]", "test:2:1: no such row of a matrix: index=`0 : 3`, rows=`2`"),
        ("m = 1..6$2:3\nm[-1]", "test:2:1: no such column of a matrix: index=`-1`, columns=`3`"),
        ("m = 1..6$2:3\nm[0, 5] = 1", "test:2:1: no such column of a matrix: index=`5`, columns=`3`"),
        ("m = 1..6$2:3\nm[0] = 1 2 3", "test:2:1: not as many values as rows: values=`3`, rows=`2`"),
        (
            "m = 1..6$2:3\nm[0, 0, 0]",
            "test:2:1: a matrix has a row and a column as index: found=`3` (write m[row, column], or m[column])",
        ),
    ]);
}

#[test]
fn functions_take_a_matrix_by_elements_columns_or_rows() {
    let m = "m = rename!(matrix(1 2 3, 3 NULL 1), `a`b`c, `x`y);";
    let cases = [
        // By elements.
        ("m + 1", "  x y\na|2 4\nb|3\nc|4 2"),
        ("10 * m", "  x  y\na|10 30\nb|20\nc|30 10"),
        ("flatten(m + m)", "[2,4,6,6,,2]"),
        ("flatten(m + 10 20 30)", "[11,22,33,13,,31]"),
        ("colNames((1..6$3:2) + m)", "[\"x\",\"y\"]"),
        ("flatten(m > 2)", "[false,false,true,true,false,false]"),
        ("flatten(!(m > 2) && m == 1)", "[true,false,false,false,false,true]"),
        ("flatten(isNull(m))", "[false,false,false,false,true,false]"),
        ("flatten(nullFill(m, 0))", "[1,2,3,3,0,1]"),
        ("flatten(m in 1 3)", "[true,false,true,true,false,true]"),
        ("flatten(iif(m > 2, m, 0))", "[0,0,3,3,0,0]"),
        ("flatten(m > 2 ? 1 : 0)", "[0,0,1,1,0,0]"),
        ("flatten(-m)", "[-1,-2,-3,-3,,-1]"),
        ("typestr(double(m))", "FAST DOUBLE MATRIX"),
        ("flatten(max(m, 2))", "[2,2,3,3,2,2]"),
        ("flatten(round(m \\ 3, 1))", "[0.3,0.7,1,1,,0.3]"),
        ("flatten(string(m))", "[\"1\",\"2\",\"3\",\"3\",,\"1\"]"),
        // By columns, to a matrix.
        ("cumsum(m)", "  x y\na|1 3\nb|3 3\nc|6 4"),
        ("flatten(msum(m, 2))", "[,3,5,,3,1]"),
        ("flatten(prev(m))", "[,1,2,,3,]"),
        ("flatten(next(m))", "[2,3,,,1,]"),
        ("flatten(deltas(m))", "[,1,1,,,]"),
        ("flatten(ffill(m))", "[1,2,3,3,3,1]"),
        ("flatten(bfill(m))", "[1,2,3,3,1,1]"),
        ("flatten(rank(m))", "[0,1,2,1,,0]"),
        ("flatten(sma(m, 2))", "[,1.5,2.5,,3,1]"),
        ("flatten(sort(m))", "[1,2,3,,1,3]"),
        ("flatten(moving(sum, m, 2))", "[,3,5,,3,1]"),
        ("r = linearTimeTrend(m, 2); (size(r), typestr(r[0]))", "(2,\"FAST DOUBLE MATRIX\")"),
        // By columns, to a vector.
        ("sum(m)", "[6,4]"),
        ("avg(m)", "[2,2]"),
        ("count(m)", "[3,2]"),
        ("max m", "[3,3]"),
        ("m.last()", "[3,1]"),
        ("wsum(m, 1 1 2)", "[9,5]"),
        ("round(corr(m, m), 3)", "[1,1]"),
        // Across rows.
        ("rowSum(m)", "[4,2,4]"),
        ("rowMax(m)", "[3,2,3]"),
        ("rowSum(m, 1 1 1)", "[5,3,5]"),
        ("flatten(rowCumsum(m))", "[1,2,3,4,2,4]"),
        ("colNames(rowCumsum(m))", "[\"x\",\"y\"]"),
        ("flatten(rowRank(m))", "[0,0,1,1,,0]"),
        ("rowAt(m, rowImax(m))", "[3,2,3]"),
        // As it is.
        ("distinct(m)", "[1,2,3,]"),
        ("all(m > 0)", "false"),
    ];
    check_with(m, &cases);
    check(&[
        ("sum(matrix(INT, 2, 0))", "[]"),
        ("shape(matrix(INT, 2, 0) + 1)", "2:0"),
        ("sum(matrix(INT, 0, 2))", "[,]"),
        ("shape(cumsum(matrix(INT, 0, 2)))", "0:2"),
    ]);
    refused(&[
        ("(1..6$2:3) + (1..6$3:2)", "test:1:1: add: matrices of different shape: shapes=`2:3, 3:2`"),
        ("(1..6$2:3) + 1 2 3", "test:1:1: add: vectors of different length: parameter=`Y`, rows=`3`, wanted=`2`"),
        ("1 2 in (1..4$2:2)", "test:1:1: a vector is wanted: function=`in`, parameter=`set`"),
        ("(1..4$2:2) + `a", "test:1:1: add does not take these types: types=`INT, STRING`"),
    ]);
}

#[test]
fn a_function_is_called_on_the_columns_or_rows_of_a_matrix() {
    let m = "m = rename!(matrix(1 2 3, 4 5 7), `a`b`c, `x`y);";
    let cases = [
        ("each(sum, m)", "[6,16]"),
        ("flatten(each(c -> c - c[0], m))", "[0,1,2,0,1,3]"),
        ("colNames(each(cumsum, m))", "[\"x\",\"y\"]"),
        ("flatten(each(mul, m, 10 100))", "[10,20,30,400,500,700]"),
        ("peach(sum, m)", "[6,16]"),
        ("loop(sum, m)", "(6,16)"),
        ("ploop(cumsum, m)", "([1,3,6],[4,9,16])"),
        ("flatten(eachLeft(add, m, 1))", "[2,3,4,5,6,8]"),
        ("flatten(eachRight(sub, 10, m))", "[9,8,7,6,5,3]"),
        ("flatten(eachPre(sub, m))", "[,,,3,3,4]"),
        ("flatten(eachPost(sub, m))", "[-3,-3,-4,,,]"),
        ("accumulate(add, m)[1]", "[5,7,10]"),
        ("reduce(add, m)", "[5,7,10]"),
        ("byRow(sum, m)", "[5,7,10]"),
        ("flatten(byRow(cumsum, m))", "[1,2,3,5,7,10]"),
        ("rowNames(byRow(cumsum, m))", "[\"a\",\"b\",\"c\"]"),
        ("byColumn(sum, m)", "[6,16]"),
        ("flatten(byColumn(cumsum, m))", "[1,3,6,4,9,16]"),
        ("flatten(rolling(sum, m, 2))", "[3,5,9,12]"),
        ("rolling(corr, (m[0], m[1]), 3)", "[0.9819805060619659]"),
        ("round(cross(corr, m, m), 3)", "  x     y\nx|1     0.982\ny|0.982 1"),
        ("flatten(round(corrMatrix(m), 4))", "[1,0.982,0.982,1]"),
        ("rowNames(corrMatrix(m))", "[\"x\",\"y\"]"),
        ("flatten(round(covarMatrix(m), 3))", "[1,1.5,1.5,2.333]"),
    ];
    check_with(m, &cases);
    check(&[
        ("cross(add, 1 2, 10 20 30)", "  10 20 30\n1|11 21 31\n2|12 22 32"),
        ("flatten(cross(mul, 1 2))", "[1,2,2,4]"),
        ("flatten(pcross(pow, 2 3, 1 2))", "[2,3,4,9]"),
        ("cross((x, y) -> [x, y], 1 2, 3 4)", "(([1,3],[1,4]),([2,3],[2,4]))"),
        ("cross(add, [], 1 2)", "()"),
        ("rowSum([1 2, 3 4])", "[4,6]"),
        ("each(sum, [1 2, 3 4])", "[3,7]"),
        ("each(cumsum, [1 2, 3 4])", "#0 #1\n1  3\n3  7"),
        ("each(x -> til(x), 1 2)", "([0],[0,1])"),
    ]);
    refused(&[(
        "corrMatrix(1 2)",
        "test:1:1: argument of a wrong kind: function=`corrMatrix`, found=`FAST INT VECTOR`",
    )]);
}

#[test]
fn rows_are_grouped_by_a_function() {
    let v = "sym = `b`a`b`a; x = 1 2 3 4; y = 1 1 1 3;";
    let cases = [
        ("groupby(sum, x, sym)", "key sum\na   6\nb   4"),
        ("groupby(wavg, (x, y), sym)", "key wavg\na   3.5\nb   2"),
        ("groupby(sum, x, (sym, y))", "key0 key1 sum\na    1    2\na    3    4\nb    1    4"),
        ("groupby(sum, x, table(sym as s))", "s sum\na 6\nb 4"),
        ("groupby(v -> max(v), x, sym)", "key value\na   4\nb   3"),
        ("size(groupby(sum, x[0:0], sym[0:0]))", "0"),
        ("contextby(sum, x, sym)", "[4,6,4,6]"),
        ("contextby(cumsum, x, sym)", "[1,2,4,6]"),
        ("contextby(cumsum, x, sym, 4 3 2 1)", "[4,6,3,4]"),
        ("contextby(cumsum, x, (sym, y))", "[1,2,4,4]"),
        ("contextby(wavg, (x, y), sym)", "[2,3.5,2,3.5]"),
        ("flatten(contextby(sum, matrix(x, y), sym))", "[4,6,4,6,2,4,2,4]"),
        ("contextby(sum, x[0:0], sym[0:0])", "[]"),
        ("pivot(sum, x, sym, y)", "  1 3\na|2 4\nb|4"),
        ("pivot(last, x, sym, y)[0]", "[2,3]"),
        ("pivot(wavg, (x, y), sym, y)[1, 0]", "2"),
    ];
    check_with(v, &cases);
    check(&[
        (
            "unpivot(table(1 2 as id, 3 4 as a, 5.5 6.5 as b), `id, `a`b)",
            "id valueType value\n1  a         3\n2  a         4\n1  b         5.5\n2  b         6.5",
        ),
        ("unpivot(table(1 2 as id, 3 4 as a), NULL, `a).value", "[3,4]"),
        ("unpivot(table(1 as a, 2 as b), NULL, `a`b, upper).valueType", "[\"A\",\"B\"]"),
    ]);
    refused(&[
        ("groupby(sum, 1 2 3, 1 2)", "test:1:1: columns of different length: function=`groupby`, rows=`2, 3`"),
        (
            "contextby(x -> [1, 2, 3], 1 2, 1 1)",
            "test:1:1: a group gives one value, or one for each of its rows: found=`FAST INT VECTOR`, rows=`2`",
        ),
        ("unpivot(table(1 as a), NULL, `b)", "test:1:1: unknown column: column=`b`"),
        (
            "pivot(cumsum, 1 2, 1 1, 1 1)",
            "test:1:1: one value for each cell is wanted: function=`pivot` (give a function that gives a scalar, such as last)",
        ),
    ]);
}

#[test]
fn letters_stand_for_higher_order_functions() {
    check(&[
        ("+ :E (1 2 3, 4 5 6)", "[5,7,9]"),
        ("+:T 1 2 3", "6"),
        ("sum:U([1 2, 3 4])", "(3,7)"),
        ("sum:U [1 2, 3 4]", "(3,7)"),
        ("add:E(1 2, 3 4)", "[4,6]"),
        ("0 +:A 1 2 3", "[1,3,6]"),
        ("1 2 +:L 1 2 3", "#0 #1\n2  3\n3  4\n4  5"),
        ("1 2 3 +:R 1 2", "#0 #1\n2  3\n3  4\n4  5"),
        ("- :P 1 3 6", "[,2,3]"),
        ("-:O 1 3 6", "[-2,-3,]"),
        ("1 2 3 sum:G `b`a`b", "key sum\na   2\nb   4"),
        ("x = 1 2 3; x sum :X `b`a`b", "[4,2,4]"),
        ("x = 5 1 2; x > x avg :X `b`a`b", "[true,false,false]"),
        ("flatten(1 2 *:C 10 20)", "[10,20,20,40]"),
        ("sum:V [1 2, 3 4]", "[3,7]"),
        ("sum:H([1 2, 3 4])", "[4,6]"),
        ("f = (x, y) -> x * y; 2 3 f:C 4 5", "  4  5\n2|8  10\n3|12 15"),
        ("true ? -:P 1 2 : 0", "[,1]"),
    ]);
}

#[test]
fn exec_pivot_gives_a_matrix_with_the_keys_as_labels() {
    let t = "t = table(`A`B`A`B as sym, 1 1 2 2 as day, 1.5 2.5 3.5 4.5 as px);";
    let cases = [
        ("exec px from t pivot by day, sym", "  A   B\n1|1.5 2.5\n2|3.5 4.5"),
        (
            "m = exec last(px) from t where day == 1 pivot by day, sym; (typestr(m), sum(m))",
            "(\"FAST DOUBLE MATRIX\",[1.5,2.5])",
        ),
        ("exec px from t pivot by sym, day limit 1", "  1   2\nA|1.5 3.5"),
        ("colNames(exec px, day from t pivot by day, sym)", "[\"px_A\",\"px_B\",\"day_A\",\"day_B\"]"),
        ("rowNames(exec px from t pivot by sym, day, sym)", ""),
        ("shape(exec px from t where px > 9 pivot by day, sym)", "0:0"),
        ("select px from t pivot by day, sym", "day A   B\n1   1.5 2.5\n2   3.5 4.5"),
        ("select matrix(px, px * 2) as `a`b from t where sym == `A", "a   b\n1.5 3\n3.5 7"),
    ];
    check_with(t, &cases);
}

#[test]
fn case_takes_the_value_of_the_first_condition_that_is_met() {
    let t = "t = table(`A`B`A as sym, [1, NULL, 30] as v);";
    let cases = [
        (
            "exec case when v > 10 then `big when v > 0 then `small else `none end from t",
            "[\"small\",\"none\",\"big\"]",
        ),
        ("exec case when v then 1 else 0 end from t", "[1,0,1]"),
        ("exec case when v > 10 then v end from t", "[,,30]"),
        ("select sym, case\n when v = 30 then 1\n else 2\n end as kind from t", "sym kind\nA   2\nB   2\nA   1"),
        ("exec v from t where case when sym = `A then v > 5 else true end", "[,30]"),
        ("select sum(case when sym == `A then 1 else 0 end) as n from t group by sym", "sym n\nA   2\nB   0"),
        ("exec CASE WHEN v > 10 THEN (CASE WHEN v > 20 THEN 3 ELSE 2 END) ELSE 1 END from t", "[1,1,3]"),
        ("end = 3; then = 4; end + then", "7"),
        ("x = 5; case when x > 3 then \"up\" else \"down\" end", "up"),
    ];
    check_with(t, &cases);
    refused(&[
        ("case when true then 1", "test:1:22: syntax error: expected `end`, found the end of the script"),
        ("case when true, 1 end", "test:1:15: syntax error: expected `then`, found `,`"),
    ]);
}

#[test]
fn what_a_matrix_takes_is_counted() {
    let mut session = super::Session::new();
    session.limit_bytes = Some(1 << 20);
    let mut run = |script: &str| {
        let source = super::Source::new("test", script);
        session.run(&source, &mut super::Notes::default()).map_err(|errors| errors[0].message.clone())
    };
    let too_much = |script: &str, result: Result<crate::value::Value, String>| match result {
        Ok(value) => panic!("{script}: {}", value.kind()),
        Err(error) => assert!(error.starts_with("script takes too much memory"), "{script}: {error}"),
    };
    for script in [
        "matrix(DOUBLE, 1000, 1000)",
        "m = matrix(DOUBLE, 100, 100); take(m, 100000)",
        "cross(add, 1..1000, 1..1000)",
        "m = matrix(INT, 1, 100000); m",
        "pivot(sum, 1..2000, 1..2000, 1..2000)",
        "m = matrix(DOUBLE, 1, 2000); corrMatrix(m)",
        "m = matrix(DOUBLE, 10, 10); m[take(0, 10000), take(0, 10000)]",
        "m = matrix(DOUBLE, 10, 10); m[take(0, 10000), take(0, 10000)] = 1",
        "m = matrix(DOUBLE, 100, 100); concatMatrix(take([m], 1000), false)",
        "m = matrix(DOUBLE, 100, 10); unpivot(table(m), NULL, take(`C1, 10000))",
    ] {
        let result = run(script);
        too_much(script, result);
    }
}
