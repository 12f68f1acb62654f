//! Which patterns split text, by the name that a file gives. The patterns are those of the models' own tokenizer
//! files; names are those that converters to GGUF write.

/// One pattern.
#[derive(Debug)]
pub(super) struct StagePattern {
    /// What is a word.
    pub(super) pattern: &'static str,
    /// Does the pattern end with `|\s+(?!\S)|\s+`? It is left out of `pattern`, see `pre_tokenizer`.
    pub(super) splits_spaces: bool,
}

/// How a family of models splits text.
#[derive(Debug)]
pub(super) struct Recipe {
    /// Patterns, applied one after the other.
    pub(super) stages: &'static [StagePattern],
    /// Is a word that is a token kept as it is?
    pub(super) whole_words: bool,
    /// Is a beginning-of-sequence token expected if the file does not say?
    pub(super) adds_bos: bool,
}

/// The recipe of a name; `None` if the name is unknown.
pub(super) fn recipe(pre: &str) -> Option<&'static Recipe> {
    Some(match pre {
        "default" => &DEFAULT,
        "falcon" => &FALCON,
        "gpt-2" | "phi-2" | "mpt" | "olmo" | "jais" | "jina-es" | "jina-de" | "jina-v2-es" | "jina-v2-de"
        | "gigachat" | "mellum" | "modern-bert" | "roberta-bpe" | "a.x-4.0" | "exaone4" | "trillion" => &GPT2,
        "smollm" | "starcoder" | "refact" | "command-r" | "codeshell" | "exaone" => &DIGITS_GPT2,
        "llama3" | "llama-v3" | "llama-bpe" | "falcon3" | "falcon-h1" | "pixtral" | "midm-2.0" | "lfm2" => &LLAMA3,
        "dbrx" | "smaug-bpe" | "chatglm-bpe" | "glm4" => &LLAMA3_MERGED,
        "qwen2" | "deepseek-r1-qwen" | "stablelm2" | "hunyuan" | "megrez" => &QWEN2,
        "tekken" => &TEKKEN,
        "gpt-4o" | "llama4" | "kanana2" => &GPT4O,
        "deepseek-coder" => &DEEPSEEK_CODER,
        "deepseek-v3" | "hunyuan-dense" => &DEEPSEEK_V3,
        "viking" => &VIKING,
        "bailingmoe" | "bailingmoe2" | "llada-moe" => &BAILING,
        "qwen35" => &QWEN35,
        "poro-chat" | "bloom" | "gpt3-finnish" => &BLOOM,
        _ => return None,
    })
}

const GPT2_PATTERN: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+";

const fn plain(pattern: &'static str) -> StagePattern {
    StagePattern { pattern, splits_spaces: false }
}

const fn words(pattern: &'static str) -> StagePattern {
    StagePattern { pattern, splits_spaces: true }
}

static GPT2: Recipe = Recipe { stages: &[words(GPT2_PATTERN)], whole_words: false, adds_bos: false };

static DIGITS_GPT2: Recipe =
    Recipe { stages: &[plain(r"\p{N}"), words(GPT2_PATTERN)], whole_words: false, adds_bos: false };

/// What converters write for a tokenizer that they do not know.
static DEFAULT: Recipe = Recipe {
    stages: &[plain(r"[\p{P}\$\+<=>\^~\|]+"), words(GPT2_PATTERN), plain(r"\p{N}+"), plain("[0-9][0-9][0-9]")],
    whole_words: false,
    adds_bos: false,
};

static FALCON: Recipe = Recipe {
    stages: &[plain(r"[\p{P}\$\+<=>\^~\|`]+"), words(GPT2_PATTERN), plain("[0-9][0-9][0-9]")],
    whole_words: false,
    adds_bos: false,
};

const LLAMA3_STAGES: &[StagePattern] =
    &[words(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+")];

static LLAMA3: Recipe = Recipe { stages: LLAMA3_STAGES, whole_words: true, adds_bos: true };

static LLAMA3_MERGED: Recipe = Recipe { stages: LLAMA3_STAGES, whole_words: false, adds_bos: false };

static QWEN2: Recipe = Recipe {
    stages: &[words(
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+",
    )],
    whole_words: false,
    adds_bos: false,
};

static TEKKEN: Recipe = Recipe {
    stages: &[words(concat!(
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
        r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+",
    ))],
    whole_words: true,
    adds_bos: true,
};

static GPT4O: Recipe = Recipe {
    stages: &[words(concat!(
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+",
    ))],
    whole_words: false,
    adds_bos: false,
};

static DEEPSEEK_CODER: Recipe = Recipe {
    stages: &[
        plain(r"[\r\n]"),
        plain(r"\s?\p{L}+"),
        plain(r"\s?\p{P}+"),
        plain("[一-龥ࠀ-一가-\u{d7ff}]+"),
        plain(r"\p{N}"),
    ],
    whole_words: false,
    adds_bos: false,
};

static DEEPSEEK_V3: Recipe = Recipe {
    stages: &[
        plain(r"\p{N}{1,3}"),
        plain("[一-龥\u{3040}-ゟ゠-ヿ]+"),
        words(concat!(
            r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"##,
            r"|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+",
        )),
    ],
    whole_words: false,
    adds_bos: false,
};

static BLOOM: Recipe =
    Recipe { stages: &[plain(r" ?[^(\s|.,!?…。，、।۔،)]+")], whole_words: false, adds_bos: false };

static VIKING: Recipe =
    Recipe {
        stages: &[plain(r" ?[^(\s|.,!?…。，、।۔،)]+"), plain(r"\p{N}")], whole_words: false, adds_bos: false
    };

static BAILING: Recipe = Recipe {
    stages: &[words(r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]")],
    whole_words: false,
    adds_bos: false,
};

static QWEN35: Recipe = Recipe {
    stages: &[words(
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+",
    )],
    whole_words: false,
    adds_bos: false,
};
