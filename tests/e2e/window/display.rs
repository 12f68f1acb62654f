//! A display for the window.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// Xvfb on a free display number. It ends when dropped.
pub struct Display {
    server: Child,
    name: String,
}

impl Display {
    pub fn start() -> Self {
        let mut server = Command::new("Xvfb")
            // It writes the number it chose to file descriptor 1, which is our pipe.
            .args(["-displayfd", "1", "-screen", "0", "1400x1000x24", "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb starts (Debian package xvfb)");
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        assert!(!number.trim().is_empty(), "Xvfb ended at once: {:?}", server.wait());
        Self { server, name: format!(":{}", number.trim()) }
    }

    /// The value for DISPLAY.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
