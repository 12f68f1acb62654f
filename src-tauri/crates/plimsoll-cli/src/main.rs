//! The backend without a window: plan, generate, chat, logits, tokenize, render, bench, perplexity, doctor.
fn main() {}
