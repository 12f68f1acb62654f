//! Two changes to a template's source before it is compiled.
//!
//! Fuel bounds a template's work and memory, but not the depth of its values: a loop that keeps `[ns.x]` in `ns.x`
//! nests until dropping the value overflows the stack, and a namespace that holds itself never ends when printed.
//! Only a namespace outlives an iteration, so every assignment to one goes through a filter that copies the value,
//! plain and shallow; a function in it becomes data.
//!
//! `{% generation %}` marks answers for training in transformers and renders its body unchanged.

use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Tuple, ValueKind};
use minijinja::{Error, ErrorKind, State, Value};

use super::error::TooDeep;
use super::limits::VALUE_DEPTH;

/// Name of the filter; no template can define one.
pub(super) const FILTER: &str = "plimsoll_shallow";

/// `source` with the changes. It is read by the engine's own lexer, so that no trick of comments, strings or raw
/// blocks makes the two disagree on where a tag is.
pub(super) fn rewrite(source: &str, syntax: &SyntaxConfig) -> Result<String, Error> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut tag: Option<SetTag> = None;
    let mut tag_start = false;
    for token in tokenize(source, false, syntax.clone()) {
        let (token, span) = token?;
        let (start, end) = (offset(span.start_offset), offset(span.end_offset));
        let first_in_tag = std::mem::replace(&mut tag_start, matches!(token, Token::BlockStart));
        match token {
            Token::Ident("set") if first_in_tag => tag = Some(SetTag::default()),
            Token::Ident("generation") if first_in_tag => edits.push(Edit::replace(start, end, "if true")),
            Token::Ident("endgeneration") if first_in_tag => edits.push(Edit::replace(start, end, "endif")),
            Token::Dot => {
                if let Some(tag) = tag.as_mut().filter(|tag| tag.value.is_none()) {
                    tag.dotted = true;
                }
            }
            Token::Assign => {
                if let Some(tag) = tag.as_mut() {
                    tag.value.get_or_insert(end);
                }
            }
            Token::BlockEnd => {
                if let Some(SetTag { dotted: true, value: Some(value) }) = tag.take() {
                    edits.push(Edit::insert(value, "("));
                    edits.push(Edit::insert(start, ")|plimsoll_shallow"));
                }
            }
            _ => {}
        }
    }
    Ok(apply(source, &edits))
}

/// The value of an assignment to a namespace: a copy without functions and namespaces inside, at most
/// [`VALUE_DEPTH`] levels deep.
pub(super) fn shallow(state: &State<'_, '_>, value: Value) -> Result<Value, Error> {
    copy(state, &value, VALUE_DEPTH)
}

fn copy(state: &State<'_, '_>, value: &Value, depth: usize) -> Result<Value, Error> {
    let nested = |inner: &Value| {
        state.consume_fuel(1)?;
        let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
        copy(state, inner, depth)
    };
    match value.kind() {
        ValueKind::Seq | ValueKind::Iterable => {
            let items = value.try_iter()?.map(|item| nested(&item)).collect::<Result<Vec<_>, _>>()?;
            Ok(if value.is_tuple() { Value::from(Tuple::from(items)) } else { Value::from(items) })
        }
        ValueKind::Map => {
            if value.as_object().is_some_and(|object| object.type_name().ends_with("Namespace")) {
                return Err(Error::new(ErrorKind::InvalidOperation, "a namespace cannot hold a namespace"));
            }
            let pairs = value.try_iter()?.map(|key| Ok((key.clone(), nested(&value.get_item(&key)?)?)));
            Ok(Value::from_pairs(pairs.collect::<Result<Vec<(Value, Value)>, Error>>()?))
        }
        ValueKind::Plain => Err(Error::new(ErrorKind::InvalidOperation, "a namespace cannot hold a function")),
        _ => Ok(value.clone()),
    }
}

fn too_deep() -> Error {
    Error::new(ErrorKind::InvalidOperation, "a value is nested too deeply").with_source(TooDeep(VALUE_DEPTH))
}

/// A `{% set %}` tag being read.
#[derive(Debug, Default)]
struct SetTag {
    /// A target is an attribute: only a namespace has those to set.
    dotted: bool,
    /// Where the value starts; `None` for `{% set x %}...{% endset %}`, whose value is text.
    value: Option<usize>,
}

#[derive(Debug)]
struct Edit {
    start: usize,
    end: usize,
    text: &'static str,
}

impl Edit {
    fn insert(at: usize, text: &'static str) -> Self {
        Self { start: at, end: at, text }
    }

    fn replace(start: usize, end: usize, text: &'static str) -> Self {
        Self { start, end, text }
    }
}

/// Edits come in order and do not overlap.
fn apply(source: &str, edits: &[Edit]) -> String {
    let mut out = String::with_capacity(source.len());
    let mut done = 0;
    for edit in edits {
        out.push_str(source.get(done..edit.start).unwrap_or_default());
        out.push_str(edit.text);
        done = edit.end;
    }
    out.push_str(source.get(done..).unwrap_or_default());
    out
}

fn offset(offset: u32) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}
