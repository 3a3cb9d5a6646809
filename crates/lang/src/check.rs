//! What is wrong with a script, told without running it.
//!
//! Invariants:
//! - Nothing is reported that may be right: a name within a query or metacode may be a column, and a name that some
//!   text of the script mentions may be a table that the script makes.
//! - A function sees its parameters, its own variables and the functions of the script, as when it runs.

use crate::diagnostic::{Diagnostic, Source, Span};
use crate::interpreter::{MODULES_MAX, global};
use crate::parser::{Parsed, parse};
use crate::tree::{Arg, Expr, ExprKind, FunctionDef, MetaItem, Select, Statement, StatementKind};
use crate::value::Host;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What a check found, in the order of the text.
#[derive(Debug, Default)]
pub struct Checked {
    /// What will fail.
    pub errors: Vec<Diagnostic>,
    /// What is of no use.
    pub warnings: Vec<Diagnostic>,
}

/// Functions that only the interpreter knows.
const SPECIAL: &[&str] = &["objByName", "objectByName", "undef", "interval", "DECIMAL32", "DECIMAL64", "DECIMAL128"];

/// Checks a script; the host says which functions, tables and modules there are.
pub fn check(source: &Arc<Source>, host: &mut dyn Host) -> Checked {
    let Parsed { statements, errors } = parse(source);
    let mut checker = Checker {
        host_names: host.names().into_iter().collect(),
        host,
        defs: HashMap::new(),
        defined: HashSet::new(),
        mentioned: HashSet::new(),
        scope: Scope::default(),
        found: Checked { errors, warnings: vec![] },
    };
    checker.collect(&statements);
    checker.statements(&statements);
    let Checked { mut errors, mut warnings } = checker.found;
    for list in [&mut errors, &mut warnings] {
        list.sort_by_key(|found| found.span.map(|span| span.start));
        list.dedup_by(|a, b| a.span == b.span && a.message == b.message);
        list.iter_mut().for_each(|found| {
            found.source.get_or_insert_with(|| source.clone());
        });
    }
    Checked { errors, warnings }
}

/// What a place of the script sees.
#[derive(Default, Clone)]
struct Scope {
    variables: HashSet<Arc<str>>,
    /// Within a function rather than the script?
    function: bool,
    /// Within how many loops?
    loops: u32,
    /// Within a query or metacode, where names may be columns?
    columns: bool,
}

struct Checker<'a> {
    host: &'a mut dyn Host,
    host_names: HashSet<&'static str>,
    /// All functions of the script and its modules.
    defs: HashMap<Arc<str>, Arc<FunctionDef>>,
    /// Those that are defined at the place.
    defined: HashSet<Arc<str>>,
    /// Words in texts: they may name tables.
    mentioned: HashSet<Arc<str>>,
    scope: Scope,
    found: Checked,
}

