//! The contract between page and backend: one table of commands, three places that follow it.

use plimsoll_ipc::{COMMANDS, typescript};
use plimsoll_tests::repository::{code_lines, files_below, text};

#[test]
fn the_pages_types_are_the_generated_ones() {
    let file = "ui/src/lib/ipc/generated.ts";
    let on_disk = text(file).expect("the page's types are UTF-8");
    assert_eq!(on_disk, typescript::module(), "{file} is stale: run `cargo xtask setup`");
}

#[test]
fn commands_are_named_once() {
    let mut names: Vec<&str> = COMMANDS.iter().map(|(name, _, _)| *name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// Names of the functions below `folder` whose declaration begins with `prefix`.
fn functions(folder: &str, prefix: &str) -> Vec<String> {
    let mut names = Vec::new();
    for file in files_below(&[folder], &["rs"]) {
        for (_, code) in code_lines(&file) {
            if let Some(rest) = code.trim_start().strip_prefix(prefix) {
                names.extend(rest.split(['(', '<']).next().map(|name| name.trim().to_owned()));
            }
        }
    }
    names
}

/// Commands that only a host with a screen can answer.
const HOST_ONLY: &[&str] = &["model_import_dialog", "open_link"];

#[test]
fn the_backend_has_one_method_per_command() {
    let methods = functions("src-tauri/crates/plimsoll-backend/src", "pub async fn ");
    for (name, _, _) in COMMANDS.iter().filter(|(name, _, _)| !HOST_ONLY.contains(name)) {
        let count = methods.iter().filter(|method| method == name).count();
        assert_eq!(count, 1, "backend methods called {name}");
    }
}

#[test]
fn the_window_has_one_adapter_per_command() {
    let adapters = functions("src-tauri/src", "async fn ");
    for (name, _, _) in COMMANDS {
        let count = adapters.iter().filter(|adapter| adapter == name).count();
        assert_eq!(count, 1, "adapters called {name} in the window");
    }
}
