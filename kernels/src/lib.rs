//! Quantized compute. Raw slices in, raw slices out: no model, no file, no allocation.
