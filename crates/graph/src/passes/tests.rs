//! Plans as literal texts, and random graphs.

use super::*;
use crate::check::check;
use crate::logical::NodeId;
use crate::physical::{Feed, Note, Partition};
use crate::sample::{self, Sample};
use crate::table::{TableInfo, TableKind, TableOptions};
use engine::Split;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn planned(graph: &LogicalGraph) -> Plan {
    let faults = check(graph, &BTreeSet::new(), &Surroundings::default());
    assert!(faults.is_empty(), "{faults:?}");
    plan(graph, &Surroundings::default())
}

/// A line for each task, with its nodes, and one for each channel.
fn sketch(plan: &Plan) -> String {
    let mut text = String::new();
    for task in &plan.tasks {
        let nodes: Vec<&str> = task.nodes.iter().map(|node| node.name.as_str()).collect();
        text += &format!("{}.{}/{}: {}\n", task.subgraph, task.part, task.parts, nodes.join(" "));
    }
    for channel in &plan.channels {
        let port = if channel.port == 0 { String::new() } else { format!(" port {}", channel.port) };
        text += &format!("{} -> {}{port} {}\n", channel.from_task, channel.to_task, channel.partition);
    }
    text
}

fn check_sketch(graph: &LogicalGraph, wanted: &str) -> Plan {
    let plan = planned(graph);
    let wanted: Vec<&str> = wanted.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(sketch(&plan).lines().collect::<Vec<_>>(), wanted, "\n{}", sketch(&plan));
    plan
}

#[test]
fn a_source_is_a_task_by_itself_and_a_chain_is_one_task() {
    check_sketch(
        &sample::one_minute_indicators(),
        "
        0.0/1: Trade
        1.0/1: Trade_timeSeriesEngine Trade_reactiveStateEngine output
        0 -> 1 FORWARD
        ",
    );
}

#[test]
fn an_engine_with_two_consumers_gets_a_private_table_in_its_task() {
    check_sketch(
        &sample::engine_fork(),
        "
        0.0/1: Trade
        1.0/1: Trade_timeSeriesEngine Trade_timeSeriesEngine_fork output_kline Trade_reactiveStateEngine output_indicator
        0 -> 1 FORWARD
        ",
    );
}

#[test]
fn each_part_of_a_section_is_a_task_that_ends_in_a_private_table() {
    let plan = check_sketch(
        &sample::parallel_klines(),
        "
        0.0/1: Trade
        1.0/4: Trade_timeSeriesEngine Trade_reactiveStateEngine Trade_reactiveStateEngine_end
        1.1/4: Trade_timeSeriesEngine Trade_reactiveStateEngine Trade_reactiveStateEngine_end
        1.2/4: Trade_timeSeriesEngine Trade_reactiveStateEngine Trade_reactiveStateEngine_end
        1.3/4: Trade_timeSeriesEngine Trade_reactiveStateEngine Trade_reactiveStateEngine_end
        2.0/4: Trade_timeSeriesEngine_2 Trade_reactiveStateEngine_2 Trade_reactiveStateEngine_2_end
        2.1/4: Trade_timeSeriesEngine_2 Trade_reactiveStateEngine_2 Trade_reactiveStateEngine_2_end
        2.2/4: Trade_timeSeriesEngine_2 Trade_reactiveStateEngine_2 Trade_reactiveStateEngine_2_end
        2.3/4: Trade_timeSeriesEngine_2 Trade_reactiveStateEngine_2 Trade_reactiveStateEngine_2_end
        3.0/1: output_1min
        4.0/1: output_5min
        0 -> 1 SHUFFLE(symbol, 0 of 4)
        0 -> 2 SHUFFLE(symbol, 1 of 4)
        0 -> 3 SHUFFLE(symbol, 2 of 4)
        0 -> 4 SHUFFLE(symbol, 3 of 4)
        1 -> 9 FORWARD
        2 -> 9 FORWARD
        3 -> 9 FORWARD
        4 -> 9 FORWARD
        0 -> 5 SHUFFLE(symbol, 0 of 4)
        0 -> 6 SHUFFLE(symbol, 1 of 4)
        0 -> 7 SHUFFLE(symbol, 2 of 4)
        0 -> 8 SHUFFLE(symbol, 3 of 4)
        5 -> 10 FORWARD
        6 -> 10 FORWARD
        7 -> 10 FORWARD
        8 -> 10 FORWARD
        ",
    );
    let engine = &plan.tasks[1].nodes[0];
    assert!(matches!(&engine.operator, PlanOperator::Engine { part_by: Some(column), .. } if column == "symbol"));
    assert_eq!(serde_json::from_str::<Plan>(&serde_json::to_string(&plan).unwrap()).unwrap(), plan);
}

