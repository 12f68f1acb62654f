//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use plimsoll_plan::{KvType, Precision};

/// Plimsoll: chat with language models on this computer, inside a memory plan that is exact.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version, about, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Prints the memory plan of a model.
    Plan(PlanArguments),
    /// Answers one prompt.
    Generate(GenerateArguments),
    /// Chats in the terminal.
    Chat(ChatArguments),
    /// Writes the logits of every position of a token sequence.
    Logits(LogitsArguments),
    /// Prints the token ids of the text on standard input.
    Tokenize(TokenizeArguments),
    /// Prints the rendered prompt, and its ids, of the messages (JSON) on standard input.
    Render(RenderArguments),
    /// Measures the speed of prefill and decode.
    Bench(BenchArguments),
    /// Measures the perplexity of a text file.
    Perplexity(PerplexityArguments),
    /// Lists the installed models.
    List(ListArguments),
    /// Describes this machine and answers the six questions of running out of memory.
    Doctor(ListArguments),
}

/// Options of every command that plans or loads a model.
#[derive(Debug, Clone, Args)]
pub(crate) struct ModelArguments {
    /// A .gguf file, or the id of an installed model.
    pub(crate) model: String,
    /// Context in tokens, prompt and answer together [default: 4096, or what the model was trained for if less].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) context: Option<u32>,
    /// Weight precision.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) precision: PrecisionArgument,
    /// KV cache type.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) kv: KvArgument,
    /// Where to compute: `auto` or `cpu`.
    #[arg(long, default_value = "auto")]
    pub(crate) device: String,
    /// Fraction of the memory that the plan may use.
    #[arg(long, value_name = "F", default_value_t = 0.75)]
    pub(crate) utilization: f64,
    /// Compute threads [default: physical cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) threads: Option<u32>,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// Conversations held at once.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) chats: u32,
    /// Longest answer: says what is left for the prompt.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_output: Option<u32>,
}

/// How tokens are chosen.
#[derive(Debug, Clone, Args)]
pub(crate) struct SamplingArguments {
    /// 0 takes the most likely token, always.
    #[arg(long, value_name = "F", default_value_t = 0.2)]
    pub(crate) temperature: f32,
    /// Keeps the most likely tokens until their probabilities add up to this.
    #[arg(long, value_name = "F", default_value_t = 0.9)]
    pub(crate) top_p: f32,
    /// Keeps this many of the most likely tokens; 0 keeps all.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) top_k: u32,
    /// Start of the random numbers.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct GenerateArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// What to answer.
    #[arg(long, value_name = "T")]
    pub(crate) prompt: String,
    /// Continues the prompt as it stands, without the chat template. Control tokens in it are control tokens.
    #[arg(long)]
    pub(crate) raw: bool,
    /// System prompt.
    #[arg(long, value_name = "S", conflicts_with = "raw")]
    pub(crate) system: Option<String>,
    /// Longest answer.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_tokens: u32,
    /// Text that ends the answer; may be given several times.
    #[arg(long, value_name = "T")]
    pub(crate) stop: Vec<String>,
    #[command(flatten)]
    pub(crate) sampling: SamplingArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ChatArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// System prompt.
    #[arg(long, value_name = "S")]
    pub(crate) system: Option<String>,
    /// Longest answer.
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_tokens: u32,
    #[command(flatten)]
    pub(crate) sampling: SamplingArguments,
}

#[derive(Debug, Args)]
pub(crate) struct LogitsArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// Token ids.
    #[arg(long, value_name = "1,2,3", value_delimiter = ',', required = true)]
    pub(crate) tokens: Vec<u32>,
    /// The file to write: one float32 tensor `logits` of shape [positions, vocabulary].
    #[arg(long, value_name = "F.safetensors")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct TokenizeArguments {
    /// A .gguf file, or the id of an installed model.
    pub(crate) model: String,
    /// Reads control tokens in the text as control tokens; without it they are text.
    #[arg(long)]
    pub(crate) special: bool,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RenderArguments {
    /// A .gguf file, or the id of an installed model.
    pub(crate) model: String,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// Tokens of the prefill test; 0 leaves it out.
    #[arg(short = 'p', long = "prefill", value_name = "N", default_value_t = 512)]
    pub(crate) prefill: u32,
    /// Tokens of the decode test; 0 leaves it out.
    #[arg(short = 'n', long = "decode", value_name = "N", default_value_t = 64)]
    pub(crate) decode: u32,
    /// Tokens in the cache before each test.
    #[arg(short = 'd', long = "depth", value_name = "N,N", value_delimiter = ',', default_value = "0")]
    pub(crate) depths: Vec<u32>,
    /// Repetitions.
    #[arg(short = 'r', long = "repeat", value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeats: u32,
}

#[derive(Debug, Args)]
pub(crate) struct PerplexityArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// A text file.
    pub(crate) file: PathBuf,
    /// Tokens of each window.
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) window: u32,
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrecisionArgument {
    #[default]
    Auto,
    Int4,
    Int8,
    Fp16,
}

impl PrecisionArgument {
    pub(crate) fn explicit(self) -> Option<Precision> {
        match self {
            Self::Auto => None,
            Self::Int4 => Some(Precision::Int4),
            Self::Int8 => Some(Precision::Int8),
            Self::Fp16 => Some(Precision::Fp16),
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum KvArgument {
    #[default]
    Auto,
    Fp16,
    Int8,
    Int4,
}

impl KvArgument {
    pub(crate) fn explicit(self) -> Option<KvType> {
        match self {
            Self::Auto => None,
            Self::Int4 => Some(KvType::Int4),
            Self::Int8 => Some(KvType::Int8),
            Self::Fp16 => Some(KvType::Fp16),
        }
    }
}

impl Command {
    /// Was JSON asked for?
    pub(crate) fn json(&self) -> bool {
        match self {
            Self::Plan(arguments) => arguments.model.json,
            Self::Generate(arguments) => arguments.model.json,
            Self::Chat(arguments) => arguments.model.json,
            Self::Logits(arguments) => arguments.model.json,
            Self::Tokenize(arguments) => arguments.json,
            Self::Render(arguments) => arguments.json,
            Self::Bench(arguments) => arguments.model.json,
            Self::Perplexity(arguments) => arguments.model.json,
            Self::List(arguments) | Self::Doctor(arguments) => arguments.json,
        }
    }
}
