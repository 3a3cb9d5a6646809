//! Whole scripts: what they build, and what is refused, with all faults at once.

use crate::{
    FullName, GraphCalls, NewTable, NodeId, Operator, Plan, Platform, StoredGraph, Submission, TableInfo, bind_engine,
    read_function,
};
use data::Batch;
use lang::{Diagnostic, Session, Source, Value};
use std::collections::BTreeMap;

/// A world in memory.
#[derive(Debug, Default)]
struct World {
    catalogs: Vec<String>,
    tables: BTreeMap<FullName, (NewTable, Vec<Batch>)>,
    submissions: Vec<Submission>,
    warnings: Vec<String>,
    printed: Vec<String>,
}

impl World {
    fn users(&self, table: &FullName) -> Vec<FullName> {
        let uses = |submission: &&Submission| submission.plan.table(table).is_some();
        self.submissions.iter().filter(uses).map(|submission| submission.logical.name.clone()).collect()
    }
}

impl Platform for World {
    fn catalog_exists(&mut self, catalog: &str) -> bool {
        self.catalogs.iter().any(|known| known.eq_ignore_ascii_case(catalog))
    }

    fn create_catalog(&mut self, catalog: &str) -> Result<(), Diagnostic> {
        self.catalogs.push(catalog.to_string());
        Ok(())
    }

    fn drop_catalog(&mut self, catalog: &str) -> Result<(), Diagnostic> {
        self.catalogs.retain(|known| !known.eq_ignore_ascii_case(catalog));
        Ok(())
    }

    fn table(&mut self, table: &FullName) -> Option<TableInfo> {
        let used_by = self.users(table);
        let (table, _) = self.tables.get(table)?;
        let NewTable { name, schema, kind, options } = table.clone();
        Some(TableInfo { name, schema, kind, options, used_by })
    }

    fn create_table(&mut self, table: NewTable) -> Result<(), Diagnostic> {
        self.tables.insert(table.name.clone(), (table, vec![]));
        Ok(())
    }

    fn drop_table(&mut self, table: &FullName) -> Result<(), Diagnostic> {
        self.tables.remove(table);
        Ok(())
    }

    fn append(&mut self, table: &FullName, rows: Batch) -> Result<(), Diagnostic> {
        self.tables.get_mut(table).expect("the table exists").1.push(rows);
        Ok(())
    }

    fn rows(&mut self, table: &FullName) -> Result<Batch, Diagnostic> {
        let (table, rows) = &self.tables[table];
        Ok(Batch::concat(table.schema.clone(), rows)?)
    }

    fn graph(&mut self, graph: &FullName) -> Option<StoredGraph> {
        let submission = self.submissions.iter().find(|submission| submission.logical.name == *graph)?;
        // A stored graph has gone through its text.
        let logical = serde_json::from_str(&serde_json::to_string(&submission.logical).unwrap()).unwrap();
        Some(StoredGraph { logical, plan: submission.plan.clone() })
    }

    fn engine_graph(&mut self, engine: &FullName) -> Option<FullName> {
        let graphs = self.submissions.iter().map(|submission| &submission.logical);
        graphs.filter(|graph| crate::engine_names(graph).contains(engine)).map(|graph| graph.name.clone()).next()
    }

    fn submit(&mut self, submission: Submission) -> Result<(), Diagnostic> {
        for table in submission.plan.tables.iter().filter(|table| !table.reused).cloned() {
            let crate::TablePlan { name, schema, kind, options, .. } = table;
            self.create_table(NewTable { name, schema, kind, options })?;
        }
        self.submissions.push(submission);
        Ok(())
    }

    fn drop_graph(&mut self, graph: &FullName, _: bool) -> Result<(), Diagnostic> {
        self.submissions.retain(|submission| submission.logical.name != *graph);
        Ok(())
    }

    fn print(&mut self, text: &str) {
        self.printed.push(text.to_string());
    }

