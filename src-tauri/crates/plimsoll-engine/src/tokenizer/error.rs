//! Why a tokenizer cannot be built.

use crate::gguf::GgufError;

/// Why a tokenizer cannot be built from a file.
#[derive(Debug, thiserror::Error)]
pub enum TokenizerError {
    /// A metadata value is missing or malformed.
    #[error(transparent)]
    Gguf(#[from] GgufError),
    /// `tokenizer.ggml.model` names a family that Plimsoll does not run.
    #[error("tokenizer model {model:?} is not supported; gpt2 and llama are")]
    UnsupportedModel {
        /// Value in the file.
        model: String,
    },
    /// `tokenizer.ggml.pre` names a way to split text that Plimsoll does not know.
    #[error("pre-tokenizer {pre:?} is not supported")]
    UnsupportedTokenizer {
        /// Value in the file.
        pre: String,
    },
    /// A pattern of a pre-tokenizer does not compile.
    #[error("the pattern of pre-tokenizer {pre:?} is refused: {source}")]
    Pattern {
        /// Name of the pre-tokenizer.
        pre: String,
        /// What is wrong with it.
        source: Box<regex_automata::meta::BuildError>,
    },
    /// An array that must have one element for each token has another length.
    #[error("{key} has {found} elements, the vocabulary has {tokens} tokens")]
    ArrayLength {
        /// Metadata key.
        key: &'static str,
        /// Elements in the array.
        found: usize,
        /// Tokens in the vocabulary.
        tokens: usize,
    },
    /// The vocabulary is empty or too large.
    #[error("the vocabulary has {tokens} tokens of {bytes} bytes in all; it must hold 1 to {most} tokens")]
    VocabularySize {
        /// Tokens in the file.
        tokens: usize,
        /// Bytes of all tokens.
        bytes: usize,
        /// Most tokens that are accepted.
        most: u32,
    },
    /// A token's kind is not one of the format's.
    #[error("token {token} has kind {kind}; kinds are 0 to 6")]
    TokenKind {
        /// Token id.
        token: usize,
        /// Kind in the file.
        kind: i64,
    },
    /// A special token's id is outside the vocabulary.
    #[error("{key} is {id}, outside the vocabulary of {tokens} tokens")]
    IdOutsideVocabulary {
        /// Metadata key.
        key: String,
        /// Id in the file.
        id: u32,
        /// Tokens in the vocabulary.
        tokens: u32,
    },
    /// A merge rule is not two parts separated by a space.
    #[error("merge rule {rank} is not two parts separated by one space: {rule:?}")]
    MalformedMerge {
        /// Position of the rule.
        rank: usize,
        /// The rule.
        rule: String,
    },
    /// A merge rule names a part, or makes a whole, that is not in the vocabulary.
    #[error("merge rule {rank} needs {part:?}, which is not in the vocabulary")]
    MergeOutsideVocabulary {
        /// Position of the rule.
        rank: usize,
        /// The missing token.
        part: String,
    },
    /// The special tokens are too many for the automaton that finds them.
    #[error("{tokens} special tokens of {bytes} bytes in all are too many")]
    SpecialTokens {
        /// Count of special tokens.
        tokens: usize,
        /// Bytes of their texts.
        bytes: usize,
        /// What the automaton's builder says, if it was asked.
        source: Option<Box<aho_corasick::BuildError>>,
    },
}
