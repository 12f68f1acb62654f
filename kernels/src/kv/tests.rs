//! Pages hold what was appended, and nothing else changes.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::samples::{floats, seeded};

const LAYOUT: KvLayout = KvLayout { kv_heads: 2, key_dim: 12, value_dim: 20 };

#[test]
fn a_page_holds_64_positions_of_keys_and_values() {
    assert_eq!(LAYOUT.page_bytes(), 64 * 2 * (12 + 20) * 2);
}

#[test]
fn appended_rows_are_found_at_their_positions() {
    let (first_page, first, tokens) = (3, 3 * 64 + 50, 40);
    let table = [2_u32, 0];
    let mut pages = vec![0xEE_u8; 3 * LAYOUT.page_bytes()];
    let mut rng = seeded(3);
    let (keys, values) = (floats(&mut rng, tokens * 2 * 12), floats(&mut rng, tokens * 2 * 20));
    kv_append(&mut pages, LAYOUT, &table, first_page, first, &keys, &values);
    let view = KvView { pages: &pages, table: &table, first_page, layout: LAYOUT };
    let half = |bytes: &[u8], at: usize| f16::from_le_bytes([bytes[2 * at], bytes[2 * at + 1]]);
    let mut written = 0;
    for position in 3 * 64..5 * 64 {
        for head in 0..2 {
            let (page, slot) = (position / 64, position % 64);
            for (dim, rows, bytes) in [(12, &keys, view.keys(page, head)), (20, &values, view.values(page, head))] {
                for i in 0..dim {
                    let found = half(bytes, slot * dim + i);
                    if (first..first + tokens).contains(&position) {
                        let value = rows[((position - first) * 2 + head) * dim + i];
                        assert_eq!(found, f16::from_f32(value), "position {position} head {head} {i} of {dim}");
                        written += 2;
                    } else {
                        assert_eq!(found.to_bits(), 0xEEEE, "position {position} was not appended");
                    }
                }
            }
        }
    }
    let page = LAYOUT.page_bytes();
    assert!(pages[page..2 * page].iter().all(|&byte| byte == 0xEE), "a page outside of the table is untouched");
    assert_eq!(written, tokens * 2 * (12 + 20) * 2);
}

#[test]
fn rounding_is_to_even_at_every_length() {
    let mut rng = seeded(8);
    for len in 1..40 {
        let mut values = floats(&mut rng, len);
        values[0] = 1.0 + 1.0 / 2048.0;
        values[len / 2] = 7e4;
        let mut bytes = vec![0; 2 * len];
        to_half(&values, &mut bytes);
        for (value, bytes) in values.iter().zip(bytes.chunks_exact(2)) {
            assert_eq!(f16::from_le_bytes([bytes[0], bytes[1]]), f16::from_f32(*value), "{value}");
        }
    }
}

#[test]
#[should_panic(expected = "index out of bounds")]
fn a_position_without_a_page_is_refused() {
    let mut pages = vec![0; LAYOUT.page_bytes()];
    kv_append(&mut pages, LAYOUT, &[0], 0, 64, &[0.0; 24], &[0.0; 40]);
}
