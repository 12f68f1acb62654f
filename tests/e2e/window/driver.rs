//! A small WebDriver client: the few commands of the W3C protocol that these tests need.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use ureq::Agent;

/// The key under which WebDriver names an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// WebKitWebDriver with one session: one running program.
pub struct Driver {
    server: Child,
    agent: Agent,
    session: String,
}

impl Driver {
    /// Starts the driver in this environment, and the program through it.
    pub fn start(program: &Path, environment: &[(&str, &str)]) -> Self {
        let port = free_port();
        let mut command = Command::new("WebKitWebDriver");
        command.arg(format!("--port={port}")).envs(environment.iter().copied()).stdin(Stdio::null());
        let server = command.spawn().expect("WebKitWebDriver starts (Debian package webkit2gtk-driver)");
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_mins(2)))
            .build()
            .new_agent();
        let mut driver = Self { server, agent, session: format!("http://127.0.0.1:{port}") };
        driver.wait_until_listening();
        let capabilities = json!({"capabilities": {"alwaysMatch": {
            "webkitgtk:browserOptions": {"binary": program},
            "timeouts": {"script": 60_000},
        }}});
        let opened = driver.call("POST", "/session", &capabilities).expect("the program opens its window");
        let id = opened["sessionId"].as_str().expect("a session has an id");
        driver.session = format!("{}/session/{id}", driver.session);
        driver
    }

    /// Process id of the driver, the program's parent.
    pub fn process(&self) -> u32 {
        self.server.id()
    }

    /// Runs a function body in the page and returns its value.
    pub fn script(&self, body: &str, arguments: &Value) -> Value {
        self.call("POST", "/execute/sync", &json!({"script": body, "args": arguments}))
            .unwrap_or_else(|error| panic!("{error}\nin script: {body}"))
    }

    /// Runs a function body that calls its last argument with the result.
    pub fn script_async(&self, body: &str, arguments: &Value) -> Value {
        self.call("POST", "/execute/async", &json!({"script": body, "args": arguments}))
            .unwrap_or_else(|error| panic!("{error}\nin script: {body}"))
    }

    /// The first element that a CSS selector finds.
    pub fn find(&self, selector: &str) -> Option<String> {
        let found = self.call("POST", "/element", &json!({"using": "css selector", "value": selector})).ok()?;
        found[ELEMENT].as_str().map(str::to_owned)
    }

    /// Clicks as a user does: scrolls into view, moves the pointer, presses.
    pub fn click(&self, element: &str) -> Result<(), String> {
        self.call("POST", &format!("/element/{element}/click"), &json!({})).map(|_| ())
    }

    /// Types with the keyboard.
    pub fn type_keys(&self, element: &str, text: &str) {
        self.call("POST", &format!("/element/{element}/value"), &json!({"text": text}))
            .expect("the element takes keys");
    }

    pub fn reload(&self) {
        self.call("POST", "/refresh", &json!({})).expect("the page reloads");
    }

    /// The page as a PNG.
    pub fn screenshot(&self) -> Vec<u8> {
        // The driver waits for the next frame, and a page at rest draws none.
        let (start, stop) = (
            "window.__frames = setInterval(() => {
                const style = document.documentElement.style;
                style.opacity = style.opacity === '' ? '0.9999' : '';
            }, 30);",
            "clearInterval(window.__frames); document.documentElement.style.opacity = '';",
        );
        self.script(start, &json!([]));
        let encoded = self.call("GET", "/screenshot", &Value::Null).expect("the page can be pictured");
        self.script(stop, &json!([]));
        STANDARD.decode(encoded.as_str().unwrap()).expect("a screenshot is base64")
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let url = format!("{}{path}", self.session);
        let answer = match method {
            "GET" => self.agent.get(&url).call(),
            "DELETE" => self.agent.delete(&url).call(),
            _ => self.agent.post(&url).send_json(body),
        };
        let mut answer = answer.map_err(|error| format!("{method} {path}: {error}"))?;
        let succeeded = answer.status().is_success();
        let limit = answer.body_mut().with_config().limit(64 << 20).read_json::<Value>();
        let value = limit.map_err(|error| format!("{method} {path}: {error}"))?["value"].take();
        if succeeded { Ok(value) } else { Err(format!("{method} {path}: {}: {}", value["error"], value["message"])) }
    }

    fn wait_until_listening(&self) {
        let started = Instant::now();
        while self.call("GET", "/status", &Value::Null).is_err() {
            assert!(started.elapsed() < Duration::from_secs(10), "WebKitWebDriver does not answer");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Ends the program, if it has not ended itself.
        let _ = self.call("DELETE", "", &Value::Null);
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port").port()
}
