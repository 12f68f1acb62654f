//! What a user sees and does, by the page's `data-testid` names.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_tests::repository;
use serde_json::{Value, json};

use super::display::Display;
use super::driver::Driver;
use super::home::Home;
use super::process;

/// Longest time for anything that is not an answer.
const SOON: Duration = Duration::from_secs(30);

/// The running program.
pub struct Window {
    // In the order in which they end.
    driver: Driver,
    display: Display,
    home: Home,
}

impl Window {
    /// Opens the window and waits until the page is there.
    pub fn open(home: Home) -> Self {
        let display = Display::start();
        let environment = [
            ("DISPLAY", display.name()),
            ("GDK_BACKEND", "x11"),
            ("TAURI_WEBVIEW_AUTOMATION", "true"),
            ("TAURI_AUTOMATION", "true"),
            ("WEBKIT_DISABLE_DMABUF_RENDERER", "1"),
            ("LIBGL_ALWAYS_SOFTWARE", "1"),
            ("PLIMSOLL_HOME", home.path().to_str().unwrap()),
        ];
        let driver = Driver::start(&program(), &environment);
        let window = Self { driver, display, home };
        window.wait_until_there();
        window
    }

    /// Opens the window and waits until the chosen model is loaded.
    pub fn open_ready(home: Home) -> Self {
        let window = Self::open(home);
        window.wait_until_loaded();
        window
    }

    /// Ends the program and opens it again on the same data.
    pub fn restart(self) -> Self {
        let Self { driver, display, home } = self;
        drop(driver);
        drop(display);
        Self::open(home)
    }

    pub fn reload(&self) {
        self.driver.reload();
        self.wait_until_there();
    }

    pub fn wait_until_loaded(&self) {
        let status = self.wait_for("the model to load", SOON, || {
            let status = self.invoke("model_status", &Value::Null).ok()?;
            matches!(status["state"].as_str(), Some("ready" | "failed")).then_some(status)
        });
        assert_eq!(status["state"], "ready", "{status}");
        self.wait_for("the composer", SOON, || self.has("composer").then_some(()));
    }

