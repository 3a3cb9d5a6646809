//! The rules of the time-series engine, one by one.

use crate::check::{Columns, NoHost, Step, bind, check, check_steps};
use crate::{Chunk, Clock, Output, Port};
use data::{Schema, Type, parse_table};

const TRADES: Columns = &[("time", Type::Timestamp), ("sym", Type::Symbol), ("volume", Type::Int)];
const PLAIN: Columns = &[("time", Type::Timestamp), ("volume", Type::Int)];

/// Bars of one minute by symbol, with these further arguments.
fn bars(more: &str) -> String {
    format!("timeSeriesEngine(60000, 60000, <[sum(volume)]>, `time, false, `sym{more})")
}

const MINUTES: &str = "
    time                     sym  volume
    2018.10.08T01:01:01.785  A    10
    2018.10.08T01:01:02.125  B    26
    2018.10.08T01:01:10.263  B    14
    2018.10.08T01:01:12.457  A    28
    2018.10.08T01:02:10.789  A    15    // Closes the window of A, and of A alone.
    2018.10.08T01:02:12.005  B    9
    2018.10.08T01:02:30.021  A    10
    2018.10.08T01:04:02.236  A    29
    2018.10.08T01:04:04.412  B    32
    2018.10.08T01:04:05.152  B    23
";

#[test]
fn a_row_at_or_after_the_window_end_closes_the_window_of_its_key() {
    check(
        TRADES,
        &bars(""),
        MINUTES,
        "
        time                     sym  sum_volume
        2018.10.08T01:02:00.000  A    38
        2018.10.08T01:02:00.000  B    40
        2018.10.08T01:03:00.000  A    25
        2018.10.08T01:03:00.000  B    9
        ",
    );
}

#[test]
fn a_window_may_be_labelled_by_its_start() {
    check(
        TRADES,
        &bars(", useWindowStartTime=true"),
        MINUTES,
        "
        time                     sym  sum_volume
        2018.10.08T01:01:00.000  A    38
        2018.10.08T01:01:00.000  B    40
        2018.10.08T01:02:00.000  A    25
        2018.10.08T01:02:00.000  B    9
        ",
    );
}

#[test]
fn overlapping_windows_begin_with_the_step_that_the_first_row_is_in() {
    check(
        PLAIN,
        "timeSeriesEngine(6, 3, <[sum(volume)]>, `time)",
        "
        time                     volume
        2018.10.08T01:01:01.002  1
        2018.10.08T01:01:01.003  1
        2018.10.08T01:01:01.004  1
        2018.10.08T01:01:01.005  1
        2018.10.08T01:01:01.006  1
        2018.10.08T01:01:01.007  1
        2018.10.08T01:01:01.008  1
        2018.10.08T01:01:01.009  1
        2018.10.08T01:01:01.010  1
        2018.10.08T01:01:01.011  1
        ",
        "
        time                     sum_volume
        2018.10.08T01:01:01.003  1
        2018.10.08T01:01:01.006  4
        2018.10.08T01:01:01.009  6
        ",
    );
}

#[test]
fn round_time_decides_how_long_steps_are_aligned() {
    let input = "
        time                     volume
        2024.01.01T10:03:30.500  10
        2024.01.01T10:04:20.000  20
        2024.01.01T10:06:01.000  5
    ";
    check(
        PLAIN,
        "timeSeriesEngine(240000, 120000, <[sum(volume)]>, `time, roundTime=false)",
        input,
        "
        time                     sum_volume
        2024.01.01T10:05:00.000  30
        ",
    );
    check(
        PLAIN,
        "timeSeriesEngine(240000, 120000, <[sum(volume)]>, `time)",
        input,
        "
        time                     sum_volume
        2024.01.01T10:04:00.000  10
        2024.01.01T10:06:00.000  30
        ",
    );
}

#[test]
fn the_closed_side_decides_where_a_row_on_the_border_goes() {
    let input = "
        time                     volume
        2024.01.01T10:00:10.000  10
        2024.01.01T10:01:00.000  20
        2024.01.01T10:01:10.000  1
    ";
    for (closed, sum) in [("left", 10), ("right", 30)] {
        check(
            PLAIN,
            &format!("timeSeriesEngine(60000, 60000, <[sum(volume)]>, `time, closed=\"{closed}\")"),
            input,
            &format!(
                "
                time                     sum_volume
                2024.01.01T10:01:00.000  {sum}
                "
            ),
        );
    }
}

