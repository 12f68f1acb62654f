//! System packages, by Debian's names.

use std::io::{IsTerminal as _, Write as _, stdin, stdout};
use std::process::Command;

use anyhow::{Result, bail};

use crate::process;

/// What building and testing need.
const PACKAGES: &[&str] = &[
    "build-essential",
    "pkg-config",
    "libwebkit2gtk-4.1-dev", // the window
    "webkit2gtk-driver",     // drives the real window in tests
    "xvfb",                  // a display where there is none
    "fonts-noto-cjk",        // 简体中文
];

/// Installs the missing packages. As a user it asks first, or says exactly what to run.
pub(crate) fn ensure() -> Result<()> {
    if cfg!(not(target_os = "linux")) {
        return Ok(());
    }
    if !process::succeeds(Command::new("dpkg-query").arg("--version")) {
        return without_dpkg();
    }
    let missing = missing();
    if missing.is_empty() {
        return Ok(());
    }
    println!("setup: missing system packages: {}", missing.join(" "));
    install(&missing)
}

fn missing() -> Vec<&'static str> {
    let mut missing: Vec<&str> = PACKAGES.iter().copied().filter(|package| !is_installed(package)).collect();
    // Any Python with pip will do; Debian's comes only where there is none.
    if !process::succeeds(Command::new("python3").args(["-m", "pip", "--version"])) {
        missing.extend(["python3", "python3-pip", "python3-venv"]);
    }
    missing
}

fn is_installed(package: &str) -> bool {
    let mut query = Command::new("dpkg-query");
    query.args(["--show", "--showformat", "${db:Status-Status}", package]);
    query.output().is_ok_and(|output| output.status.success() && output.stdout == b"installed")
}

/// On another distribution nobody but the user knows the names; the one library that matters is looked for.
fn without_dpkg() -> Result<()> {
    if process::succeeds(Command::new("pkg-config").args(["--exists", "webkit2gtk-4.1"])) {
        return Ok(());
    }
    bail!("WebKitGTK 4.1 was not found. Install what Debian calls: {}", PACKAGES.join(" "));
}

fn install(missing: &[&str]) -> Result<()> {
    let as_root = process::output(Command::new("id").arg("-u"))?.trim() == "0";
    let by_hand = format!("sudo apt-get update && sudo apt-get install --yes {}", missing.join(" "));
    if !as_root {
        if !stdin().is_terminal() {
            bail!("these packages need root. Run:\n    {by_hand}");
        }
        print!("setup: run `{by_hand}` now? [y/N] ");
        stdout().flush()?;
        let mut answer = String::new();
        stdin().read_line(&mut answer)?;
        if !matches!(answer.trim(), "y" | "Y" | "yes") {
            bail!("not installed. Run it yourself:\n    {by_hand}");
        }
    }
    // The lists may be old, or absent in a fresh container: first try as they are, then renew them.
    let first = apt(as_root, &["install", "--yes", "--no-install-recommends"], missing);
    if first.is_ok() {
        return first;
    }
    apt(as_root, &["update"], &[])?;
    apt(as_root, &["install", "--yes", "--no-install-recommends"], missing)
}

fn apt(as_root: bool, arguments: &[&str], packages: &[&str]) -> Result<()> {
    let mut command = if as_root {
        Command::new("apt-get")
    } else {
        let mut sudo = Command::new("sudo");
        sudo.arg("DEBIAN_FRONTEND=noninteractive").arg("apt-get");
        sudo
    };
    process::run(command.args(arguments).args(packages).env("DEBIAN_FRONTEND", "noninteractive"))
}