    /// Calls a command of the backend as the page does.
    pub fn invoke(&self, command: &str, arguments: &Value) -> Result<Value, Value> {
        let body = "const [command, args, done] = arguments;
            window.__TAURI_INTERNALS__.invoke(command, args === null ? {} : { args })
                .then((ok) => done({ ok }), (error) => done({ error }));";
        let mut outcome = self.driver.script_async(body, &json!([command, arguments]));
        match outcome.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(outcome["ok"].take()),
        }
    }

    pub fn script(&self, body: &str, arguments: &Value) -> Value {
        self.driver.script(body, arguments)
    }

    /// Is there such an element?
    pub fn has(&self, name: &str) -> bool {
        self.driver.find(&by_name(name)).is_some()
    }

    /// The visible text of the last element of this name; empty when there is none.
    pub fn text(&self, name: &str) -> String {
        let body = "return [...document.querySelectorAll(arguments[0])].at(-1)?.innerText ?? '';";
        self.driver.script(body, &json!([by_name(name)])).as_str().unwrap().to_owned()
    }

    /// An attribute of the last element of this name.
    pub fn attribute(&self, name: &str, attribute: &str) -> Option<String> {
        let body = "return [...document.querySelectorAll(arguments[0])].at(-1)?.getAttribute(arguments[1]) ?? null;";
        self.driver.script(body, &json!([by_name(name), attribute])).as_str().map(str::to_owned)
    }

    pub fn count(&self, name: &str) -> u64 {
        self.driver
            .script("return document.querySelectorAll(arguments[0]).length;", &json!([by_name(name)]))
            .as_u64()
            .unwrap()
    }

    /// Clicks the element of this name with the pointer, once it is there and enabled.
    pub fn click(&self, name: &str) {
        self.click_selector(&by_name(name));
    }

    pub fn click_selector(&self, selector: &str) {
        let enabled = format!("{selector}:not(:disabled)");
        self.wait_for(&format!("{selector} to be clickable"), SOON, || {
            // The element may be replaced between the two calls, or covered by a panel that is closing.
            self.driver.click(&self.driver.find(&enabled)?).ok()
        });
    }

    /// Types into an element with the keyboard.
    pub fn type_keys(&self, name: &str, text: &str) {
        let element = self.driver.find(&by_name(name)).unwrap_or_else(|| panic!("there is no {name}"));
        self.driver.type_keys(&element, text);
    }

    /// Chooses a value of a drop-down list.
    pub fn select(&self, name: &str, value: &str) {
        let body = "const box = document.querySelector(arguments[0]);
            box.value = arguments[1];
            box.dispatchEvent(new Event('change', { bubbles: true }));
            return box.value;";
        let chosen = self.driver.script(body, &json!([by_name(name), value]));
        assert_eq!(chosen, value, "{name} offers {value}");
    }

    /// Pastes text into the composer at the cursor: a paste event, then the browser's own insertion.
    pub fn paste(&self, text: &str) {
        let body = "const box = document.querySelector(arguments[0]);
            box.focus();
            const clipboardData = new DataTransfer();
            clipboardData.setData('text/plain', arguments[1]);
            const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
            if (box.dispatchEvent(paste)) document.execCommand('insertText', false, arguments[1]);";
        self.driver.script(body, &json!([by_name("composer"), text]));
    }

    /// What the user is writing.
    pub fn draft(&self) -> String {
        let body = "return document.querySelector(arguments[0]).value;";
        self.driver.script(body, &json!([by_name("composer")])).as_str().unwrap().to_owned()
    }

    /// Waits until this is what the user is writing.
    pub fn wait_for_draft(&self, text: &str) {
        self.wait_for("the draft", SOON, || (self.has("composer") && self.draft() == text).then_some(()));
    }

    /// Empties the composer: a long draft by its button, a short one with the keyboard.
    pub fn clear_draft(&self) {
        if self.has("long-draft") {
            self.click("long-remove");
            self.wait_for_draft("");
            return;
        }
        self.script(
            "const box = document.querySelector(arguments[0]); box.focus(); box.select();",
            &json!([by_name("composer")]),
        );
        // Backspace, as WebDriver spells it.
        self.type_keys("composer", "\u{e003}");
        assert_eq!(self.draft(), "");
    }

    /// Writes and sends with the keyboard alone.
    pub fn ask(&self, text: &str) {
        self.type_keys("composer", text);
        // Enter, as WebDriver spells it.
        self.type_keys("composer", "\u{e007}");
    }

    /// Waits until the answer with this number (from 1) has ended, and returns how.
    pub fn wait_for_answer(&self, number: u64, within: Duration) -> String {
        self.wait_for(&format!("answer {number} to end"), within, || {
            let state = self.attribute("message-assistant", "data-state")?;
            (self.count("message-assistant") == number && state != "streaming").then_some(state)
        })
    }

    /// Waits until the token count speaks of the text as it stands.
    pub fn wait_for_count(&self) -> String {
        self.wait_for("the token count", SOON, || {
            let fresh = self.attribute("token-count", "data-stale")? == "false";
            let text = self.text("token-count");
            (fresh && text.contains(|c: char| c.is_ascii_digit())).then_some(text)
        })
    }

    /// May the draft be sent?
    pub fn can_send(&self) -> bool {
        self.driver.find(&format!("{}:not(:disabled)", by_name("send"))).is_some()
    }

    pub fn wait_until_can_send(&self) {
        self.wait_for("Send to be enabled", SOON, || self.can_send().then_some(()));
    }

    /// Polls until `outcome` gives something.
    pub fn wait_for<T>(&self, what: &str, within: Duration, mut outcome: impl FnMut() -> Option<T>) -> T {
        let started = Instant::now();
        loop {
            if let Some(value) = outcome() {
                return value;
            }
            if started.elapsed() > within {
                let file = self.save_screenshot("failed");
                panic!("waited {within:?} for {what}; the page is in {}\n{}", file.display(), self.home.log());
            }
            thread::sleep(Duration::from_millis(25));
        }
    }

    /// Saves a picture of the page as target/e2e/NAME.png.
    pub fn save_screenshot(&self, name: &str) -> PathBuf {
        let folder = repository::root().join("target/e2e");
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join(format!("{name}.png"));
        std::fs::write(&file, self.driver.screenshot()).unwrap();
        file
    }

    /// The draft on disk.
    pub fn saved_draft(&self) -> Option<String> {
        let file = std::fs::read(self.home.path().join("draft.json")).ok()?;
        Some(serde_json::from_slice::<Value>(&file).ok()?["text"].as_str()?.to_owned())
    }

    /// Process id of the program.
    pub fn process(&self) -> u32 {
        process::child_of(self.driver.process()).expect("the driver has started the program")
    }

    /// Presses the close button and returns how long the process lived on.
    pub fn close(&self, at_most: Duration) -> Duration {
        let id = self.process();
        let started = Instant::now();
        let mut pressed = Instant::now();
        process::press_close(self.display.name(), "Plimsoll");
        while !process::has_ended(id) {
            assert!(started.elapsed() < at_most, "the process lives {at_most:?} after its window was closed");
            // Without a window manager the message is lost while the window is being laid out: press again.
            if pressed.elapsed() > Duration::from_secs(2) {
                pressed = Instant::now();
                process::press_close(self.display.name(), "Plimsoll");
            }
            thread::sleep(Duration::from_millis(10));
        }
        pressed.elapsed()
    }

    /// The page has reported no fault of its own to the log.
    pub fn assert_no_page_errors(&self) {
        let log = self.home.log();
        let faults: Vec<&str> = log
            .lines()
            .filter(|line| line.contains("plimsoll::ui") || line.contains("a command panicked"))
            .filter(|line| ["error", "rejection", "panicked"].iter().any(|word| line.contains(word)))
            .collect();
        assert!(faults.is_empty(), "{faults:#?}");
    }

    fn wait_until_there(&self) {
        self.wait_for("the page", SOON, || {
            let ready = self.driver.script("return document.documentElement.dataset.ready ?? '';", &json!([]));
            (ready == "true").then_some(())
        });
    }
}

fn by_name(name: &str) -> String {
    format!("[data-testid='{name}']")
}

/// The program under test: `$PLIMSOLL_DESKTOP`, else cargo's own build.
fn program() -> PathBuf {
    let program = std::env::var_os("PLIMSOLL_DESKTOP")
        .map_or_else(|| repository::root().join("target/debug/plimsoll-desktop"), PathBuf::from);
    assert!(Path::new(&program).is_file(), "{} is missing: `cargo xtask test` builds it", program.display());
    program
}
