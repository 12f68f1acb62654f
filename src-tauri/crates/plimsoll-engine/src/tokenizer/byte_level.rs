//! How files spell bytes: the printable alphabet of GPT-2, and the `<0xNN>` names of SentencePiece.

/// Appends the bytes that a byte-level token stands for. Characters outside the alphabet stand for themselves.
pub(super) fn decode_byte_level(token: &[u8], out: &mut Vec<u8>) {
    for chunk in token.utf8_chunks() {
        for character in chunk.valid().chars() {
            match byte_of_character(character) {
                Some(byte) => out.push(byte),
                None => out.extend(character.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        out.extend(chunk.invalid());
    }
}

/// The byte that a character of the alphabet stands for. Printable Latin-1 characters stand for their own code; the
/// other bytes, in ascending order, are the characters from U+0100 on.
fn byte_of_character(character: char) -> Option<u8> {
    let code = u32::from(character);
    let own_code = matches!(code, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff);
    let byte = match code {
        _ if own_code => code,
        0x100..=0x120 => code.wrapping_sub(0x100), // 0x00 to 0x20
        0x121..=0x142 => code.wrapping_sub(0x121).wrapping_add(0x7f), // 0x7f to 0xa0
        0x143 => 0xad,
        _ => return None,
    };
    u8::try_from(byte).ok()
}

/// The byte that `<0xNN>` names.
pub(super) fn byte_of_name(name: &[u8]) -> Option<u8> {
    let digits = name.strip_prefix(b"<0x")?.strip_suffix(b">")?;
    match digits {
        [_, _] => u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok(),
        _ => None,
    }
}
