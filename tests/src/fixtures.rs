//! The recorded expectations in `tests/fixtures`; each file's script says how it was made.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Path of a fixture.
pub fn path(name: &str) -> PathBuf {
    crate::repository::root().join("tests/fixtures").join(name)
}

/// A fixture as text.
pub fn text(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn json<T: DeserializeOwned>(name: &str) -> T {
    serde_json::from_str(&text(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Token ids of many texts by the reference tokenizers (`scripts/tokens.py`).
#[derive(Debug, Deserialize)]
pub struct TokenFixture {
    /// File name of the model.
    pub model: String,
    /// The texts.
    pub texts: Vec<TokenizedText>,
}

/// One text and its ids, without BOS.
#[derive(Debug, Deserialize)]
pub struct TokenizedText {
    /// Name in `scripts/corpus.py`.
    pub name: String,
    /// The text.
    pub text: String,
    /// Ids with special tokens left as text.
    pub as_text: Vec<u32>,
    /// Ids with special tokens parsed; absent when they are the same.
    pub parse: Option<Vec<u32>>,
}

/// Reads `tokens_<key>.json`; keys: `smollm2`, `gemma3`.
pub fn tokens(key: &str) -> TokenFixture {
    json(&format!("tokens_{key}.json"))
}

/// One message of a conversation.
#[derive(Debug, Clone, Deserialize)]
pub struct Message {
    /// `system`, `user` or `assistant`.
    pub role: String,
    /// Its text.
    pub content: String,
}

/// A conversation that was rendered.
#[derive(Debug, Clone, Deserialize)]
pub struct Conversation {
    /// First to last.
    pub messages: Vec<Message>,
    /// Does the prompt end with the start of the assistant's turn?
    pub add_generation_prompt: bool,
}

/// All conversations by name (`scripts/conversations.py`).
pub fn conversations() -> BTreeMap<String, Conversation> {
    json("conversations.json")
}

/// What transformers rendered with one template (`scripts/rendered.py`).
#[derive(Debug, Deserialize)]
pub struct RenderFixture {
    /// Name of the template.
    pub template: String,
    /// `bos_token`.
    pub bos: String,
    /// `eos_token`.
    pub eos: String,
    /// What `strftime_now` read, ISO 8601 without zone.
    pub now: String,
    /// One entry per conversation.
    pub rendered: Vec<Rendered>,
}

/// One conversation as rendered: `text`, or the template's own `error`.
#[derive(Debug, Deserialize)]
pub struct Rendered {
    /// Name of the conversation.
    pub name: String,
    /// The prompt.
    pub text: Option<String>,
    /// Why the template refuses this conversation.
    pub error: Option<String>,
    /// Ids in which only what the template wrote is special (SmolLM2's own template only).
    pub ids: Option<Vec<u32>>,
}

/// Templates that lie in `templates/`.
pub const TEMPLATES: [&str; 8] = ["chatml", "llama3", "llama32", "gemma3", "mistral", "phi3", "qwen25", "qwen3"];

/// Reads `rendered_<key>.json`; keys: [`TEMPLATES`] and `smollm2`, whose template is in the model file.
pub fn rendered(key: &str) -> RenderFixture {
    json(&format!("rendered_{key}.json"))
}

/// Source of a template in `templates/`.
pub fn template(key: &str) -> String {
    text(&format!("templates/{key}.jinja"))
}

/// llama.cpp's likelihood of `prose.txt` (`scripts/perplexity.py`, which defines the measure).
#[derive(Debug, Deserialize)]
pub struct PerplexityFixture {
    /// Positions in a window.
    pub window: usize,
    /// By model key.
    #[serde(flatten)]
    models: BTreeMap<String, serde_json::Value>,
}

/// One model's likelihoods.
#[derive(Debug, Deserialize)]
pub struct ModelPerplexity {
    /// Tokens of the text, without BOS.
    pub tokens: usize,
    /// Does every window begin with a BOS?
    pub bos: bool,
    /// Tokens scored.
    pub scored: usize,
    /// Sum of -ln p over the scored tokens.
    pub nll: f64,
    /// exp(nll / scored).
    pub ppl: f64,
    /// The same with the weights dequantized to 32 bits.
    pub float: TotalLikelihood,
    /// In order.
    pub windows: Vec<WindowLikelihood>,
    /// One pass over the text's first positions, longer than Gemma's sliding window.
    pub long: WindowLikelihood,
}

/// Likelihood of the whole text.
#[derive(Debug, Deserialize)]
pub struct TotalLikelihood {
    /// Tokens scored.
    pub scored: usize,
    /// Sum of -ln p over the scored tokens.
    pub nll: f64,
    /// exp(nll / scored).
    pub ppl: f64,
    /// The long pass.
    pub long: WindowLikelihood,
}

/// One window's likelihood.
#[derive(Debug, Deserialize)]
pub struct WindowLikelihood {
    /// Tokens scored.
    pub scored: usize,
    /// Sum of -ln p.
    pub nll: f64,
    /// Most likely id at every position.
    pub top1: Vec<u32>,
}

/// Reads `perplexity.json`.
pub fn perplexity() -> PerplexityFixture {
    json("perplexity.json")
}

impl PerplexityFixture {
    /// The likelihoods of `smollm2` or `gemma3`.
    pub fn model(&self, key: &str) -> ModelPerplexity {
        serde_json::from_value(self.models[key].clone()).unwrap_or_else(|error| panic!("{key}: {error}"))
    }
}

/// The prose that likelihoods were measured on.
pub fn prose() -> String {
    text("prose.txt")
}
