//! The checklist for running out of memory, answered with live values.
//!
//! Six questions: how much memory, how long is the prompt, how long may the answer be, how many requests at once, are
//! the weights quantized, is the KV cache growing.

use plimsoll_device::CpuInfo;
use plimsoll_ipc::{DoctorItem, DoctorReport, MemoryGauge, Settings};
use plimsoll_plan::{KvType, Precision, Tokens};

use crate::core::Core;
use crate::report::{CHATS, kv_bytes, kv_name, precision_name};
use crate::slot::Loaded;

/// A state, and the words.
struct Answer {
    state: &'static str,
    text: String,
}

impl Answer {
    fn ok(text: String) -> Self {
        Self { state: "ok", text }
    }

    fn warn(text: String) -> Self {
        Self { state: "warn", text }
    }

    fn bad(text: String) -> Self {
        Self { state: "bad", text }
    }
}

impl Core {
    /// Reads everything now.
    pub(crate) fn doctor(&self) -> DoctorReport {
        let gauge = self.gauge_now();
        let settings = self.settings.get();
        let loaded = self.slot.loaded();
        let loaded = loaded.as_deref();
        let cpu = self.probe.cpu();
        let running = self.generations.gate().is_running();
        let items = [
            ("memory", "How much memory is there, and does the plan fit?", memory(&gauge, loaded)),
            ("prompt", "Is the prompt long?", prompt(&gauge, loaded)),
            ("output", "How long may the answer be?", output(&settings, loaded)),
            ("concurrency", "How many requests run at once?", concurrency(running)),
            ("quantization", "Is the model quantized?", quantization(loaded)),
            ("kv", "Is the KV cache growing?", kv(&gauge, loaded)),
            ("cpu", "Which processor computes?", processor(&cpu, &settings)),
            ("kernels", "Which kernels run?", Answer::ok(kernels(&cpu))),
            (
                "gpu",
                "Is a graphics card used?",
                Answer::ok("No: GPU support is not built into this program.".to_owned()),
            ),
            ("version", "Which version is this?", Answer::ok(format!("Plimsoll {}", env!("CARGO_PKG_VERSION")))),
        ];
        DoctorReport {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            items: items
                .into_iter()
                .map(|(id, question, answer)| DoctorItem {
                    id: id.to_owned(),
                    state: answer.state.to_owned(),
                    question: question.to_owned(),
                    answer: answer.text,
                })
                .collect(),
        }
    }
}

/// The instruction set that the kernels run with, and what else the processor offers.
pub(crate) fn kernels(cpu: &CpuInfo) -> String {
    let chosen = plimsoll_engine::kernel_name();
    if cpu.features.is_empty() { chosen.to_owned() } else { format!("{chosen} ({})", cpu.features.join(", ")) }
}

fn memory(gauge: &MemoryGauge, loaded: Option<&Loaded>) -> Answer {
    if gauge.total_bytes == 0 {
        return Answer::bad("The memory of this machine could not be read; no plan can be made.".to_owned());
    }
    let machine = format!(
        "{} in all, {} free, {} allowed for Plimsoll",
        size(gauge.total_bytes),
        size(gauge.free_bytes),
        size(gauge.budget_bytes),
    );
    match loaded {
        None => Answer::ok(format!("{machine}. No model is loaded.")),
        Some(loaded) => {
            let text = format!("{machine}; the loaded model's plan takes {}.", size(loaded.plan.total.0));
            if gauge.state == "tight" || gauge.budget_bytes < loaded.plan.total.0 {
                Answer::warn(format!(
                    "{text} Other programs leave little room: a smaller context or another model helps."
                ))
            } else {
                Answer::ok(text)
            }
        }
    }
}

fn prompt(gauge: &MemoryGauge, loaded: Option<&Loaded>) -> Answer {
    let Some(loaded) = loaded else {
        return Answer::ok("No model is loaded. A prompt is counted exactly before it is sent.".to_owned());
    };
    let used = gauge.kv_used_tokens.saturating_add(gauge.kv_reserved_tokens);
    let text = format!(
        "{used} of {} tokens are used or reserved; the model was trained for {}.",
        loaded.plan.context, loaded.plan.trained_context,
    );
    match gauge.state.as_str() {
        "blocked" => Answer::bad(format!("{text} The draft does not fit as it stands.")),
        "tight" => {
            Answer::warn(format!("{text} The conversation is nearly full: drop old turns or enlarge the context."))
        }
        _ => Answer::ok(text),
    }
}