impl Checker<'_> {
    fn error(&mut self, error: Diagnostic) {
        self.found.errors.push(error);
    }

    /// Notes all functions, and all words of texts.
    fn collect(&mut self, statements: &[Statement]) {
        for statement in statements {
            for expr in exprs_of(&statement.kind) {
                self.collect_words(expr);
            }
            if let StatementKind::Def(def) = &statement.kind {
                self.defs.insert(def.name.clone(), def.clone());
            }
            for body in bodies_of(&statement.kind) {
                self.collect(body);
            }
        }
    }

    fn collect_words(&mut self, expr: &Expr) {
        if let ExprKind::Literal(value) = &expr.kind
            && let Some(names) = value.names()
        {
            for name in names {
                self.mentioned.extend(name.rsplit('.').next().map(Arc::from));
                self.mentioned.insert(name);
            }
        }
        if let ExprKind::Lambda(def) = &expr.kind {
            self.collect(&def.body);
        }
        expr.children().into_iter().for_each(|child| self.collect_words(child));
    }

    fn statements(&mut self, statements: &[Statement]) {
        let mut ended = None;
        for statement in statements {
            if let Some(word) = ended.take() {
                let message = format!("statement is never reached: it stands behind `{word}`");
                self.found.warnings.push(Diagnostic::at(statement.span, message));
            }
            self.statement(statement);
            ended = match &statement.kind {
                StatementKind::Return(_) => Some("return"),
                StatementKind::Break => Some("break"),
                StatementKind::Continue => Some("continue"),
                StatementKind::Throw(_) => Some("throw"),
                _ => None,
            };
        }
    }

    fn statement(&mut self, statement: &Statement) {
        use StatementKind as S;
        match &statement.kind {
            S::Expr(expr) | S::Throw(expr) | S::Assert(expr) | S::UseCatalog(expr) | S::Return(Some(expr)) => {
                self.expr(expr)
            }
            S::Assign(targets, operator, value) => {
                self.expr(value);
                for target in targets {
                    match &target.kind {
                        ExprKind::Name(name) if operator.is_none() => {
                            self.scope.variables.insert(name.clone());
                        }
                        _ => self.expr(target),
                    }
                }
            }
            S::Def(def) => {
                self.defined.insert(def.name.clone());
                self.def(def);
            }
            S::If(condition, yes, no) => {
                self.expr(condition);
                self.statements(yes);
                self.statements(no);
            }
            S::For(name, values, body) => {
                self.expr(values);
                self.scope.variables.insert(name.clone());
                self.in_loop(body);
            }
            S::While(condition, body) => {
                self.expr(condition);
                self.in_loop(body);
            }
            S::DoWhile(body, condition) => {
                self.in_loop(body);
                self.expr(condition);
            }
            S::Timer(count, body) => {
                count.iter().for_each(|count| self.expr(count));
                self.statements(body);
            }
            S::Try(body, name, handler) => {
                self.statements(body);
                self.scope.variables.insert(name.clone());
                self.statements(handler);
            }
            S::Share(table, name) => {
                self.expr(table);
                self.scope.variables.insert(name.clone());
            }
            S::Insert(table, _, values) => {
                self.table(table);
                values.iter().for_each(|value| self.expr(value));
            }
            S::Update(update) => {
                self.table(&update.table);
                let values = update.set.iter().map(|(_, value)| value);
                self.over_columns(values.chain(&update.filter).chain(&update.context));
            }
            S::Delete(table, filter) => {
                self.table(table);
                self.over_columns(filter);
            }
            S::UseModule(path) => self.module(path, statement.span, 0),
            S::Break | S::Continue if self.scope.loops == 0 => {
                let word = if matches!(statement.kind, S::Break) { "break" } else { "continue" };
                self.error(Diagnostic::at(statement.span, format!("`{word}` is not within a loop")));
            }
            S::Return(None) | S::Break | S::Continue | S::Go | S::Module(_) => {}
        }
    }

    fn in_loop(&mut self, body: &[Statement]) {
        self.scope.loops += 1;
        self.statements(body);
        self.scope.loops -= 1;
    }

    /// The functions and constants of a module.
    fn module(&mut self, path: &Arc<str>, span: Span, within: u32) {
        let Some(source) = self.host.module(path) else {
            let error = Diagnostic::at(span, format!("no such module: module=`{path}`"));
            return self.error(error.help("it is the file of that name beside the script, `::` being a folder"));
        };
        let Parsed { statements, errors } = parse(&source);
        self.found.errors.extend(errors);
        for statement in &statements {
            match &statement.kind {
                StatementKind::Def(def) => {
                    for name in [def.name.clone(), format!("{path}::{}", def.name).into()] {
                        self.defined.insert(name.clone());
                        self.defs.insert(name, def.clone());
                    }
                }
                StatementKind::Assign(targets, None, _) => {
                    for target in targets {
                        if let ExprKind::Name(name) = &target.kind {
                            self.scope.variables.insert(name.clone());
                            self.scope.variables.insert(format!("{path}::{name}").into());
                        }
                    }
                }
                StatementKind::UseModule(other) if within < MODULES_MAX => self.module(other, span, within + 1),
                _ => {}
            }
        }
    }

    fn def(&mut self, def: &FunctionDef) {
        let mut scope = Scope { function: true, ..Scope::default() };
        for parameter in &def.parameters {
            parameter.default.iter().for_each(|default| self.expr(default));
            scope.variables.insert(parameter.name.clone());
        }
        // It is called after all functions of the script are defined, if it calls them.
        let outer = std::mem::replace(&mut self.scope, scope);
        let defined = self.defined.clone();
        self.defined.extend(self.defs.keys().cloned());
        self.statements(&def.body);
        self.defined = defined;
        self.scope = outer;
    }

    fn is_known(&self, name: &str) -> bool {
        let plain = name.trim_start_matches("::");
        self.scope.variables.contains(name)
            || self.defined.contains(name)
            || global(plain).is_some()
            || self.host_names.contains(plain)
            || SPECIAL.contains(&plain)
            || matches!(name, "*" | "DFLT")
    }

    /// A name that is read.
    fn name(&mut self, name: &Arc<str>, span: Span) {
        if self.scope.columns || self.is_known(name) || self.may_be_table(name) {
            return;
        }
        let error = Diagnostic::at(span, format!("unknown name: name=`{name}`"));
        let known = self.scope.variables.iter().chain(&self.defined).map(|known| &**known);
        let library = crate::library::all().map(|function| function.name);
        let error = error.suggest(name, known.chain(library));
        let error = match &error.help {
            None if self.scope.function => {
                error.help("a function sees its parameters and its own variables, not those of the session")
            }
            None if self.defs.contains_key(name) => error.help("the function is defined further down"),
            _ => error,
        };
        self.error(error);
    }

    fn may_be_table(&mut self, name: &str) -> bool {
        !self.scope.function && (self.mentioned.contains(name) || self.host.table(name).is_some())
    }

    /// A table: it may be one of the host's, by its full name too.
    fn table(&mut self, table: &Expr) {
        let columns = std::mem::take(&mut self.scope.columns);
        self.expr(table);
        self.scope.columns = columns;
    }

    /// A function that is called, with so many arguments by place and these by name.
    fn call(&mut self, name: &Arc<str>, places: &[bool], named: &[(Arc<str>, Span)], span: Span) {
        let plain = name.trim_start_matches("::");
        if self.scope.variables.contains(name) {
            return;
        }
        if self.defined.contains(name)
            && let Some(def) = self.defs.get(name).cloned()
        {
            return self.call_of_def(&def, places, named, span);
        }
        let library = || crate::library::find(plain).or_else(|| crate::library::find(plain.strip_suffix('!')?));
        if self.host_names.contains(plain) || SPECIAL.contains(&plain) {
            return;
        }
        if let Some(function) = library() {
            let signature = function.signature();
            // What takes any number of arguments may also take them in a tuple.
            let constructor = places.is_empty() && named.is_empty() && is_type(plain);
            if !signature.open && !constructor {
                let given = places.iter().map(|given| given.then_some(())).collect();
                let named = named.iter().map(|(name, _)| (name.clone(), ())).collect();
                if let Err(error) = signature.arrange(given, named) {
                    self.error(error.or_at(span));
                }
            }
            return;
        }
        if is_type(plain) {
            return;
        }
        let error = Diagnostic::at(span, format!("unknown function: name=`{plain}`"));
        let own = self.defs.keys().map(|known| &**known);
        let words = crate::interpreter::STATEMENT_WORDS.iter().copied();
        let known = own
            .chain(self.host_names.iter().copied())
            .chain(words)
            .chain(crate::library::all().map(|found| found.name));
        let error = match self.defs.contains_key(name) {
            true => error.help("the function is defined further down"),
            false => error.suggest(plain, known),
        };
        self.error(error);
    }

    fn call_of_def(&mut self, def: &FunctionDef, places: &[bool], named: &[(Arc<str>, Span)], span: Span) {
        let (function, wanted) = (&def.name, def.parameters.len());
        if places.len() > wanted {
            let found = places.len();
            let counts = format!("parameters=`{wanted}`, arguments=`{found}`");
            return self.error(Diagnostic::at(span, format!("too many arguments: function=`{function}`, {counts}")));
        }
        for (name, span) in named {
            if !def.parameters.iter().any(|parameter| parameter.name == *name) {
                let message = format!("unknown parameter: function=`{function}`, parameter=`{name}`");
                let known = def.parameters.iter().map(|parameter| &*parameter.name);
                self.error(Diagnostic::at(*span, message).suggest(name, known));
            }
        }
        for (place, parameter) in def.parameters.iter().enumerate() {
            let given = places.get(place) == Some(&true) || named.iter().any(|(name, _)| *name == parameter.name);
            if !given && parameter.default.is_none() {
                let name = &parameter.name;
                let message = format!("argument is missing: function=`{function}`, parameter=`{name}`");
                self.error(Diagnostic::at(span, message));
            }
        }
    }

    fn args(&mut self, args: &[Arg]) -> (Vec<bool>, Vec<(Arc<str>, Span)>) {
        let (mut places, mut named) = (vec![], vec![]);
        for arg in args {
            let given = match &arg.value {
                Some(Expr { kind: ExprKind::Name(name), .. }) if &**name == "DFLT" => false,
                value => value.is_some(),
            };
            arg.value.iter().for_each(|value| self.expr(value));
            match (&arg.name, &arg.value) {
                (Some(name), Some(value)) => named.push((name.clone(), value.span)),
                (Some(_), None) => {}
                (None, _) => places.push(given),
            }
        }
        (places, named)
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(name) => self.name(name, expr.span),
            ExprKind::Call(callee, args) => match &callee.kind {
                ExprKind::Name(name) => {
                    let (places, named) = self.args(args);
                    self.call(name, &places, &named, expr.span);
                }
                _ => {
                    self.expr(callee);
                    self.args(args);
                }
            },
            ExprKind::Method(object, name, args) => {
                self.expr(object);
                let (mut places, named) = self.args(args);
                places.insert(0, true);
                // A dictionary may hold functions, and an object of the host has methods of its own.
                let library = crate::library::find(name).is_some() || self.defined.contains(name);
                let near = || crate::nearest(name, crate::library::all().map(|function| function.name)).is_some();
                if library || !self.host_names.contains(&**name) && near() {
                    self.call(name, &places, &named, expr.span);
                }
            }
            // Of several members the whole may be a table's full name.
            ExprKind::Member(object, _) => match &object.kind {
                ExprKind::Member(..) => {
                    let mut first = object;
                    while let ExprKind::Member(inner, _) = &first.kind {
                        first = inner;
                    }
                    if !matches!(first.kind, ExprKind::Name(_)) {
                        self.expr(first);
                    }
                }
                _ => self.expr(object),
            },
            ExprKind::Partial(callee, args) => {
                match &callee.kind {
                    ExprKind::Member(object, _) => self.expr(object),
                    _ => self.expr(callee),
                }
                self.args(args);
            }
            ExprKind::Lambda(def) => {
                let columns = self.scope.columns;
                self.def(def);
                self.scope.columns = columns;
            }
            ExprKind::Metacode { items, .. } => self.over_columns(items.iter().map(|item: &MetaItem| &*item.expr)),
            ExprKind::Select(select) => self.select(select),
            _ => expr.children().into_iter().for_each(|child| self.expr(child)),
        }
    }

    fn select(&mut self, select: &Select) {
        self.table(&select.from);
        let items = [&select.items, &select.group, &select.context, &select.pivot].into_iter().flatten();
        let keys = select.csort.iter().chain(&select.order).map(|key| &key.expr);
        let single = [&select.limit, &select.having].into_iter().flatten();
        self.over_columns(items.map(|item| &*item.expr).chain(&select.filter).chain(keys).chain(single));
    }

    /// Expressions whose names may be columns.
    fn over_columns<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) {
        let columns = std::mem::replace(&mut self.scope.columns, true);
        exprs.into_iter().for_each(|expr| self.expr(expr));
        self.scope.columns = columns;
    }
}

