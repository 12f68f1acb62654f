//! The repository's own files, as the layering tests read them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository's root.
pub fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("tests/ lies in the root").to_owned()
}

/// Paths of all files that git tracks or would track, relative to the root, with `/`; deleted ones left out.
pub fn files() -> Vec<String> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .current_dir(root())
        .output()
        .expect("git runs");
    assert!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr));
    let names = String::from_utf8(output.stdout).expect("file names are UTF-8");
    let mut files: Vec<String> =
        names.split('\0').filter(|name| !name.is_empty() && root().join(name).is_file()).map(str::to_owned).collect();
    files.sort();
    files.dedup();
    files
}

/// The files with one of these extensions below one of these folders (`""` is the root).
pub fn files_below(folders: &[&str], extensions: &[&str]) -> Vec<String> {
    let below =
        |file: &String| folders.iter().any(|folder| folder.is_empty() || file.starts_with(&format!("{folder}/")));
    let of_kind = |file: &String| extensions.iter().any(|extension| file.ends_with(&format!(".{extension}")));
    files().into_iter().filter(|file| below(file) && of_kind(file)).collect()
}

/// The text of a file; `None` when it is not UTF-8.
pub fn text(file: &str) -> Option<String> {
    String::from_utf8(fs::read(root().join(file)).expect("a listed file can be read")).ok()
}

/// Numbered lines (from 1) of a source file without line comments and block comments.
pub fn code_lines(file: &str) -> Vec<(usize, String)> {
    let source = text(file).unwrap_or_default();
    let mut in_block = false;
    let mut lines = Vec::new();
    for (index, line) in source.lines().enumerate() {
        let mut code = String::new();
        let mut rest = line;
        loop {
            if in_block {
                let Some(end) = rest.find("*/") else { break };
                rest = &rest[end + 2..];
                in_block = false;
                continue;
            }
            // `://` is an address, not a comment.
            let line_comment = rest.match_indices("//").map(|(at, _)| at).find(|&at| !rest[..at].ends_with(':'));
            let block = rest.find("/*");
            match (line_comment, block) {
                (Some(comment), block) if block.is_none_or(|block| comment < block) => {
                    code.push_str(&rest[..comment]);
                    break;
                }
                (_, Some(block)) => {
                    code.push_str(&rest[..block]);
                    rest = &rest[block + 2..];
                    in_block = true;
                }
                _ => {
                    code.push_str(rest);
                    break;
                }
            }
        }
        lines.push((index + 1, code));
    }
    lines
}

/// Does `code` hold `word` with no letter, digit or `_` on either side?
pub fn has_word(code: &str, word: &str) -> bool {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        !code[..at].chars().next_back().is_some_and(part_of_word)
            && !code[at + word.len()..].chars().next().is_some_and(part_of_word)
    })
}

/// What `cargo metadata --no-deps` says of the workspace.
pub fn cargo_metadata() -> serde_json::Value {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON")
}