fn output(settings: &Settings, loaded: Option<&Loaded>) -> Answer {
    let limit = settings.output_tokens;
    let text = format!("At most {limit} tokens, reserved before Send and enforced while decoding");
    match loaded {
        None => Answer::ok(format!("{text}.")),
        Some(loaded) if limit >= loaded.plan.context.0 => {
            let context = loaded.plan.context;
            Answer::bad(format!("{text}. That leaves no room for a prompt in a context of {context} tokens."))
        }
        Some(loaded) => Answer::ok(format!("{text}: {} of KV cache.", size(kv_bytes(&loaded.plan, Tokens(limit)).0))),
    }
}

fn concurrency(running: bool) -> Answer {
    let now = if running { "one answer is being written" } else { "none runs" };
    Answer::ok(format!("At most {CHATS}: a second one is refused until the first has ended. Now {now}."))
}

fn quantization(loaded: Option<&Loaded>) -> Answer {
    let Some(loaded) = loaded else { return Answer::ok("No model is loaded.".to_owned()) };
    let weights = |precision| {
        let row = loaded.plan.candidates.iter().find(|row| row.precision == precision);
        row.map_or(0, |row| row.weights.0)
    };
    let own = loaded.plan.precision;
    let text = format!(
        "{} class, mostly {}: {} of weights ({} at FP16)",
        precision_name(own).to_uppercase(),
        loaded.entry.storage_type,
        size(weights(own)),
        size(weights(Precision::Fp16)),
    );
    if own == Precision::Fp16 {
        Answer::warn(format!("{text}. An INT4 file of this model would take {}.", size(weights(Precision::Int4))))
    } else {
        Answer::ok(format!("{text}."))
    }
}

fn kv(gauge: &MemoryGauge, loaded: Option<&Loaded>) -> Answer {
    let Some(loaded) = loaded else { return Answer::ok("No model is loaded.".to_owned()) };
    let pool = gauge.kv_used_bytes.saturating_add(gauge.kv_reserved_bytes).saturating_add(gauge.kv_idle_bytes);
    let text = format!(
        "No: {} were reserved at load and never grow. {} hold tokens now; {} cache, {} bytes per token",
        size(pool),
        size(gauge.kv_used_bytes),
        kv_name(loaded.plan.kv).to_uppercase(),
        loaded.plan.kv_bytes_per_token.0,
    );
    match loaded.plan.kv {
        KvType::Fp16 => Answer::ok(format!("{text}.")),
        KvType::Int8 | KvType::Int4 => Answer::ok(format!("{text}, quantized.")),
    }
}

fn processor(cpu: &CpuInfo, settings: &Settings) -> Answer {
    let name = cpu.name.as_deref().unwrap_or("An unknown processor");
    let count = |count: Option<u32>| count.map_or_else(|| "an unknown number of".to_owned(), |count| count.to_string());
    let threads = if settings.threads == 0 { cpu.compute_threads() } else { settings.threads };
    let text = format!(
        "{name}: {} cores, {} logical processors; {threads} compute threads",
        count(cpu.physical_cores),
        count(cpu.logical),
    );
    match cpu.logical {
        Some(logical) if threads > logical => Answer::warn(format!("{text}, more than there are processors.")),
        _ => Answer::ok(format!("{text}.")),
    }
}

/// A byte count in decimal units with one digit behind the point.
fn size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        1_000_000_000.. => (1_000_000_000, "GB"),
        1_000_000.. => (1_000_000, "MB"),
        1_000.. => (1_000, "kB"),
        _ => return format!("{bytes} B"),
    };
    let tenths = u128::from(bytes) * 10 / unit;
    format!("{}.{} {name}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        assert_eq!(size(999), "999 B");
        assert_eq!(size(97_600_000), "97.6 MB");
        assert_eq!(size(16_640_000_000), "16.6 GB");
        assert_eq!(size(u64::MAX), "18446744073.7 GB");
    }
}