#[test]
fn a_buffer_ends_a_task() {
    let mut sample = Sample::new();
    let trade = sample.source("trade");
    let bars = sample.keyed(trade, "timeSeriesEngine");
    let buffer = sample.buffer(bars, "bars");
    let indicators = sample.keyed(buffer, "reactiveStateEngine");
    sample.sink(indicators, "output");
    check_sketch(
        &sample.done(),
        "
        0.0/1: trade
        1.0/1: trade_timeSeriesEngine bars
        2.0/1: bars_reactiveStateEngine output
        0 -> 1 FORWARD
        1 -> 2 FORWARD
        ",
    );
}

#[test]
fn one_part_is_still_a_shuffle_that_drops_null_keys() {
    let mut sample = Sample::new();
    let trade = sample.source("trade");
    let parts = sample.parallelize(trade, "symbol", 1);
    let engine = sample.keyed(parts, "reactiveStateEngine");
    let synced = sample.sync(engine);
    sample.sink(synced, "output");
    check_sketch(
        &sample.done(),
        "
        0.0/1: trade
        1.0/1: trade_reactiveStateEngine trade_reactiveStateEngine_end
        2.0/1: output
        0 -> 1 SHUFFLE(symbol, 0 of 1)
        1 -> 2 FORWARD
        ",
    );
}

#[test]
fn a_nested_parallelize_is_a_sync_and_a_parallelize() {
    let mut sample = Sample::new();
    let trade = sample.source("trade");
    let parts = sample.parallelize(trade, "symbol", 2);
    let engine = sample.keyed(parts, "first");
    let parts = sample.parallelize(engine, "datetime", 1);
    let engine = sample.engine(&[parts], "second", Split::By(vec!["datetime".into()]));
    let synced = sample.sync(engine);
    sample.sink(synced, "output");
    check_sketch(
        &sample.done(),
        "
        0.0/1: trade
        1.0/2: trade_first trade_first_end
        1.1/2: trade_first trade_first_end
        2.0/1: trade_first_sync
        3.0/1: trade_second trade_second_end
        4.0/1: output
        0 -> 1 SHUFFLE(symbol, 0 of 2)
        0 -> 2 SHUFFLE(symbol, 1 of 2)
        3 -> 4 SHUFFLE(datetime, 0 of 1)
        4 -> 5 FORWARD
        1 -> 3 FORWARD
        2 -> 3 FORWARD
        ",
    );
}

#[test]
fn an_engine_that_cannot_be_split_ends_its_section_and_says_why() {
    let mut sample = Sample::new();
    let trade = sample.source("trade");
    let parts = sample.parallelize(trade, "symbol", 2);
    let first = sample.keyed(parts, "first");
    let cross = sample.engine(&[first], "crossSectionalEngine", Split::Never("it looks at all keys".into()));
    let last = sample.keyed(cross, "last");
    let synced = sample.sync(last);
    sample.sink(synced, "output");
    let plan = check_sketch(
        &sample.done(),
        "
        0.0/1: trade
        1.0/2: trade_first trade_first_end
        1.1/2: trade_first trade_first_end
        2.0/1: trade_crossSectionalEngine trade_last output
        0 -> 1 SHUFFLE(symbol, 0 of 2)
        0 -> 2 SHUFFLE(symbol, 1 of 2)
        1 -> 3 FORWARD
        2 -> 3 FORWARD
        ",
    );
    let notes: Vec<String> = plan.notes.iter().map(Note::to_string).collect();
    let wanted = "runs unsplit from here to sync: it looks at all keys: node=`trade_crossSectionalEngine`";
    assert_eq!(notes, [wanted]);
}

#[test]
fn an_engine_keyed_by_other_columns_ends_its_section() {
    let mut sample = Sample::new();
    let trade = sample.source("trade");
    let parts = sample.parallelize(trade, "price", 2);
    let engine = sample.keyed(parts, "reactiveStateEngine");
    let synced = sample.sync(engine);
    sample.sink(synced, "output");
    let plan = planned(&sample.done());
    assert_eq!(plan.notes[0].text, "runs unsplit from here to sync: it can be split by symbol only, not by `price`");
    // The source, two parts that drop rows without a price, and the rest.
    assert_eq!(plan.tasks.len(), 4);
}

