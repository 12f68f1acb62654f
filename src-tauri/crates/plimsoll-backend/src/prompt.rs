//! From messages to token ids, with the loaded model's template and tokenizer.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use plimsoll_chat::{
    ChatTemplate, ControlTokens, LocalTime, PromptMessage, PromptTokenizer, RenderInput, RenderedPrompt,
};
use plimsoll_engine::ModelFile;
use plimsoll_engine::tokenizer::{SpecialTokens, Tokenizer};
use plimsoll_ipc::IpcError;

use crate::errors::{ToIpc, no_template};
use crate::locking::lock;

/// What turns a model's messages into prompts.
#[derive(Debug)]
pub struct Prompter {
    tokenizer: Arc<Tokenizer>,
    template: Template,
    control_tokens: ControlTokens,
    bos: String,
    eos: String,
}

#[derive(Debug)]
enum Template {
    Chat(Box<ChatTemplate>),
    /// The file holds none.
    Base {
        model: String,
    },
    /// The file's own does not compile.
    Broken(IpcError),
}

impl Prompter {
    /// Reads the template and the control tokens of an opened file. A template that does not compile is reported
    /// when it is used: the model can still continue text.
    pub fn new(file: &ModelFile) -> Self {
        let tokenizer = Arc::clone(file.tokenizer());
        let template = match file.chat_template().map(ChatTemplate::compile) {
            None => Template::Base { model: file.info().name.clone() },
            Some(Ok(template)) => Template::Chat(Box::new(template)),
            Some(Err(error)) => Template::Broken(error.to_ipc()),
        };
        let control_tokens = match template {
            Template::Chat(_) => ControlTokens::new(tokenizer.control_tokens()),
            Template::Base { .. } | Template::Broken(_) => ControlTokens::default(),
        };
        let text_of = |id: Option<u32>| {
            id.map(|id| String::from_utf8_lossy(tokenizer.token_bytes(id)).into_owned()).unwrap_or_default()
        };
        let (bos, eos) = (text_of(tokenizer.bos()), text_of(tokenizer.eos()));
        Self { tokenizer, template, control_tokens, bos, eos }
    }

    /// Does the model only continue text?
    pub fn is_base(&self) -> bool {
        matches!(self.template, Template::Base { .. })
    }

    /// The template, or why there is none to use.
    pub fn chat_template(&self) -> Result<&ChatTemplate, IpcError> {
        match &self.template {
            Template::Chat(template) => Ok(template),
            Template::Base { model } => Err(no_template(model)),
            Template::Broken(error) => Err(error.clone()),
        }
    }

    /// Renders messages, oldest first; with `open_answer` the prompt ends where the model's answer begins.
    pub fn render(
        &self,
        messages: Vec<PromptMessage>,
        open_answer: bool,
        date: Option<LocalTime>,
    ) -> Result<RenderedPrompt, IpcError> {
        let template = self.chat_template()?;
        let messages = template.adapt(messages);
        let rendered = template.render(&RenderInput {
            messages: &messages,
            bos: &self.bos,
            eos: &self.eos,
            add_generation_prompt: open_answer,
            control_tokens: &self.control_tokens,
            date,
            extra: &BTreeMap::new(),
        });
        rendered.map_err(|error| error.to_ipc())
    }

    /// Ids of a rendered prompt.
    pub fn ids(&self, prompt: &RenderedPrompt) -> Vec<u32> {
        prompt.token_ids(&Plain(&self.tokenizer))
    }

    /// Ids of a rendered prompt; texts that were encoded a moment ago are not encoded again.
    pub(crate) fn ids_with(&self, prompt: &RenderedPrompt, memo: &TextMemo) -> Vec<u32> {
        prompt.token_ids(&Remembered { tokenizer: &self.tokenizer, memo })
    }
}

/// Now, in coordinated universal time: the standard library knows no time zone.
pub fn now() -> Option<LocalTime> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    LocalTime::from_unix(since.as_secs())
}

struct Plain<'a>(&'a Tokenizer);

impl PromptTokenizer for Plain<'_> {
    fn text(&self, text: &str) -> Vec<u32> {
        self.0.encode(text, SpecialTokens::AsText)
    }

    fn special(&self, token: &str) -> Option<u32> {
        self.0.special_id(token)
    }

    fn added_bos(&self) -> Option<u32> {
        self.0.bos().filter(|_| self.0.adds_bos())
    }
}

struct Remembered<'a> {
    tokenizer: &'a Tokenizer,
    memo: &'a TextMemo,
}

impl PromptTokenizer for Remembered<'_> {
    fn text(&self, text: &str) -> Vec<u32> {
        self.memo.get_or(text, || Plain(self.tokenizer).text(text)).to_vec()
    }

    fn special(&self, token: &str) -> Option<u32> {
        Plain(self.tokenizer).special(token)
    }

    fn added_bos(&self) -> Option<u32> {
        Plain(self.tokenizer).added_bos()
    }
}

/// Ids of texts that occurred in the last prompts: while the user types, only the draft's own text is new.
#[derive(Debug, Default)]
pub(crate) struct TextMemo(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    recent: HashMap<String, Arc<[u32]>>,
    older: HashMap<String, Arc<[u32]>>,
}

/// Bytes of text beyond which the older half is forgotten.
const MEMO_BYTES: usize = 4 << 20;

impl TextMemo {
    fn get_or(&self, text: &str, encode: impl FnOnce() -> Vec<u32>) -> Arc<[u32]> {
        if let Some(known) = lock(&self.0).touch(text) {
            return known;
        }
        // Encoded without the lock: a long text takes a while.
        let ids: Arc<[u32]> = encode().into();
        lock(&self.0).insert(text, Arc::clone(&ids));
        ids
    }
}

impl Memory {
    fn touch(&mut self, text: &str) -> Option<Arc<[u32]>> {
        if let Some(known) = self.recent.get(text) {
            return Some(Arc::clone(known));
        }
        let known = self.older.remove(text)?;
        self.insert(text, Arc::clone(&known));
        Some(known)
    }

    fn insert(&mut self, text: &str, ids: Arc<[u32]>) {
        let held: usize = self.recent.keys().map(String::len).sum();
        if held.saturating_add(text.len()) > MEMO_BYTES {
            self.older = std::mem::take(&mut self.recent);
        }
        self.recent.insert(text.to_owned(), ids);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_encoded_once_while_it_is_in_use() {
        let memo = TextMemo::default();
        let mut encoded = 0;
        for _ in 0..3 {
            assert_eq!(
                *memo.get_or("hello", || {
                    encoded += 1;
                    vec![1, 2]
                }),
                [1, 2]
            );
        }
        assert_eq!(encoded, 1);
        // Two halves' worth of other texts push it out, unless it is used in between.
        let long = |tag: char| tag.to_string().repeat(MEMO_BYTES / 2 + 1);
        for tag in ['a', 'b', 'c', 'd'] {
            memo.get_or(&long(tag), Vec::new);
        }
        memo.get_or("hello", || {
            encoded += 1;
            vec![1, 2]
        });
        assert_eq!(encoded, 2, "forgotten texts are encoded again");
    }
}
