//! Typed, range-checked reads of the metadata keys that describe an architecture.

use crate::error::ModelError;
use crate::gguf::GgufFile;

/// Largest value believed for a count or width; beyond it lies a damaged or hostile file.
const LARGEST_COUNT: u32 = 1 << 24;

/// Reads `<architecture>.<key>` values.
pub(crate) struct Metadata<'a> {
    file: &'a GgufFile,
    architecture: &'a str,
}

impl<'a> Metadata<'a> {
    pub(crate) fn new(file: &'a GgufFile, architecture: &'a str) -> Self {
        Self { file, architecture }
    }

    fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.architecture)
    }

    /// A count of at least one.
    pub(crate) fn count(&self, name: &str) -> Result<usize, ModelError> {
        self.optional_count(name)?.ok_or_else(|| ModelError::MissingKey { key: self.key(name) })
    }

    /// A count of at least one, or nothing.
    pub(crate) fn optional_count(&self, name: &str) -> Result<Option<usize>, ModelError> {
        let key = self.key(name);
        let Some(value) = self.file.u32(&key)? else { return Ok(None) };
        if value == 0 || value > LARGEST_COUNT {
            return Err(ModelError::BadKey { key, value: value.to_string(), expected: "1 to 16777216" });
        }
        Ok(usize::try_from(value).ok())
    }

    /// A finite positive number.
    pub(crate) fn positive(&self, name: &str) -> Result<f32, ModelError> {
        self.optional_positive(name)?.ok_or_else(|| ModelError::MissingKey { key: self.key(name) })
    }

    /// A finite positive number, or nothing.
    pub(crate) fn optional_positive(&self, name: &str) -> Result<Option<f32>, ModelError> {
        let key = self.key(name);
        let Some(value) = self.file.f32(&key)? else { return Ok(None) };
        if !value.is_finite() || value <= 0.0 {
            return Err(ModelError::BadKey { key, value: value.to_string(), expected: "a finite positive number" });
        }
        Ok(Some(value))
    }

    /// A text, or nothing.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&'a str>, ModelError> {
        Ok(self.file.string(&self.key(name))?)
    }

    /// Refuses a value with the words that say what it may be.
    pub(crate) fn refuse(&self, name: &str, value: impl std::fmt::Display, expected: &'static str) -> ModelError {
        ModelError::BadKey { key: self.key(name), value: value.to_string(), expected }
    }
}