#[test]
fn two_window_sizes_share_panes_and_one_output_row() {
    check(
        TRADES,
        "timeSeriesEngine([60000, 180000], 60000, (<[sum(volume) as a]>, <[sum(volume) as b, count(volume) as \
            c]>), `time, false, `sym)",
        "
        time                     sym  volume
        2024.01.01T10:00:10.000  A    10
        2024.01.01T10:00:20.000  B    16
        2024.01.01T10:00:40.000  A    20
        2024.01.01T10:01:10.000  A    15
        2024.01.01T10:01:20.000  B    20
        2024.01.01T10:02:05.000  A    30
        2024.01.01T10:03:10.000  A    12
        2024.01.01T10:05:00.000  A    1    // The window of 10:05 has no row of its own minute.
        ",
        "
        time                     sym  a   b   c
        2024.01.01T10:01:00.000  A    30  30  2
        2024.01.01T10:01:00.000  B    16  16  1
        2024.01.01T10:02:00.000  A    15  45  3
        2024.01.01T10:03:00.000  A    30  75  4
        2024.01.01T10:04:00.000  A    12  57  3
        2024.01.01T10:05:00.000  A    .   42  2
        ",
    );
}

const GAPS: &str = "
    time                     sym  volume
    2024.01.01T10:00:10.000  A    10
    2024.01.01T10:00:20.000  B    1
    2024.01.01T10:01:10.000  A    20
    2024.01.01T10:00:50.000  A    99   // Late.
    2024.01.01T10:01:05.000  B    2
    2024.01.01T10:04:30.000  A    40
    2024.01.01T10:05:00.000  A    50
";

#[test]
fn empty_windows_give_what_fill_says() {
    for (fill, third, fourth) in [("null", ".", "."), ("ffill", "20", "20")] {
        let counts = check(
            TRADES,
            &bars(&format!(", fill=\"{fill}\"")),
            GAPS,
            &format!(
                "
                time                     sym  sum_volume
                2024.01.01T10:01:00.000  A    10
                2024.01.01T10:01:00.000  B    1
                2024.01.01T10:02:00.000  A    20
                2024.01.01T10:03:00.000  A    {third}
                2024.01.01T10:04:00.000  A    {fourth}
                2024.01.01T10:05:00.000  A    40
                "
            ),
        );
        assert_eq!((counts.rows_in, counts.late, counts.rejected), (7, 1, 0));
    }
    check(
        TRADES,
        &bars(""),
        GAPS,
        "
        time                     sym  sum_volume
        2024.01.01T10:01:00.000  A    10
        2024.01.01T10:01:00.000  B    1
        2024.01.01T10:02:00.000  A    20
        2024.01.01T10:05:00.000  A    40
        ",
    );
}

#[test]
fn fill_may_differ_by_metric() {
    check(
        PLAIN,
        "timeSeriesEngine(60000, 60000, <[sum(volume) as a, sum(volume) as b, count(volume) as c]>, `time, \
            fill=(\"ffill\", -1, \"null\"))",
        "
        time                     volume
        2024.01.01T10:00:10.000  10
        2024.01.01T10:02:10.000  20
        ",
        "
        time                     a   b   c
        2024.01.01T10:01:00.000  10  10  1
        2024.01.01T10:02:00.000  10  -1  .
        ",
    );
}

#[test]
fn a_row_so_far_ahead_that_filling_up_to_it_makes_no_sense_is_rejected() {
    let counts = check(
        PLAIN,
        "timeSeriesEngine(1, 1, <[sum(volume)]>, `time, fill=\"null\")",
        "
        time                     volume
        2024.01.01T10:00:00.000  10
        2054.01.01T10:00:00.000  20
        2024.01.01T10:00:00.002  30
        ",
        "
        time                     sum_volume
        2024.01.01T10:00:00.001  10
        2024.01.01T10:00:00.002  .
        ",
    );
    assert_eq!(counts.rejected, 1);
}

#[test]
fn rows_out_of_order_count_until_the_accepted_delay_is_over() {
    let counts = check(
        TRADES,
        &bars(", acceptedDelay=5000"),
        "
        time                     sym  volume
        2024.01.01T10:00:10.000  A    10
        2024.01.01T10:00:40.000  A    20
        2024.01.01T10:01:02.000  A    1
        2024.01.01T10:00:55.000  A    30
        2024.01.01T10:01:06.000  A    2
        2024.01.01T10:00:58.000  A    4    // Late: its window is closed.
        2024.01.01T10:03:10.000  A    8    // Ahead of a row of an earlier window.
        2024.01.01T10:02:59.000  A    16   // Late as well: windows without rows close too.
        2024.01.01T10:03:01.000  A    32
        2024.01.01T10:04:05.000  A    64
        ",
        "
        time                     sym  sum_volume
        2024.01.01T10:01:00.000  A    60
        2024.01.01T10:02:00.000  A    3
        2024.01.01T10:04:00.000  A    40
        ",
    );
    assert_eq!(counts.late, 2);
}

