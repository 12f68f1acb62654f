//! Bytes to text across pieces, with the same result as `String::from_utf8_lossy` of all bytes at once.

/// Decodes UTF-8 that arrives in pieces.
#[derive(Debug)]
pub(super) struct LossyUtf8 {
    /// Start of a character whose other bytes are still to come: at most three bytes, and what is being pushed.
    pending: Vec<u8>,
}

impl LossyUtf8 {
    /// Nothing pending. Has room for a token, so that streaming does not allocate.
    pub(super) fn new() -> Self {
        Self { pending: Vec::with_capacity(256) }
    }

    /// Appends to `text` what `bytes` completes. Each maximal invalid sequence becomes one U+FFFD.
    pub(super) fn push(&mut self, bytes: &[u8], text: &mut String) {
        self.pending.extend(bytes);
        let mut rest = self.pending.as_slice();
        loop {
            let error = match std::str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(valid);
                    rest = &[];
                    break;
                }
                Err(error) => error,
            };
            let (valid, tail) = rest.split_at(error.valid_up_to());
            text.push_str(std::str::from_utf8(valid).unwrap_or_default());
            rest = tail;
            // No length: the bytes may yet become a character.
            let Some(invalid) = error.error_len() else {
                break;
            };
            text.push(char::REPLACEMENT_CHARACTER);
            rest = rest.get(invalid..).unwrap_or_default();
        }
        let done = self.pending.len().saturating_sub(rest.len());
        self.pending.drain(..done);
    }

    /// The bytes have ended: an unfinished character is invalid.
    pub(super) fn finish(&mut self, text: &mut String) {
        if !self.pending.is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            self.pending.clear();
        }
    }
}
