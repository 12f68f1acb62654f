//! Who may depend on whom (design: one sentence per part, and the invariants below it).

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_tests::repository::{cargo_metadata, code_lines, files_below, has_word};

/// Direct dependencies by workspace crate, without those of tests.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    edges(|kind| kind != Some("dev"))
}

/// Direct dependencies by workspace crate, those of tests included.
fn all_dependencies() -> BTreeMap<String, BTreeSet<String>> {
    edges(|_| true)
}

fn edges(wanted: impl Fn(Option<&str>) -> bool) -> BTreeMap<String, BTreeSet<String>> {
    let metadata = cargo_metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let name = |value: &serde_json::Value| value["name"].as_str().expect("a name").to_owned();
    packages
        .iter()
        .map(|package| {
            let of_package = package["dependencies"].as_array().expect("dependencies");
            let kept = of_package.iter().filter(|dependency| wanted(dependency["kind"].as_str()));
            (name(package), kept.map(name).collect())
        })
        .collect()
}

/// The crates that depend on a crate whose name passes.
fn dependents(wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let edges = all_dependencies();
    edges.into_iter().filter(|(_, to)| to.iter().any(|name| wanted(name))).map(|(from, _)| from).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn every_part_has_its_place() {
    let metadata = cargo_metadata();
    let root = metadata["workspace_root"].as_str().unwrap();
    let mut found = BTreeMap::new();
    for package in metadata["packages"].as_array().unwrap() {
        let manifest = package["manifest_path"].as_str().unwrap();
        let folder = manifest.strip_prefix(root).unwrap().trim_start_matches('/').trim_end_matches("/Cargo.toml");
        found.insert(folder.to_owned(), package["name"].as_str().unwrap().to_owned());
    }
    assert_eq!(found.remove("kernels").as_deref(), Some("plimsoll-kernels"));
    assert_eq!(found.remove("src-tauri").as_deref(), Some("plimsoll-desktop"));
    assert_eq!(found.remove("tests").as_deref(), Some("plimsoll-tests"));
    for (folder, name) in found {
        assert_eq!(folder, format!("src-tauri/crates/{name}"), "crates lie flat, folder = crate");
    }
}

#[test]
fn only_the_window_depends_on_tauri() {
    let tauri = |name: &str| name == "tauri" || name.starts_with("tauri-") || name == "wry" || name == "tao";
    assert_eq!(dependents(tauri), set(&["plimsoll-desktop"]));
}

#[test]
fn only_the_engine_and_the_oracles_depend_on_candle() {
    let candle = dependents(|name| name.starts_with("candle-"));
    let allowed = set(&["plimsoll-engine", "plimsoll-tests"]);
    assert!(candle.is_subset(&allowed), "{candle:?}");
    assert!(candle.contains("plimsoll-tests"), "the oracles compare with candle");
}

#[test]
fn the_contract_is_known_to_backend_and_hosts_only() {
    let users = dependents(|name| name == "plimsoll-ipc");
    let allowed = set(&["plimsoll-backend", "plimsoll-cli", "plimsoll-desktop", "plimsoll-tests", "xtask"]);
    assert!(users.is_subset(&allowed), "{:?}", users.difference(&allowed));
}

#[test]
fn the_contract_knows_nobody() {
    let own = &dependencies()["plimsoll-ipc"];
    assert!(own.is_subset(&set(&["serde", "serde_json", "ts-rs"])), "{own:?}");
}

#[test]
fn the_planner_is_std_serde_and_thiserror() {
    let own = &dependencies()["plimsoll-plan"];
    assert!(own.is_subset(&set(&["serde", "thiserror"])), "{own:?}");
}

#[test]
fn chat_depends_on_templates_and_plain_data_only() {
    let own = &dependencies()["plimsoll-chat"];
    let allowed =
        ["minijinja", "minijinja-contrib", "plimsoll-plan", "serde", "serde_json", "thiserror", "unicode-segmentation"];
    assert!(own.is_subset(&set(&allowed)), "{own:?}");
}

#[test]
fn arrows_point_one_way() {
    let lower = |name: &str| -> &[&str] {
        match name {
            "plimsoll-chat" | "plimsoll-device" => &["plimsoll-plan"],
            "plimsoll-engine" => &["plimsoll-plan", "plimsoll-kernels"],
            "plimsoll-backend" => {
                &["plimsoll-plan", "plimsoll-chat", "plimsoll-device", "plimsoll-engine", "plimsoll-ipc"]
            }
            "plimsoll-desktop" => &["plimsoll-backend", "plimsoll-device", "plimsoll-ipc"],
            "plimsoll-cli" => &[
                "plimsoll-backend",
                "plimsoll-plan",
                "plimsoll-chat",
                "plimsoll-device",
                "plimsoll-engine",
                "plimsoll-ipc",
            ],
            // It writes the contract's TypeScript half.
            "xtask" => &["plimsoll-ipc"],
            // kernels, plan and ipc know nobody.
            _ => &[],
        }
    };
    for (from, to) in dependencies() {
        if from == "plimsoll-tests" {
            continue;
        }
        let own: BTreeSet<String> = to.into_iter().filter(|name| name.starts_with("plimsoll-")).collect();
        assert!(own.is_subset(&set(lower(&from))), "{from} depends on {own:?}, may on {:?}", lower(&from));
    }
}

/// Lines of non-test code below `folder` that hold one of `words`.
fn lines_with(folder: &str, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files_below(&[folder], &["rs"]).into_iter().filter(|file| !file.contains("/tests")) {
        for (number, code) in code_lines(&file) {
            for word in words.iter().filter(|word| has_word(&code, word)) {
                found.push(format!("{file}:{number}: {word}"));
            }
        }
    }
    found
}

#[test]
fn plan_and_chat_do_no_io_and_read_no_clock() {
    let forbidden = [
        "std::fs",
        "std::net",
        "std::process",
        "std::env",
        "File",
        "stdin",
        "stdout",
        "stderr",
        "Instant",
        "SystemTime",
        "tokio",
        "async",
        "await",
        "println",
        "eprintln",
    ];
    for folder in ["src-tauri/crates/plimsoll-plan/src", "src-tauri/crates/plimsoll-chat/src"] {
        assert!(!files_below(&[folder], &["rs"]).is_empty(), "{folder} exists");
        assert_eq!(lines_with(folder, &forbidden), [""; 0], "{folder} is pure");
    }
}

#[test]
fn the_backend_knows_no_host() {
    assert_eq!(lines_with("src-tauri/crates/plimsoll-backend/src", &["tauri", "clap", "println"]), [""; 0]);
}

#[test]
fn unsafe_code_is_in_kernels_and_the_slab_only() {
    let allowed = |file: &str| file.starts_with("kernels/") || file == "src-tauri/crates/plimsoll-engine/src/slab.rs";
    let mut without_reason = Vec::new();
    for file in files_below(&[""], &["rs"]) {
        let source = plimsoll_tests::repository::text(&file).unwrap();
        let lines: Vec<&str> = source.lines().collect();
        for (number, code) in code_lines(&file) {
            // This very test names the word in strings.
            if !has_word(&code, "unsafe") || file.starts_with("tests/it/layering.rs") {
                continue;
            }
            assert!(allowed(&file), "{file}:{number}: unsafe code");
            let is_block = code.contains("unsafe {") || code.contains("unsafe impl");
            let before = &lines[number.saturating_sub(8)..number];
            if is_block && !before.iter().any(|line| line.contains("SAFETY")) {
                without_reason.push(format!("{file}:{number}"));
            }
        }
    }
    assert_eq!(without_reason, [""; 0], "unsafe without a SAFETY comment above it");
}

#[test]
fn the_page_reaches_the_host_through_one_folder() {
    for file in files_below(&["ui/src", "ui/tests"], &["ts", "svelte", "js"]) {
        if file.starts_with("ui/src/lib/ipc/") {
            continue;
        }
        for (number, code) in code_lines(&file) {
            assert!(!code.contains("@tauri-apps/"), "{file}:{number} imports @tauri-apps");
            assert!(!code.contains("__TAURI"), "{file}:{number} reaches into the host");
        }
    }
}
