//! Rules that hold for every file of the repository.

use std::collections::BTreeSet;
use std::path::Path;

use plimsoll_tests::repository::{files, files_below, has_word, text};

/// Longest source file in lines.
const LONGEST: usize = 400;

/// Files that may be longer, each with the reason.
const LONGER: &[(&str, &str)] = &[("ui/src/lib/ipc/generated.ts", "generated"), ("ui/package-lock.json", "generated")];

/// Everything that may lie in the root.
const TOP_LEVEL: &[&str] = &[
    ".cargo",
    ".ci",
    ".editorconfig",
    ".gitattributes",
    ".github",
    ".gitignore",
    ".rustfmt.toml",
    "Cargo.lock",
    "Cargo.toml",
    "README.md",
    "icons",
    "kernels",
    "rust-toolchain.toml",
    "src-tauri",
    "tests",
    "ui",
];

/// Lock files name their sources by design; everything else names packages only.
const LOCK_FILES: &[&str] = &["Cargo.lock", "ui/package-lock.json"];

#[test]
fn files_are_short() {
    let mut long = Vec::new();
    for file in files_below(&[""], &["rs", "ts", "svelte", "css", "py", "js", "cu"]) {
        let lines = text(&file).map_or(0, |text| text.lines().count());
        if lines > LONGEST && !LONGER.iter().any(|(name, _)| *name == file) {
            long.push(format!("{file}: {lines}"));
        }
    }
    assert_eq!(long, [""; 0], "more than {LONGEST} lines: one concept per file");
}

#[test]
fn the_root_holds_what_the_design_names() {
    let allowed: BTreeSet<&str> = TOP_LEVEL.iter().copied().collect();
    for file in files() {
        let top = file.split('/').next().unwrap();
        assert!(allowed.contains(top), "{top} in the root has no place in the design");
    }
}

#[test]
fn no_file_names_a_registry_host() {
    // Written in two parts, so that this file does not hold what it looks for.
    let hosts = [
        ["registry.npm", "js.org"],
        ["py", "pi.org"],
        ["files.python", "hosted.org"],
        ["static.crates", ".io"],
        ["index.crates", ".io"],
        ["deb.deb", "ian.org"],
        ["proxy.gol", "ang.org"],
        ["--index", "-url"],
        ["--extra-index", "-url"],
    ];
    for file in files() {
        if LOCK_FILES.contains(&file.as_str()) {
            continue;
        }
        let Some(text) = text(&file) else { continue };
        for host in &hosts {
            assert!(!text.contains(&host.concat()), "{file} names {}", host.concat());
        }
    }
}

#[test]
fn nothing_is_left_for_later() {
    // Written in two parts, so that this file does not hold what it looks for.
    let marks = [["TO", "DO"], ["FIX", "ME"], ["HA", "CK"], ["XX", "X"]];
    for file in files_below(&[""], &["rs", "ts", "svelte", "css", "py", "js", "md", "toml", "yml", "html"]) {
        let text = text(&file).unwrap_or_default();
        for (index, line) in text.lines().enumerate() {
            for mark in &marks {
                assert!(!has_word(line, &mark.concat()), "{file}:{}: {}", index + 1, mark.concat());
            }
            if Path::new(&file).extension().is_some_and(|extension| extension == "rs") {
                assert!(
                    !line.trim_start().starts_with(&["#[", "ignore"].concat()),
                    "{file}:{}: skipped test",
                    index + 1
                );
            }
        }
    }
}

#[test]
fn fixtures_say_how_they_were_made() {
    for file in files_below(&["tests/fixtures/scripts", "tests/bench"], &["py"]) {
        let text = text(&file).unwrap();
        assert!(text.starts_with("\"\"\""), "{file} begins with what it is for");
        let needs_nothing = !text.lines().any(|line| line == "if __name__ == \"__main__\":");
        assert!(needs_nothing || text.contains("Run with:"), "{file} says how it is run");
    }
}
