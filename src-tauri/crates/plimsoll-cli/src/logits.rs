//! `plimsoll logits`: float32 `[positions, vocabulary]` in a safetensors file.

use std::fs::File;
use std::io::{BufWriter, Write};

use plimsoll_plan::Tokens;

use crate::args::LogitsArguments;
use crate::failure::Failure;
use crate::model::{Needs, io_failure, load};
use crate::print;

pub(crate) fn run(arguments: &LogitsArguments) -> Result<(), Failure> {
    let length = Tokens(u32::try_from(arguments.tokens.len()).unwrap_or(u32::MAX));
    let running = load(&arguments.model, Needs { context: Some(length), ..Needs::default() })?;
    let vocabulary = running.file.shape().vocabulary;
    let path = &arguments.out;
    let file = File::create(path).map_err(|error| io_failure(path, &error))?;
    let mut out = BufWriter::new(file);
    write_header(&mut out, length.0, vocabulary).map_err(|error| io_failure(path, &error))?;
    let mut failed = None;
    running.engine.logits(&arguments.tokens, &mut |_, row| {
        if failed.is_none() {
            failed = row.iter().try_for_each(|value| out.write_all(&value.to_le_bytes())).err();
        }
    })?;
    let flushed = out.flush();
    if let Some(error) = failed.or(flushed.err()) {
        return Err(io_failure(path, &error));
    }
    if arguments.model.json {
        print::json(&serde_json::json!({ "positions": length.0, "vocabulary": vocabulary, "file": path }))
    } else {
        print::line(&format!("{}: float32 [{}, {vocabulary}]", path.display(), length.0));
        Ok(())
    }
}

/// The safetensors header: its length (u64, little-endian), then JSON padded with spaces to a multiple of 8
/// (<https://github.com/huggingface/safetensors#format>). Rows follow one by one, so that they need no memory here.
fn write_header(out: &mut impl Write, rows: u32, columns: u32) -> std::io::Result<()> {
    let bytes = u64::from(rows) * u64::from(columns) * 4;
    let header = serde_json::json!({
        "logits": { "dtype": "F32", "shape": [rows, columns], "data_offsets": [0, bytes] },
    });
    let mut header = header.to_string().into_bytes();
    header.resize(header.len().next_multiple_of(8), b' ');
    out.write_all(&u64::try_from(header.len()).unwrap_or(0).to_le_bytes())?;
    out.write_all(&header)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_readable_and_aligned() {
        let mut out = Vec::new();
        write_header(&mut out, 3, 49_152).unwrap();
        let length = usize::try_from(u64::from_le_bytes(out[..8].try_into().unwrap())).unwrap();
        assert_eq!(out.len(), 8 + length);
        assert_eq!(length % 8, 0, "tensor data starts aligned");
        let header: serde_json::Value = serde_json::from_slice(&out[8..]).unwrap();
        assert_eq!(header["logits"]["shape"], serde_json::json!([3, 49_152]));
        assert_eq!(header["logits"]["data_offsets"], serde_json::json!([0, 3 * 49_152 * 4]));
    }
}
