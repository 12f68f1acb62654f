//! A rendered prompt, and the token ids that it becomes.

/// A part of a rendered prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// A control token that the template wrote.
    Special(String),
    /// Text: whatever it looks like, it is encoded without control tokens.
    Text(String),
}

/// A prompt as the template renders it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RenderedPrompt {
    /// The whole of it, for people.
    pub text: String,
    /// The same text in pieces, for the tokenizer. No two texts stand side by side.
    pub pieces: Vec<Piece>,
}

/// What prompt assembly needs of a tokenizer.
pub trait PromptTokenizer {
    /// Ids of `text`, in which nothing is a control token.
    fn text(&self, text: &str) -> Vec<u32>;

    /// Id of a control token.
    fn special(&self, token: &str) -> Option<u32>;

    /// The id that the model expects first, if the tokenizer is to add it.
    fn added_bos(&self) -> Option<u32>;
}

impl RenderedPrompt {
    /// A prompt of plain text, for models without a template.
    pub fn plain(text: impl Into<String>) -> Self {
        let text = text.into();
        let pieces = if text.is_empty() { Vec::new() } else { vec![Piece::Text(text.clone())] };
        Self { text, pieces }
    }

    /// The prompt's ids, piece by piece. Where the tokenizer adds a BOS there is exactly one, whether the template
    /// writes none, one or more.
    pub fn token_ids(&self, tokenizer: &impl PromptTokenizer) -> Vec<u32> {
        let mut ids = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Special(token) => match tokenizer.special(token) {
                    Some(id) => ids.push(id),
                    None => ids.extend(tokenizer.text(token)),
                },
                Piece::Text(text) => ids.extend(tokenizer.text(text)),
            }
        }
        if let Some(bos) = tokenizer.added_bos() {
            let written = ids.iter().take_while(|&&id| id == bos).count();
            ids.splice(..written, [bos]);
        }
        ids
    }
}
