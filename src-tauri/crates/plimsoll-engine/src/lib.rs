//! Loads a model into the planned slab and runs it: tokenize, prefill, decode, sample, detokenize.