#[test]
fn a_section_whose_column_a_map_takes_away_ends_at_the_next_keyed_engine() {
    let mut sample = Sample::new();
    let trade = sample.source("trade");
    let parts = sample.parallelize(trade, "symbol", 2);
    let map = sample.map(parts, &["price"]);
    let engine = sample.keyed(map, "reactiveStateEngine");
    let synced = sample.sync(engine);
    sample.sink(synced, "output");
    let plan = check_sketch(
        &sample.done(),
        "
        0.0/1: trade
        1.0/2: trade_map trade_map_end
        1.1/2: trade_map trade_map_end
        2.0/1: trade_reactiveStateEngine output
        0 -> 1 SHUFFLE(symbol, 0 of 2)
        0 -> 2 SHUFFLE(symbol, 1 of 2)
        1 -> 3 FORWARD
        2 -> 3 FORWARD
        ",
    );
    assert!(plan.notes[0].text.contains("the column `symbol` does not come this far"));
}

#[test]
fn a_public_table_in_a_section_is_merged_and_the_section_split_again_after_it() {
    let mut sample = Sample::new();
    let trade = sample.source("trade");
    let parts = sample.parallelize(trade, "symbol", 2);
    let first = sample.keyed(parts, "first");
    let tap = sample.sink(first, "tap");
    let second = sample.keyed(tap, "second");
    let synced = sample.sync(second);
    sample.sink(synced, "output");
    check_sketch(
        &sample.done(),
        "
        0.0/1: trade
        1.0/2: trade_first trade_first_end
        1.1/2: trade_first trade_first_end
        2.0/1: tap
        3.0/2: tap_second tap_second_end
        3.1/2: tap_second tap_second_end
        4.0/1: output
        0 -> 1 SHUFFLE(symbol, 0 of 2)
        0 -> 2 SHUFFLE(symbol, 1 of 2)
        1 -> 3 FORWARD
        2 -> 3 FORWARD
        3 -> 4 SHUFFLE(symbol, 0 of 2)
        3 -> 5 SHUFFLE(symbol, 1 of 2)
        4 -> 6 FORWARD
        5 -> 6 FORWARD
        ",
    );
}

#[test]
fn the_parts_of_a_section_are_merged_once_for_several_consumers() {
    let mut sample = Sample::new();
    let trade = sample.source("trade");
    let parts = sample.parallelize(trade, "symbol", 2);
    let engine = sample.keyed(parts, "bars");
    let synced = sample.sync(engine);
    sample.sink(synced, "one");
    sample.sink(synced, "two");
    check_sketch(
        &sample.done(),
        "
        0.0/1: trade
        1.0/2: trade_bars trade_bars_end
        1.1/2: trade_bars trade_bars_end
        2.0/1: trade_bars_sync one two
        0 -> 1 SHUFFLE(symbol, 0 of 2)
        0 -> 2 SHUFFLE(symbol, 1 of 2)
        1 -> 3 FORWARD
        2 -> 3 FORWARD
        ",
    );
}

#[test]
fn a_join_begins_a_task_and_its_right_side_is_given_whole_to_every_part() {
    let mut sample = Sample::new();
    let quotes = sample.source("quotes");
    let trades = sample.source("trades");
    let parts = sample.parallelize(trades, "symbol", 2);
    let join = sample.engine(&[parts, quotes], "lookupJoinEngine", Split::Broadcast(vec!["symbol".into()]));
    let synced = sample.sync(join);
    sample.sink(synced, "output");
    let plan = check_sketch(
        &sample.done(),
        "
        0.0/1: quotes
        1.0/1: trades
        2.0/2: trades_quotes_lookupJoinEngine trades_quotes_lookupJoinEngine_end
        2.1/2: trades_quotes_lookupJoinEngine trades_quotes_lookupJoinEngine_end
        3.0/1: output
        1 -> 2 SHUFFLE(symbol, 0 of 2)
        1 -> 3 SHUFFLE(symbol, 1 of 2)
        0 -> 2 port 1 BROADCAST
        0 -> 3 port 1 BROADCAST
        2 -> 4 FORWARD
        3 -> 4 FORWARD
        ",
    );
    assert_eq!(plan.input_schemas(&plan.tasks[2].nodes[0]).len(), 2);
}

#[test]
fn a_join_that_is_split_by_its_key_splits_both_sides() {
    let mut sample = Sample::new();
    let quotes = sample.source("quotes");
    let trades = sample.source("trades");
    let parts = sample.parallelize(trades, "symbol", 2);
    let join = sample.engine(&[parts, quotes], "equalJoinEngine", Split::By(vec!["symbol".into()]));
    let synced = sample.sync(join);
    sample.sink(synced, "output");
    let plan = planned(&sample.done());
    let right: Vec<&Partition> =
        plan.channels.iter().filter(|channel| channel.port == 1).map(|channel| &channel.partition).collect();
    assert!(right.iter().all(|partition| matches!(partition, Partition::Shuffle { count: 2, .. })), "{right:?}");
}

