//! `plimsoll tokenize`: ids of the text on standard input.

use std::io::Read as _;
use std::path::Path;

use plimsoll_engine::tokenizer::SpecialTokens;

use crate::args::TokenizeArguments;
use crate::failure::Failure;
use crate::model::{io_failure, open};
use crate::print;

pub(crate) fn run(arguments: &TokenizeArguments) -> Result<(), Failure> {
    let file = open(&arguments.model)?;
    let text = read_input()?;
    let special = if arguments.special { SpecialTokens::Parse } else { SpecialTokens::AsText };
    let ids = file.tokenizer().encode(&text, special);
    if arguments.json {
        print::json(&serde_json::json!({ "ids": ids, "count": ids.len() }))
    } else {
        print::line(&list(&ids));
        Ok(())
    }
}

/// Standard input, as text.
pub(crate) fn read_input() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().lock().read_to_string(&mut text);
    read.map_err(|error| io_failure(Path::new("standard input"), &error))?;
    Ok(text)
}

/// Ids separated by commas, as `logits --tokens` takes them.
pub(crate) fn list(ids: &[u32]) -> String {
    ids.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}