#[test]
fn a_delay_longer_than_the_step_keeps_several_windows_open() {
    check(
        PLAIN,
        "timeSeriesEngine(20, 10, <[sum(volume)]>, `time, acceptedDelay=25, fill=\"null\")",
        "
        time                     volume
        2024.01.01T10:00:00.045  1
        2024.01.01T10:00:00.025  2
        2024.01.01T10:00:00.038  4
        2024.01.01T10:00:00.055  8
        2024.01.01T10:00:00.095  16
        ",
        "
        time                     sum_volume
        2024.01.01T10:00:00.030  2
        2024.01.01T10:00:00.040  6
        2024.01.01T10:00:00.050  5
        2024.01.01T10:00:00.060  9
        2024.01.01T10:00:00.070  8
        ",
    );
}

#[test]
fn a_late_row_counts_in_the_overlapping_windows_that_are_still_open_and_only_there() {
    check(
        PLAIN,
        "timeSeriesEngine(20, 10, <[sum(volume)]>, `time, acceptedDelay=5)",
        "
        time                     volume
        2024.01.01T10:00:00.012  1
        2024.01.01T10:00:00.026  2
        2024.01.01T10:00:00.013  4
        2024.01.01T10:00:00.009  8
        2024.01.01T10:00:00.036  16
        ",
        "
        time                     sum_volume
        2024.01.01T10:00:00.020  1
        2024.01.01T10:00:00.030  7
        ",
    );
}

#[test]
fn each_row_forces_one_pending_window_of_each_other_key() {
    check(
        &[("time", Type::Datetime), ("sym", Type::Symbol), ("volume", Type::Int)],
        "timeSeriesEngine(6, 6, <[sum(volume)]>, `time, false, `sym, forceTriggerTime=7, fill=1000)",
        "
        time                 sym  volume
        2018.08.01T14:05:43  A    1
        2018.08.01T14:05:43  C    3
        2018.08.01T14:05:44  B    1
        2018.08.01T14:05:52  B    3
        2018.08.01T14:05:54  A    3
        2018.08.01T14:05:55  A    5
        2018.08.01T14:05:57  B    5
        2018.08.01T14:06:12  A    1
        ",
        "
        time                 sym  sum_volume
        2018.08.01T14:05:46  B    1
        2018.08.01T14:05:52  B    1000
        2018.08.01T14:05:46  A    1
        2018.08.01T14:05:52  A    1000
        2018.08.01T14:05:46  C    3
        2018.08.01T14:05:58  A    8
        2018.08.01T14:06:04  A    1000
        2018.08.01T14:06:10  A    1000
        2018.08.01T14:05:52  C    1000
        2018.08.01T14:05:58  B    8
        ",
    );
}

#[test]
fn rows_for_a_forced_window_are_late() {
    let counts = check(
        &[("time", Type::Datetime), ("sym", Type::Symbol), ("volume", Type::Int)],
        "timeSeriesEngine(6, 6, <[sum(volume)]>, `time, false, `sym, forceTriggerTime=1)",
        "
        time                 sym  volume
        2018.08.01T14:05:43  A    1
        2018.08.01T14:05:47  B    3
        2018.08.01T14:05:45  A    5
        2018.08.01T14:05:49  A    7
        2018.08.01T14:05:53  B    9
        ",
        "
        time                 sym  sum_volume
        2018.08.01T14:05:46  A    1
        2018.08.01T14:05:52  B    3
        2018.08.01T14:05:52  A    7
        ",
    );
    assert_eq!(counts.late, 1);
}

#[test]
fn purged_keys_forget_their_time() {
    let counts = check_steps(
        TRADES,
        &bars(", forceTriggerTime=0, keyPurgeFreqInSecond=10"),
        &[
            Step::Tick(0),
            Step::Rows("time sym volume\n 2024.01.01T10:00:10.000 A 1\n 2024.01.01T10:01:10.000 B 2"),
            Step::Tick(5_000),
            Step::Rows("time sym volume\n 2024.01.01T10:00:20.000 A 3"), // Late.
            Step::Tick(10_000),
            Step::Rows("time sym volume\n 2024.01.01T10:00:20.000 A 3"),
            Step::Rows("time sym volume\n 2024.01.01T10:01:20.000 A 4"),
        ],
        "
        time                     sym  sum_volume
        2024.01.01T10:01:00.000  A    1
        2024.01.01T10:01:00.000  A    3
        ",
    );
    assert_eq!(counts.late, 1);
}