/// Is it a type's name in small letters, whose call without arguments is its NULL?
fn is_type(name: &str) -> bool {
    data::Type::NAMED.iter().any(|(_, known)| known.to_lowercase() == name)
}

fn exprs_of(statement: &StatementKind) -> Vec<&Expr> {
    use StatementKind as S;
    match statement {
        S::Expr(expr) | S::Throw(expr) | S::Assert(expr) | S::UseCatalog(expr) | S::Return(Some(expr)) => vec![expr],
        S::Assign(targets, _, value) => targets.iter().chain([value]).collect(),
        S::If(condition, ..) | S::While(condition, _) | S::DoWhile(_, condition) | S::For(_, condition, _) => {
            vec![condition]
        }
        S::Timer(count, _) => count.iter().collect(),
        S::Share(table, _) => vec![table],
        S::Insert(table, _, values) => std::iter::once(table).chain(values).collect(),
        S::Update(update) => {
            let values = update.set.iter().map(|(_, value)| value);
            std::iter::once(&update.table).chain(values).chain(&update.filter).chain(&update.context).collect()
        }
        S::Delete(table, filter) => std::iter::once(table).chain(filter).collect(),
        S::Def(_) | S::Return(None) | S::Break | S::Continue | S::Try(..) | S::Go | S::Module(_) | S::UseModule(_) => {
            vec![]
        }
    }
}