#[test]
fn branches_that_write_one_table_are_merged_in_front_of_it() {
    let mut sample = Sample::new();
    let trade = sample.source("trade");
    for kind in ["one", "two"] {
        let engine = sample.keyed(trade, kind);
        sample.sink(engine, "output");
    }
    check_sketch(
        &sample.done(),
        "
        0.0/1: trade
        1.0/1: trade_one
        2.0/1: trade_two
        3.0/1: output
        0 -> 1 FORWARD
        1 -> 3 FORWARD
        2 -> 3 FORWARD
        0 -> 2 FORWARD
        ",
    );
}

#[test]
fn two_tables_that_exist_are_never_in_one_task() {
    let graph = sample::engine_fork();
    let exists = |name: &str| TableInfo {
        name: sample::table_name(name),
        schema: sample::columns(),
        kind: TableKind::Log,
        options: TableOptions::default(),
        used_by: vec![],
    };
    let tables = vec![exists("output_kline"), exists("output_indicator")];
    let around = Surroundings { tables, ..Surroundings::default() };
    let plan = plan(&graph, &around);
    for task in &plan.tasks {
        let reused = task.nodes.iter().filter_map(|node| node.operator.table());
        assert!(reused.filter(|table| plan.table(table).unwrap().reused).count() <= 1);
    }
    assert_eq!(plan.tasks.len(), 3);
}

/// A random graph that passes the checks: each step goes on from a node made before.
fn graphs() -> impl Strategy<Value = LogicalGraph> {
    let step = (0..9u8, any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1..4u32);
    prop::collection::vec(step, 1..24).prop_map(|steps| {
        let mut sample = Sample::new();
        let mut nodes: Vec<NodeId> = vec![sample.source("source_0"), sample.source("source_1")];
        for (number, (what, left, right, count)) in steps.into_iter().enumerate() {
            let (left, right) = (*left.get(&nodes), *right.get(&nodes));
            let sections = sample.0.sections();
            let free = |id: NodeId| sections[id.index()].is_none();
            let by = Split::By(vec!["symbol".into()]);
            nodes.push(match what {
                0 | 1 => sample.engine(&[left], "keyed", by),
                2 => sample.engine(&[left], "whole", Split::Never("it looks at all keys".into())),
                3 => sample.map(left, &["symbol"]),
                4 => sample.map(left, &["price"]),
                5 => sample.parallelize(left, if count == 1 { "price" } else { "symbol" }, count),
                6 if !free(left) => sample.sync(left),
                6 | 7 => sample.buffer(left, &format!("table_{number}")),
                _ if free(right) || !free(left) => {
                    let keys = vec!["symbol".into()];
                    let split = if count == 1 { Split::By(keys) } else { Split::Broadcast(keys) };
                    sample.engine(&[left, right], "join", split)
                }
                _ => sample.buffer(left, &format!("table_{number}")),
            });
        }
        // Close every open section and end every branch in a table.
        let (sections, consumers) = (sample.0.sections(), sample.0.consumers());
        for id in nodes.into_iter().filter(|id| consumers[id.index()].is_empty()) {
            let end = if sections[id.index()].is_some() { sample.sync(id) } else { id };
            sample.sink(end, &format!("end_{id}"));
        }
        sample.done()
    })
}

proptest! {
    /// The passes assert that the draft and the plan are sound; here, that nothing is lost on the way.
    #[test]
    fn a_random_graph_has_a_sound_plan_with_each_node_once_in_every_part(graph in graphs()) {
        let plan = planned(&graph);
        let mut parts: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for (task, node) in plan.nodes() {
            prop_assert!(parts.entry(&node.name).or_default().insert(task.part), "twice: {}", node.name);
        }
        for node in &graph.nodes {
            if !matches!(node.operator, crate::Operator::Parallelize { .. } | crate::Operator::Sync) {
                prop_assert!(parts.contains_key(node.name.as_str()), "lost: {}", node.name);
            }
        }
        for (task, node) in plan.nodes() {
            prop_assert_eq!(parts[node.name.as_str()].len(), task.parts as usize);
            prop_assert!(node.inputs.iter().all(|feed| *feed != Feed::Channels(vec![])));
        }
    }
}
