//! The shell on a terminal: a line editor with history, completion, colours and statements of several lines.

use super::colors::Colors;
use super::completion::Names;
use super::input::{Mode, is_whole};
use super::{Next, SharedMode, Talk};
use crate::client::{Client, Error};
use crate::failure::Failure;
use parking_lot::Mutex;
use reedline::{
    ColumnarMenu, DefaultHinter, EditCommand, Emacs, FileBackedHistory, KeyCode, KeyModifiers, MenuBuilder, Prompt,
    PromptEditMode, PromptHistorySearch, Reedline, ReedlineEvent, ReedlineMenu, Signal, ValidationResult, Validator,
    default_emacs_keybindings,
};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

/// So many statements are remembered.
const HISTORY: usize = 10_000;

/// The name of the menu that Tab opens.
const MENU: &str = "names";

/// Reads and runs statements until the end; errors are told and do not end it.
pub fn run(talk: &mut Talk, names: Client) -> Result<(), Error> {
    println!("orca {} at {}; \\help tells what can be typed", env!("CARGO_PKG_VERSION"), talk.client.url());
    let mode: SharedMode = Arc::new(Mutex::new(talk.mode));
    let mut editor = editor(names, &mode);
    loop {
        *mode.lock() = talk.mode;
        match editor.read_line(&ModePrompt(talk.mode)) {
            Ok(Signal::Success(text)) => {
                if let Ok(Next::End) = talk.take(&text) {
                    return Ok(());
                }
            }
            Ok(Signal::CtrlD) => return Ok(()),
            // What was typed is thrown away.
            Ok(_) => {}
            Err(error) => {
                return Err(Failure::of(env::Kind::Unavailable, format!("the terminal fails: {error}")).into());
            }
        }
    }
}

fn editor(names: Client, mode: &SharedMode) -> Reedline {
    let mut keys = default_emacs_keybindings();
    let complete = ReedlineEvent::UntilFound(vec![ReedlineEvent::Menu(MENU.to_string()), ReedlineEvent::MenuNext]);
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, complete);
    keys.add_binding(KeyModifiers::ALT, KeyCode::Enter, ReedlineEvent::Edit(vec![EditCommand::InsertNewline]));
    let menu = ReedlineMenu::EngineCompleter(Box::new(ColumnarMenu::default().with_name(MENU)));
    let mut editor = Reedline::create()
        .with_completer(Box::new(Names::new(names, mode.clone())))
        .with_quick_completions(true)
        .with_partial_completions(true)
        .with_menu(menu)
        .with_highlighter(Box::new(Colors { mode: mode.clone() }))
        .with_validator(Box::new(Whole { mode: mode.clone() }))
        .with_hinter(Box::new(DefaultHinter::default()))
        .with_ansi_colors(std::env::var_os("NO_COLOR").is_none())
        .with_edit_mode(Box::new(Emacs::new(keys)));
    if let Some(path) = history_file() {
        // Without a history the shell works too.
        match FileBackedHistory::with_file(HISTORY, path.clone()) {
            Ok(history) => editor = editor.with_history(Box::new(history)),
            Err(error) => eprintln!("note: no history: file=`{}`, {error}", path.display()),
        }
    }
    editor
}

/// `orca/history` in the user's data folder.
fn history_file() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = folder("XDG_DATA_HOME").or_else(|| Some(folder("HOME")?.join(".local/share")))?;
    Some(data.join("orca").join("history"))
}

struct Whole {
    mode: SharedMode,
}

impl Validator for Whole {
    fn validate(&self, text: &str) -> ValidationResult {
        match is_whole(*self.mode.lock(), text) {
            true => ValidationResult::Complete,
            false => ValidationResult::Incomplete,
        }
    }
}

struct ModePrompt(Mode);

impl Prompt for ModePrompt {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        match self.0 {
            Mode::Script => "orca".into(),
            Mode::Sql => "sql".into(),
        }
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        "> ".into()
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        "... ".into()
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        format!("(search `{}`) ", search.term).into()
    }
}
