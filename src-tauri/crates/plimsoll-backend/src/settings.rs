//! The user's settings: ranges, and the file that keeps them.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use plimsoll_ipc::{ErrorCode, IpcError, Settings};

use crate::errors::ToIpc;
use crate::json_file::{self, Stored};
use crate::locking::lock;

/// Largest token count that a setting may name; larger ones are typing mistakes.
const MOST_TOKENS: u32 = 1 << 24;
/// Most compute threads.
const MOST_THREADS: u32 = 1024;
/// Longest system prompt in bytes.
const LONGEST_SYSTEM_PROMPT: usize = 1 << 20;

/// The settings in force.
#[derive(Debug)]
pub(crate) struct SettingsStore {
    path: PathBuf,
    current: Mutex<Settings>,
}

impl SettingsStore {
    /// Reads the file. A missing, damaged or out-of-range one gives the defaults; the latter two are kept as a backup.
    pub(crate) fn open(path: &Path) -> Self {
        let settings = match json_file::read::<Settings>(path) {
            Stored::Read(settings) => match validate(&settings) {
                Ok(()) => settings,
                Err(error) => {
                    tracing::warn!(%error, "settings are out of range; starting from the defaults");
                    let _ = json_file::set_aside(path);
                    Settings::default()
                }
            },
            Stored::Absent | Stored::Damaged => Settings::default(),
        };
        Self { path: path.to_owned(), current: Mutex::new(settings) }
    }

    pub(crate) fn get(&self) -> Settings {
        lock(&self.current).clone()
    }

    /// Writes the file, then makes the settings the ones in force.
    pub(crate) fn save(&self, settings: Settings) -> Result<(), IpcError> {
        validate(&settings)?;
        let mut current = lock(&self.current);
        json_file::write(&self.path, &settings).map_err(|error| error.to_ipc().with_detail("settings.json"))?;
        *current = settings;
        Ok(())
    }
}

/// Checks every range. The error's `detail` names the field as the contract spells it.
pub(crate) fn validate(settings: &Settings) -> Result<(), IpcError> {
    let counts = [
        ("contextTokens", settings.context_tokens, 1, MOST_TOKENS),
        ("outputTokens", settings.output_tokens, 1, MOST_TOKENS),
        ("threads", settings.threads, 0, MOST_THREADS),
        ("topK", settings.top_k, 0, MOST_TOKENS),
    ];
    for (name, value, least, most) in counts {
        if !(least..=most).contains(&value) {
            return Err(bad(name, &value, &format!("{least} to {most}"))
                .with_number("wanted", value.into())
                .with_number("least", least.into())
                .with_number("most", most.into()));
        }
    }
    let fractions = [
        ("memoryFraction", settings.memory_fraction, 0.05, 0.95),
        ("temperature", settings.temperature, 0.0, 10.0),
        ("topP", settings.top_p, f64::MIN_POSITIVE, 1.0),
        ("minP", settings.min_p, 0.0, 1.0),
        ("repetitionPenalty", settings.repetition_penalty, 0.01, 10.0),
    ];
    for (name, value, least, most) in fractions {
        if !(least..=most).contains(&value) {
            return Err(bad(name, &value, &format!("{least} to {most}")));
        }
    }
    for (name, value, allowed) in [
        ("theme", &settings.theme, &["system", "light", "dark"]),
        ("language", &settings.language, &["auto", "en", "zh-CN"]),
    ] {
        if !allowed.contains(&value.as_str()) {
            return Err(bad(name, value, &allowed.join(", ")));
        }
    }
    if settings.system_prompt.len() > LONGEST_SYSTEM_PROMPT {
        return Err(bad(
            "systemPrompt",
            &settings.system_prompt.len(),
            &format!("at most {LONGEST_SYSTEM_PROMPT} bytes"),
        ));
    }
    Ok(())
}

/// Do two settings give the same plan of the same model?
pub(crate) fn same_plan(a: &Settings, b: &Settings) -> bool {
    a.model == b.model
        && a.context_tokens == b.context_tokens
        && a.precision == b.precision
        && a.kv == b.kv
        && a.threads == b.threads
        && a.memory_fraction == b.memory_fraction
}

fn bad(name: &str, value: &dyn std::fmt::Display, expected: &str) -> IpcError {
    IpcError::new(ErrorCode::BadSetting, format!("setting `{name}` is {value}; expected {expected}")).with_detail(name)
}