#[test]
fn an_append_gives_the_current_result_of_each_key_it_touched() {
    check_steps(
        TRADES,
        &bars(", updateTime=0"),
        &[
            Step::Tick(0),
            Step::Rows(
                "
                time                     sym  volume
                2018.10.08T01:01:01.785  A    10
                2018.10.08T01:01:02.125  B    26
                2018.10.08T01:01:10.263  B    14
                2018.10.08T01:01:12.457  A    28
                ",
            ),
            Step::Tick(0),
            Step::Rows("time sym volume\n 2018.10.08T01:01:20.000 B 21"),
            Step::Rows("time sym volume\n 2018.10.08T01:02:20.000 B 1\n 2018.10.08T01:03:20.000 B 2"),
        ],
        "
        time                     sym  sum_volume
        2018.10.08T01:02:00.000  B    40
        2018.10.08T01:02:00.000  A    38
        2018.10.08T01:02:00.000  B    61
        2018.10.08T01:03:00.000  B    1
        2018.10.08T01:04:00.000  B    2
        ",
    );
}

#[test]
fn a_row_of_a_later_slice_or_the_clock_gives_the_current_result() {
    check_steps(
        TRADES,
        &bars(", updateTime=1000"),
        &[
            Step::Tick(0),
            Step::Rows("time sym volume\n 2018.10.08T01:01:01.785 A 10\n 2018.10.08T01:01:02.125 B 26"),
            Step::Rows("time sym volume\n 2018.10.08T01:01:10.263 B 14\n 2018.10.08T01:01:12.457 A 28"),
            Step::Tick(1_999),
            Step::Tick(2_000),
            Step::Rows("time sym volume\n 2018.10.08T01:02:10.789 A 15\n 2018.10.08T01:01:12.005 B 9"),
            Step::Rows("time sym volume\n 2018.10.08T01:02:10.789 B 1"),
        ],
        "
        time                     sym  sum_volume
        2018.10.08T01:02:00.000  B    26
        2018.10.08T01:02:00.000  A    10
        2018.10.08T01:02:00.000  A    38
        2018.10.08T01:02:00.000  B    40
        2018.10.08T01:02:00.000  B    49
        ",
    );
}

#[test]
fn by_system_time_windows_close_by_the_clock_alone() {
    check_steps(
        &[("sym", Type::Symbol), ("volume", Type::Int)],
        "timeSeriesEngine(60000, 60000, <[sum(volume)]>, , true, `sym)",
        &[
            Step::Tick(10_000),
            Step::Rows("sym volume\n B 1\n A 2"),
            Step::Tick(59_999),
            Step::Rows("sym volume\n A 4"),
            Step::Tick(60_000),
            Step::Rows("sym volume\n B 8"),
            Step::Tick(200_000),
            Step::Rows("sym volume\n B 8"),
        ],
        "
        timestamp                sym  sum_volume
        1970.01.01T00:01:00.000  B    1
        1970.01.01T00:01:00.000  A    6
        1970.01.01T00:02:00.000  B    8
        ",
    );
}

#[test]
fn a_window_that_is_closed_right_waits_for_rows_at_its_end() {
    let spec = bind(
        &[("volume", Type::Int)],
        "timeSeriesEngine(60000, 60000, <[sum(volume)]>, useSystemTime=true, closed='right', acceptedDelay=10)",
    );
    let spec = spec.unwrap();
    let mut host = NoHost;
    let mut engine = spec.start(None);
    let mut out = Output::new(&mut host);
    assert_eq!(engine.next_due(), None);
    engine.tick(Clock(60_000), &mut out).unwrap();
    let rows = parse_table(&Schema::of(&[("volume", Type::Int)]), "volume\n 5").unwrap();
    engine.push(Port(0), &Chunk::whole(rows, 0), &mut out).unwrap();
    assert_eq!(engine.next_due(), Some(Clock(60_011)));
    engine.tick(Clock(60_011), &mut out).unwrap();
    assert_eq!((engine.next_due(), out.chunks.len()), (None, 1));
}

