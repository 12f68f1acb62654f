use plimsoll_ipc::COMMANDS;

/// Commands that need a window's own services: a file dialog and the system's browser.
const OF_THE_SHELL: [&str; 2] = ["model_import_dialog", "open_link"];

#[test]
fn there_is_a_method_for_every_command() {
    let source = include_str!("../backend.rs");
    let methods: Vec<&str> = source
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("pub async fn "))
        .filter_map(|rest| rest.split('(').next())
        .collect();
    for (name, ..) in COMMANDS {
        let here = methods.contains(name);
        assert!(here != OF_THE_SHELL.contains(name), "{name} is {}", if here { "the shell's" } else { "missing" });
    }
}