fn bodies_of(statement: &StatementKind) -> Vec<&[Statement]> {
    use StatementKind as S;
    match statement {
        S::If(_, yes, no) | S::Try(yes, _, no) => vec![yes, no],
        S::For(_, _, body) | S::While(_, body) | S::DoWhile(body, _) | S::Timer(_, body) => vec![body],
        S::Def(def) => vec![&def.body],
        _ => vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::diagnostic::Source;
    use crate::value::Host;
    use std::sync::Arc;

    struct World;

    impl Host for World {
        fn names(&self) -> Vec<&'static str> {
            vec!["createStreamGraph", "source", "sink", "submit"]
        }

        fn module(&mut self, path: &str) -> Option<Arc<Source>> {
            (path == "bars").then(|| Source::new("bars.dos", "module bars\ndef width(x) { return x * 2 }\n"))
        }
    }

    #[track_caller]
    fn found(script: &str) -> String {
        let checked = check(&Source::new("t", script), &mut World);
        let errors = checked.errors.iter().map(ToString::to_string);
        let warnings = checked.warnings.iter().map(|warning| format!("warning: {warning}"));
        errors.chain(warnings).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once() {
        for (script, wanted) in [
            ("x = 1\ny = x + z", "t:2:9: unknown name: name=`z`"),
            ("price = 1\ny = pricee + 1", "t:2:5: unknown name: name=`pricee` (did you mean `price`?)"),
            ("x = mvag(1 2 3, 2)", "t:1:5: unknown function: name=`mvag` (did you mean `mavg`?)"),
            (
                "mavg(1 2 3)",
                "t:1:1: mavg expects 2 to 3 arguments: found=`1` (its parameters are X, window, minPeriods)",
            ),
            (
                "def f(a, b=1) { return a }\nf(1, 2, 3)",
                "t:2:1: too many arguments: function=`f`, parameters=`2`, arguments=`3`",
            ),
            ("def f(a, b=1) { return a }\nf()", "t:2:1: argument is missing: function=`f`, parameter=`a`"),
            (
                "def f(first) { return first }\nf(frist=1)",
                "t:2:9: unknown parameter: function=`f`, parameter=`frist` (did you mean `first`?)\nt:2:1: argument is missing: function=`f`, parameter=`first`",
            ),
            ("def f(a, a) { return a }", "t:1:10: two parameters have one name: parameter=`a`"),
            ("break", "t:1:1: `break` is not within a loop"),
            ("for (i in 0:3) { if (i > 1) break }\ncontinue", "t:2:1: `continue` is not within a loop"),
            ("def f(x) { return x\n y = 1 }", "warning: t:2:2: statement is never reached: it stands behind `return`"),
            (
                "x = 1\ndef f() { return x }",
                "t:2:18: unknown name: name=`x` (a function sees its parameters and its own variables, not those of the session)",
            ),
            ("f(1)\ndef f(x) { return x }", "t:1:1: unknown function: name=`f` (the function is defined further down)"),
            ("use bars\nwidth(1) + bars::width(2)", ""),
            (
                "use lines",
                "t:1:1: no such module: module=`lines` (it is the file of that name beside the script, `::` being a folder)",
            ),
        ] {
            let lines = |text: &str| {
                let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
                lines.sort();
                lines
            };
            assert_eq!(lines(&found(script)), lines(wanted), "{script}");
        }
    }

    #[test]
    fn what_may_be_right_is_not_reported() {
        for script in [
            "t = table(1 2 as price)\nselect price, sum(price) as s from t where price > 1 group by price",
            "m = <[sum(volume) as v, price * 2]>",
            "g = createStreamGraph(\"g\")\ng.source(\"trades\", `a`b, [INT, INT]).sink(\"out\")\ng.submit()\nselect * from out",
            "select * from demo.orca_table.trades",
            "d = {\"f\": x -> x + 1}\nd.f(2)",
            "def f(x) { return g(x) }\ndef g(x) { return x }\nf(1)",
            "f = x -> x * 2\nf(3)\neach(f, 1 2)",
            "x = int()\ny = DECIMAL32(2)\nz = array(ANY, 0)",
            "try { x = 1 } catch (ex) { print(ex) }",
            "a, b = (1, 2)\na += b\nfor (i in 0:3) { c = i }\nprint(c)",
            "select sum(v) from table(1 2 as ts, 3 4 as v) group by interval(ts, 1, \"null\")",
            "x = [1]\nx.append!(2)\nx.sort!()",
            "add:E(1 2, 3 4)\nexpr(1, +, 2)",
        ] {
            assert_eq!(found(script), "", "{script}");
        }
    }

    #[test]
    fn syntax_errors_and_others_are_told_together() {
        let text = found("x = (1 + \ny = zz\nz = foo(1)");
        assert!(text.contains("syntax error"), "{text}");
    }
}