#[test]
fn only_rows_of_the_sub_window_count_and_its_end_closes_the_window() {
    let input = "
        time                     sym  volume
        2018.10.08T01:01:01.785  A    10
        2018.10.08T01:01:02.125  B    26
        2018.10.08T01:01:10.000  A    14   // Outside, closes the window of A.
        2018.10.08T01:01:12.457  A    28
        2018.10.08T01:02:05.000  B    1
        2018.10.08T01:02:20.000  B    1
    ";
    for (start, label) in [("true", "01:01:00"), ("false", "01:02:00")] {
        let later = if start == "true" { "01:02:00" } else { "01:03:00" };
        let counts = check(
            TRADES,
            &bars(&format!(", useWindowStartTime={start}, subWindow=0s:10s")),
            input,
            &format!(
                "
                time                     sym  sum_volume
                2018.10.08T{label}.000  A    10
                2018.10.08T{label}.000  B    26
                2018.10.08T{later}.000  B    1
                "
            ),
        );
        assert_eq!(counts.rejected, 3);
    }
}

#[test]
fn a_date_and_a_time_column_make_one_time() {
    check(
        &[("date", Type::Date), ("second", Type::Second), ("sym", Type::Symbol), ("volume", Type::Int)],
        "timeSeriesEngine(60, 60, <[sum(volume)]>, `date`second, false, `sym)",
        "
        date        second    sym  volume
        2021.04.05  09:25:01  A    1
        2021.04.05  09:30:05  A    1
        2021.04.06  09:25:05  A    6
        ",
        "
        concatDateTime       sym  sum_volume
        2021.04.05T09:26:00  A    1
        2021.04.05T09:31:00  A    1
        ",
    );
}

#[test]
fn dates_and_months_have_their_own_grids() {
    check(
        &[("day", Type::Date), ("volume", Type::Int)],
        "timeSeriesEngine(2, 2, <[sum(volume)]>, `day)",
        "
        day         volume
        2024.01.02  1
        2024.01.03  2
        2024.01.04  4
        2024.01.09  8
        ",
        "
        day         sum_volume
        2024.01.04  3
        2024.01.06  4
        ",
    );
    check(
        &[("month", Type::Month), ("volume", Type::Int)],
        "timeSeriesEngine(5M, 5M, <[sum(volume)]>, `month)",
        "
        month     volume
        2024.07M  1
        2024.10M  2
        2024.11M  4
        ",
        "
        month     sum_volume
        2024.11M  3
        ",
    );
}

#[test]
fn array_vector_keys_count_a_row_for_each_element() {
    let counts = check(
        &[
            ("time", Type::Timestamp),
            ("sym", Type::Symbol),
            ("level", Type::Array(&Type::Double)),
            ("size", Type::Array(&Type::Int)),
        ],
        "timeSeriesEngine(60000, 60000, <[sum(size) as size, count(size) as n]>, `time, false, `sym`level)",
        "
        time                     sym  level      size
        2023.01.01T09:30:01.000  A    [100,105]  [10,20]
        2023.01.01T09:30:02.000  A    [100]      [5]
        2023.01.01T09:30:03.000  A    [100,105]  [5]      // Of different lengths.
        2023.01.01T09:30:03.000  B    []         []
        2023.01.01T09:31:10.000  A    [100,105]  [1,1]
        ",
        "
        time                     sym  level  size  n
        2023.01.01T09:31:00.000  A    100.0  15    2
        2023.01.01T09:31:00.000  A    105.0  20    1
        ",
    );
    assert_eq!((counts.rows_in, counts.rejected), (5, 2));
}

#[test]
fn rows_without_a_time_are_rejected_and_null_is_a_key() {
    let counts = check(
        TRADES,
        &bars(""),
        "
        time                     sym  volume
        2024.01.01T10:00:10.000  .    1
        .                        A    2
        2024.01.01T10:00:20.000  A    4
        2024.01.01T10:01:20.000  .    8
        ",
        "
        time                     sym  sum_volume
        2024.01.01T10:01:00.000  .    1
        ",
    );
    assert_eq!(counts.rejected, 1);
}

#[test]
fn times_at_the_ends_of_their_range_do_no_harm() {
    let counts = check(
        PLAIN,
        "timeSeriesEngine(20, 10, <[sum(volume)]>, `time, closed='right')",
        "
        time                  volume
        -9223372036854775807  1
        9223372036854775807   1
        -10                   1
        10                    2
        ",
        "
        time                     sum_volume
        1969.12.31T23:59:59.990  1
        1970.01.01T00:00:00.000  1
        ",
    );
    assert_eq!(counts.rejected, 2);
}

#[test]
fn a_window_of_durations_is_read_in_the_unit_of_the_time_column() {
    check(
        &[("time", Type::Second), ("volume", Type::Int)],
        "timeSeriesEngine(2m, 1m, <[sum(volume)]>, `time)",
        "
        time      volume
        10:00:10  1
        10:01:10  2
        10:02:10  4
        ",
        "
        time      sum_volume
        10:01:00  1
        10:02:00  3
        ",
    );
}
