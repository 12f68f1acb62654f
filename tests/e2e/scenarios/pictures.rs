//! Pictures for people to look at, in target/e2e/; one of them stands in the README.

use std::fs;
use std::time::Duration;

use plimsoll_tests::repository;
use serde_json::json;

use crate::window::{Home, Window};

pub fn both_themes_and_languages() {
    for (theme, language) in [("light", "en"), ("dark", "en"), ("light", "zh-CN"), ("dark", "zh-CN")] {
        let home = Home::with_smollm2();
        home.set(&json!({"theme": theme, "language": language, "outputTokens": 512}));
        let window = Window::open_ready(home);
        window.ask("Write a Python function that adds two numbers.");
        window.wait_for_answer(1, Duration::from_mins(2));
        window.ask("What is the capital of France?");
        window.wait_for_answer(2, Duration::from_mins(2));
        assert_eq!(window.script("return document.documentElement.lang;", &json!([])), language);
        assert_eq!(window.script("return document.documentElement.dataset.theme;", &json!([])), theme);
        // The settled rendering takes the place of the live one.
        std::thread::sleep(Duration::from_millis(500));
        let chat = window.save_screenshot(&format!("chat-{theme}-{language}"));
        if theme == "light" && language == "en" && std::env::var_os("PLIMSOLL_UPDATE_SCREENSHOT").is_some() {
            fs::copy(&chat, repository::root().join("icons/screenshot.png")).unwrap();
        }
        window.click("settings-open");
        window.wait_for("the settings", Duration::from_secs(10), || window.has("settings-summary").then_some(()));
        std::thread::sleep(Duration::from_millis(500));
        window.save_screenshot(&format!("settings-{theme}-{language}"));
        window.assert_no_page_errors();
    }
}