    fn warn(&mut self, warning: &Diagnostic) {
        self.warnings.push(warning.to_string());
    }

    fn now(&mut self) -> Option<i64> {
        None
    }
}

const HEAD: &str = "
createCatalog(\"demo\")
go
use catalog demo
g = createStreamGraph(\"refused\")
trades = g.source(\"trades\", `time`sym`price`volume, [TIMESTAMP, SYMBOL, DOUBLE, INT])
";

fn run(script: &str) -> (World, Result<Value, Vec<Diagnostic>>) {
    let mut calls = GraphCalls::new(World::default());
    let result = calls.run(&mut Session::new(), &Source::new("script", script));
    (calls.platform, result)
}

/// What a script after [`HEAD`] is refused for.
fn refusals(script: &str) -> Vec<String> {
    let (world, result) = run(&format!("{HEAD}{script}"));
    assert!(world.submissions.is_empty(), "it was not refused");
    result.unwrap_err().iter().map(|error| error.message.clone()).collect()
}

#[track_caller]
fn check_refused(script: &str, wanted: &[&str]) {
    assert_eq!(refusals(script), wanted, "{script}");
}

#[track_caller]
fn ran(script: &str) -> World {
    let (world, result) = run(script);
    result.unwrap_or_else(|errors| panic!("{errors:#?}"));
    world
}

/// How many subgraphs, tasks and channels.
fn counts(plan: &Plan) -> (usize, usize, usize) {
    (plan.subgraphs.len(), plan.tasks.len(), plan.channels.len())
}

const ONE_MINUTE_INDICATORS: &str = "
if (!existsCatalog(\"Orca\")) {
    createCatalog(\"Orca\")
}
go
use catalog orca

g = createStreamGraph(`graph1)
g.source(\"Trade\", `symbol`datetime`price`volume, [SYMBOL, TIMESTAMP, DOUBLE, INT])
 .timeSeriesEngine(
     60*1000, 60*1000,
     <[first(price), max(price), min(price), last(price), sum(volume)]>,
     \"datetime\", false, \"symbol\")
 .reactiveStateEngine(
     <[datetime, first_price, max_price, min_price, last_price, sum_volume,
       mmax(max_price, 5), mavg(sum_volume, 5)]>,
     `symbol)
 .sink(\"output\")
g.submit()
";

#[test]
fn the_first_article_script_is_two_tasks() {
    let world = ran(ONE_MINUTE_INDICATORS);
    let Submission { logical, plan, .. } = &world.submissions[0];
    assert_eq!(logical.name.to_string(), "orca.orca_graph.graph1");
    assert_eq!(counts(plan), (2, 2, 1));
    let names: Vec<&str> = logical.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["Trade", "Trade_timeSeriesEngine", "Trade_reactiveStateEngine", "output"]);
    let output = logical.node(NodeId(3)).schema.names();
    assert_eq!(output[..3], ["symbol", "datetime", "first_price"]);
    assert_eq!(output[7..], ["mmax_max_price", "mavg_sum_volume"]);
}

#[test]
fn a_stored_graph_binds_to_the_same_engines_again() {
    let world = ran(ONE_MINUTE_INDICATORS);
    let Submission { logical, plan, .. } = &world.submissions[0];
    let back: crate::LogicalGraph = serde_json::from_str(&serde_json::to_string(logical).unwrap()).unwrap();
    let plan: Plan = serde_json::from_str(&serde_json::to_string(plan).unwrap()).unwrap();
    for (_, node) in plan.nodes() {
        if let crate::PlanOperator::Engine { engine, .. } = &node.operator {
            let spec =
                bind_engine(engine, &plan.input_schemas(node), &back.functions).unwrap_or_else(|e| panic!("{e:?}"));
            assert_eq!(spec.schema(), node.schema);
            assert_eq!(spec.facts(), engine.facts);
        }
    }
}

#[test]
fn the_second_article_script_forks_an_engine_in_one_task() {
    let world = ran("
createCatalog(\"orca\")
go
use catalog orca
g = createStreamGraph(\"engine_fork_demo\")
eng = g.source(
    \"Trade\",
    `symbol`datetime`price`volume,
    [SYMBOL, TIMESTAMP, DOUBLE, INT]
).timeSeriesEngine(
    60*1000, 60*1000,
    <[first(price), max(price), min(price), last(price), sum(volume)]>,
    \"datetime\", false, \"symbol\")
branches = eng.fork(2)
branches[0]
    .sink(\"output_kline\")          // 一路直接落 K 线
branches[1]
    .reactiveStateEngine(
        <[datetime, first_price, max_price, min_price, last_price, sum_volume,
          mmax(max_price, 5), mavg(sum_volume, 5)]>,
        `symbol)
    .sink(\"output_indicator\")
g.submit()
");
    assert_eq!(counts(&world.submissions[0].plan), (2, 2, 1));
}

#[test]
fn the_third_article_script_is_two_branches_of_four_parts() {
    let branch = |index: usize, minutes: usize| {
        format!(
            "
stream_{minutes}min = sourceStreams[{index}]
    .parallelize(\"symbol\", 4)
    .timeSeriesEngine({minutes}*60*1000, {minutes}*60*1000,
        <[first(price), max(price), min(price), last(price), sum(volume)]>, \"datetime\", false, \"symbol\")
    .reactiveStateEngine(<[datetime, first_price, mmax(max_price, 5), mavg(sum_volume, 5)]>, `symbol)
    .sync()
    .sink(\"output_{minutes}min\")
"
        )
    };
    let world = ran(&format!(
        "createCatalog(\"orca\")\ngo\nuse catalog orca\ng = createStreamGraph(`kline_graph)
sourceStreams = g.source(\"Trade\", `symbol`datetime`price`volume, [SYMBOL, TIMESTAMP, DOUBLE, INT]).fork(2)
{}{}g.submit()",
        branch(0, 1),
        branch(1, 5)
    ));
    assert_eq!(counts(&world.submissions[0].plan), (5, 11, 16));
    assert!(world.warnings.is_empty(), "{:?}", world.warnings);
}

#[test]
fn functions_that_metrics_and_maps_call_are_stored_with_the_graph() {
    let world = ran(&format!(
        "{HEAD}
@state
def twice(x) {{ return x + x }}
def clean(t) {{ return select * from t where price > 0 }}
trades.map(clean).reactiveStateEngine(<[twice(price) as double_price]>, `sym).sink(\"output\")
g.submit()"
    ));
    let logical = &world.submissions[0].logical;
    let names: Vec<&str> = logical.functions.iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["clean", "twice"]);
    let Operator::Map(map) = &logical.nodes[1].operator else { panic!("the second node is a map") };
    assert_eq!(map.function, "clean");
    assert!(read_function(&map.function, &logical.functions).is_ok());
}

#[test]
fn all_faults_of_a_graph_are_told_at_once_in_the_order_of_the_script() {
    let (_, result) = run(&format!(
        "{HEAD}
trades.fork(1)[0].sink(\"a\")
trades.parallelize(\"symbol\", 0).sync().sink(\"b\")
trades.timeSeriesEngine(60000, 60000, <[sum(volume)]>, `time, false, `sym)
trades.setEngineName(\"none\").sink(\"c\")
g.submit()"
    ));
    let errors: Vec<String> = result.unwrap_err().iter().map(Diagnostic::to_string).collect();
    let wanted = [
        "fork count must be greater than 1",
        "parallelize count must be at least 1",
        "unknown column: operator=`parallelize`, column=`symbol`, known=`time, sym, price, volume`",
        "timeSeriesEngine has no output: node=`trades_timeSeriesEngine` (add a downstream consumer",
        "setEngineName follows no engine: engine=`none`, operator=`source`",
    ];
    assert_eq!(errors.len(), wanted.len(), "{errors:#?}");
    for wanted in wanted {
        assert!(errors.iter().any(|error| error.contains(wanted)), "{wanted}\n{errors:#?}");
    }
    assert!(errors.iter().all(|error| error.starts_with("script:")), "{errors:#?}");
    assert!(errors[0].starts_with("script:8:"), "{}", errors[0]);
}

#[test]
fn faults_of_a_graph_that_is_never_submitted_are_told_at_the_end() {
    check_refused(
        "trades.parallelize(`sym, -1)",
        &["parallelize count must be at least 1 and at most 256: count=`-1`"],
    );
}

#[test]
fn a_cycle_is_refused_over_sinks_and_buffers() {
    check_refused(
        "trades.reactiveStateEngine(<[time, cumsum(price) as price, volume]>, `sym)
            .map(t -> select time, sym, price, volume from t).sink(\"trades\")\ng.submit()",
        &["graph has a cycle: tables=`demo.orca_table.trades -> demo.orca_table.trades`"],
    );
    check_refused(
        "trades.buffer(\"middle\").map(t -> select * from t).buffer(\"trades\")\ng.submit()",
        &["graph has a cycle: tables=`demo.orca_table.middle -> demo.orca_table.trades -> demo.orca_table.middle`"],
    );
}

#[test]
fn sections_must_begin_and_end() {
    check_refused(
        "trades.parallelize(`sym, 2).reactiveStateEngine(<[cumsum(volume)]>, `sym).sink(\"output\")\ng.submit()",
        &["parallelize without sync: column=`sym`, open at node=`output`"],
    );
    check_refused("trades.sync().sink(\"output\")\ng.submit()", &["sync without parallelize: node=`trades`"]);
}

#[test]
fn the_parts_of_a_graph_are_bounded() {
    check_refused(
        "for (i in 0:9) { trades.parallelize(`sym, 256).sync().sink(\"t\" + string(i)) }\ng.submit()",
        &["graph has too many parallel parts: parts=`2304`, limit=`2048`"],
    );
}

#[test]
fn names_are_given_once() {
    check_refused(
        "trades.reactiveStateEngine(<[time, cumsum(volume) as volume]>, `sym).setEngineName(\"twin\")
            .reactiveStateEngine(<[time, cumsum(volume)]>, `sym).setEngineName(\"twin\").sink(\"output\")\ng.submit()",
        &["engine already exists: engine=`twin`"],
    );
    let (world, result) = run(&format!(
        "{HEAD}trades.sink(\"copy\")\ng.submit()\nb = createStreamGraph(\"refused\")
b.source(\"other\", [\"x\"], [INT]).sink(\"y\")\nb.submit()"
    ));
    assert_eq!(world.submissions.len(), 1);
    let errors = result.unwrap_err();
    assert_eq!(errors[0].message, "graph already exists: graph=`demo.orca_graph.refused`");
}

#[test]
fn a_table_is_one_thing_everywhere() {
    let (_, result) = run(&format!(
        "{HEAD}trades.sink(\"copy\")\ng.submit()\nb = createStreamGraph(\"second\")
b.source(\"trades\", `time`sym`price`volume, [TIMESTAMP, SYMBOL, DOUBLE, DOUBLE]).keyedSink(\"new\", `sym)
b.sourceByName(\"copy\").keyedSink(\"other\", `sym)
b.sourceByName(\"nowhere\").sink(\"z\")\nb.submit()"
    ));
    let errors: Vec<String> = result.unwrap_err().iter().map(|error| error.message.clone()).collect();
    assert_eq!(
        errors,
        [
            "table already exists with another schema: table=`demo.orca_table.trades`, \
             difference=`column `volume` is INT there and DOUBLE here`",
            "no such table: table=`demo.orca_table.nowhere`",
        ]
    );
    check_refused(
        "trades.sink(\"copy\")\ntrades.keyedSink(\"copy\", `sym)\ng.submit()",
        &["table already exists as another kind: table=`demo.orca_table.copy`, there=`log`, here=`keyed(sym)`"],
    );
}

#[test]
fn a_sources_columns_are_checked() {
    check_refused(
        "g.source(\"a\", `x`y`z, [INT, INT]).sink(\"b\")\ng.submit()",
        &["colNames and colTypes differ in length: table=`demo.orca_table.a`, colNames=`3`, colTypes=`2`"],
    );
    check_refused(
        "g.source(\"a\", `x`X, [INT, INT]).sink(\"b\")\ng.submit()",
        &["duplicate column: table=`demo.orca_table.a`, column=`X`"],
    );
    check_refused(
        "g.latestKeyedSource(\"a\", `k, `t, `x`t, [INT, STRING]).sink(\"b\")\ng.submit()",
        &[
            "unknown column: table=`demo.orca_table.a`, parameter=`keyColumn`, column=`k`, known=`x, t`",
            "type mismatch: table=`demo.orca_table.a`, timeColumn=`t`, type=`STRING`, wanted=`an integer or temporal \
             column, or a DATE and a TIME, SECOND or NANOTIME`",
        ],
    );
}

#[test]
fn a_map_sees_no_variable_of_the_session() {
    let errors = refusals(
        "limit_price = 10.0\ntrades.map(t -> select * from t where price > limit_price).sink(\"a\")\ng.submit()",
    );
    assert!(errors[0].contains("limit_price"), "{errors:?}");
    assert_eq!(errors.len(), 1, "{errors:?}");
}

#[test]
fn settings_are_known_keys_only() {
    let errors = refusals("g.setConfigMap({\"subscription.batchSise\": 1})\ntrades.sink(\"copy\")\ng.submit()");
    assert_eq!(errors, ["unknown setting: key=`subscription.batchSise`"]);
}

#[test]
fn a_keyed_table_without_a_bound_is_warned_of() {
    let world = ran(&format!("{HEAD}trades.keyedSink(\"last\", `sym)\ng.submit()"));
    assert_eq!(world.warnings.len(), 1);
    assert!(world.warnings[0].contains("state grows without bound: table=`demo.orca_table.last`"));
}

#[test]
fn tables_live_without_a_graph() {
    let world = ran("
createCatalog(\"demo\")
go
use catalog demo
createOrcaKeyedStreamTable(\"keyed\", `id, `id`x, [INT, INT])
createOrcaLatestKeyedStreamTable(\"latest\", `id, `stamp, `id`stamp, [INT, LONG], cacheSize=10)
go
appendOrcaStreamTable(\"keyed\", table(1 2 1 as id, 10 20 30 as x))
appendOrcaStreamTable(\"demo.orca_table.latest\", table(1 2 as id, 5 5 as stamp))
dropOrcaStreamTable(\"keyed\")
");
    let tables: Vec<String> = world.tables.keys().map(FullName::to_string).collect();
    assert_eq!(tables, ["demo.orca_table.latest"]);
    let (table, rows) = world.tables.values().next().unwrap();
    assert_eq!(table.options.cache_rows, Some(1000));
    assert_eq!(rows[0].rows(), 2);
}

#[test]
fn a_table_in_use_is_not_dropped() {
    let (_, result) = run(&format!("{HEAD}trades.sink(\"copy\")\ng.submit()\ndropOrcaStreamTable(\"trades\")"));
    let errors = result.unwrap_err();
    assert_eq!(errors[0].message, "table is in use: table=`demo.orca_table.trades`, graphs=`demo.orca_graph.refused`");
}

#[test]
fn a_graph_that_was_submitted_is_found_shown_and_dropped() {
    let world = ran(&format!(
        "{HEAD}trades.sink(\"copy\")\ng.submit()
h = getStreamGraph(\"refused\")
print(h.name())
print(h.toGraphviz())
dropStreamGraph(\"refused\")"
    ));
    assert_eq!(world.printed[0], "demo.orca_graph.refused");
    assert!(world.printed[1].contains("cluster_task_1"), "{}", world.printed[1]);
    assert!(world.submissions.is_empty());
    let (_, result) = run("createCatalog(\"demo\")\ngo\nuse catalog demo\ndropStreamGraph(\"refused\")");
    assert_eq!(result.unwrap_err()[0].message, "no such stream graph: graph=`demo.orca_graph.refused`");
}

#[test]
fn the_world_outside_is_not_a_catalog_by_itself() {
    let (_, result) = run("use catalog nowhere");
    assert!(result.unwrap_err()[0].message.contains("no such catalog: catalog=`nowhere`"));
    let (_, result) = run("g = createStreamGraph(\"a\")");
    assert!(result.unwrap_err()[0].message.contains("no catalog in use"));
}

#[test]
fn a_refused_graph_stays_refused_and_a_submitted_one_is_not_changed_any_more() {
    let (world, result) =
        run(&format!("{HEAD}trades.fork(1)[0].sink(\"a\")\ntry {{ g.submit() }} catch (ex) {{ }}\ng.submit()"));
    assert!(world.submissions.is_empty());
    assert_eq!(result.unwrap_err().len(), 1);
    let (_, result) = run(&format!("{HEAD}trades.sink(\"a\")\ng.submit()\ntrades.sink(\"b\")"));
    assert_eq!(result.unwrap_err()[0].message, "graph is submitted already: graph=`demo.orca_graph.refused`");
}

#[test]
fn an_engine_may_be_called_as_a_table_is() {
    let world = ran(&format!(
        "{HEAD}trades.reactiveStateEngine(<[cumsum(volume)]>, `sym).setEngineName(\"bars\").sink(\"bars\")\ng.submit()"
    ));
    let names: Vec<&str> = world.submissions[0].logical.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["trades", "bars", "demo.orca_table.bars"]);
}

#[test]
fn an_engine_that_cannot_be_split_in_a_section_is_warned_of_with_its_place() {
    let world = ran(&format!(
        "{HEAD}trades.parallelize(`time, 2).reactiveStateEngine(<[cumsum(volume)]>, `sym).sync().sink(\"a\")\ng.submit()"
    ));
    let wanted = "script:7:50: runs unsplit from here to sync: it can be split by sym only, not by `time`: \
                  node=`trades_reactiveStateEngine`";
    assert_eq!(world.warnings, [wanted]);
}

#[test]
fn a_mistyped_method_or_parameter_is_answered_with_the_nearest() {
    let (_, result) = run(&format!("{HEAD}trades.reactiveStateEngin(<[cumsum(volume)]>, `sym)"));
    assert_eq!(result.unwrap_err()[0].help.as_deref(), Some("did you mean `reactiveStateEngine`?"));
    let (_, result) = run(&format!("{HEAD}trades.sink(\"a\", cacheSise=1)\ng.submit()"));
    assert_eq!(result.unwrap_err()[0].help.as_deref(), Some("did you mean `cacheSize`?"));
}

#[test]
fn a_refused_source_is_not_told_again_as_an_empty_graph() {
    let (_, result) = run(
        "createCatalog(\"demo\")\ngo\nuse catalog demo\ng = createStreamGraph(\"a\")\ng.source(\"t\", `x`x, [INT, INT])\n.sync()\n.sink(\"s\")\ng.submit()",
    );
    let errors: Vec<String> = result.unwrap_err().iter().map(Diagnostic::to_string).collect();
    assert_eq!(errors, ["script:5:15: duplicate column: table=`demo.orca_table.t`, column=`x`"]);
    let (_, result) = run("createCatalog(\"demo\")\ngo\nuse catalog demo\ng = createStreamGraph(\"a\")\ng.submit()");
    assert_eq!(result.unwrap_err()[0].message, "graph is empty: graph=`demo.orca_graph.a`");
}
