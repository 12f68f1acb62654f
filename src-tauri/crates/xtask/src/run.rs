//! `cargo xtask run`: the window, with SmolLM2 ready to chat.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde_json::{Value, json};

use crate::display::{self, VirtualDisplay};
use crate::models::SMOLLM2;
use crate::{process, setup, workspace};

/// The log line that the window writes when a model is loaded.
const READY: &str = "ready to chat";
/// From a loaded model to a picture that shows it.
const DRAWING: Duration = Duration::from_secs(2);

#[derive(Args)]
pub(crate) struct Options {
    /// Run under a virtual display and save a picture of it here, once the model is loaded.
    #[arg(long, value_name = "FILE")]
    screenshot: Option<PathBuf>,
    /// End as soon as the model is loaded and the picture, if any, is saved.
    #[arg(long)]
    exit_after_ready: bool,
}

/// Builds and opens the window.
pub(crate) fn run(options: &Options) -> Result<()> {
    setup::setup()?;
    process::run(&mut process::npm(&["run", "build"])?)?;
    process::run(&mut process::cargo(&["build", "--package", "plimsoll-desktop"])?)?;
    choose_model(&data_folder()?)?;
    let program = workspace::program("plimsoll-desktop")?;
    if options.screenshot.is_none() && display::is_present() {
        return follow(&program, None, None, options.exit_after_ready);
    }
    let display = VirtualDisplay::start()?;
    let picture =
        options.screenshot.clone().map_or_else(|| Ok(workspace::target()?.join("run/window.png")), anyhow::Ok)?;
    println!("run: there is no display here: the window runs under Xvfb, DISPLAY={}", display.name());
    follow(&program, Some(&display), Some(&picture), options.exit_after_ready)
}

/// Starts the window and passes its log on until it ends.
fn follow(
    program: &Path,
    display: Option<&VirtualDisplay>,
    picture: Option<&Path>,
    exit_after_ready: bool,
) -> Result<()> {
    let mut command: Command = display::bound_to_us(program);
    if let Some(display) = display {
        command.env("DISPLAY", display.name()).env_remove("WAYLAND_DISPLAY").env("GDK_BACKEND", "x11");
        command.env("LIBGL_ALWAYS_SOFTWARE", "1");
    }
    let mut window = command.stderr(Stdio::piped()).spawn().with_context(|| program.display().to_string())?;
    println!("run: the window is process {}; it runs until it is closed or killed", window.id());
    let log = BufReader::new(window.stderr.take().context("the window's stderr is a pipe")?);
    for line in log.lines() {
        let line = line?;
        eprintln!("{line}");
        if line.contains(READY) {
            when_ready(display, picture)?;
            if exit_after_ready {
                return end(window);
            }
        }
    }
    let status = window.wait()?;
    if !status.success() {
        bail!("the window ended with {status}");
    }
    Ok(())
}

fn when_ready(display: Option<&VirtualDisplay>, picture: Option<&Path>) -> Result<()> {
    println!("run: the model is loaded: ready to chat");
    if let (Some(display), Some(picture)) = (display, picture) {
        thread::sleep(DRAWING);
        display.screenshot(picture)?;
        println!("run: a picture of the window is in {}", picture.display());
    }
    Ok(())
}

fn end(mut window: Child) -> Result<()> {
    window.kill()?;
    window.wait()?;
    Ok(())
}

/// Where the program keeps its data, as plimsoll-backend finds it.
fn data_folder() -> Result<PathBuf> {
    if let Some(home) = std::env::var_os("PLIMSOLL_HOME").filter(|home| !home.is_empty()) {
        return Ok(PathBuf::from(home));
    }
    let folders = directories::ProjectDirs::from("", "", "plimsoll").context("no data folder; set PLIMSOLL_HOME")?;
    Ok(folders.data_dir().to_owned())
}

/// Puts SmolLM2 among the installed models, and chooses it where nothing is chosen yet.
fn choose_model(home: &Path) -> Result<()> {
    let installed = home.join("models").join(SMOLLM2.file);
    fs::create_dir_all(home.join("models"))?;
    if !installed.exists() {
        // A link whose target is gone is in the way of a new one.
        let _ = fs::remove_file(&installed);
        link(&workspace::models()?.join(SMOLLM2.file), &installed)?;
    }
    let file = home.join("settings.json");
    let mut settings = match fs::read(&file) {
        Ok(bytes) => serde_json::from_slice(&bytes).with_context(|| file.display().to_string())?,
        Err(_) => json!({}),
    };
    let object = settings.as_object_mut().context("settings.json holds an object")?;
    if object.get("model").is_none_or(Value::is_null) {
        let id = SMOLLM2.file.trim_end_matches(".gguf");
        object.insert("model".to_owned(), json!(id));
        fs::write(&file, serde_json::to_vec_pretty(&settings)?)?;
    }
    Ok(())
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> Result<()> {
    std::os::unix::fs::symlink(from, to).with_context(|| to.display().to_string())
}

/// Symbolic links need a privilege on Windows.
#[cfg(not(unix))]
fn link(from: &Path, to: &Path) -> Result<()> {
    fs::hard_link(from, to).or_else(|_| fs::copy(from, to).map(|_| ())).with_context(|| to.display().to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_users_own_choice_of_a_model_stays() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("settings.json");
        fs::write(&file, r#"{"model": "mine", "contextTokens": 1024}"#).unwrap();
        choose_model(home.path()).unwrap();
        let settings: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        assert_eq!(settings["model"], "mine");
    }

    #[test]
    fn without_a_choice_smollm2_is_linked_and_chosen_and_other_settings_stay() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("settings.json");
        fs::write(&file, r#"{"model": null, "contextTokens": 1024}"#).unwrap();
        choose_model(home.path()).unwrap();
        let settings: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        assert_eq!(settings["model"], "SmolLM2-135M-Instruct.Q4_1");
        assert_eq!(settings["contextTokens"], 1024);
        assert!(home.path().join("models").join(SMOLLM2.file).symlink_metadata().is_ok());
    }
}
