//! The environment of a template, as transformers sets it up.
//!
//! transformers compiles with `trim_blocks`, `lstrip_blocks`, loop controls and the tag `generation`, and adds
//! `raise_exception`, `strftime_now` and a `tojson` that escapes nothing for HTML
//! (`transformers/utils/chat_template_utils.py`).

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Kwargs;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, State, Value, filters};

use super::error::{Limit, Raised, TemplateError};
use super::local_time::LocalTime;
use super::{guard, limits};

/// The template's name in its environment.
pub(super) const NAME: &str = "chat";

/// Bytes of JSON that cost one step: what the engine's own filter charges.
const JSON_BYTES_PER_STEP: usize = 4;

/// Widest indent of JSON. The engine writes it before it charges for it.
const WIDEST_INDENT: i64 = 16;

/// No keyword arguments.
const NO_OPTIONS: [(&str, Value); 0] = [];

pub(super) fn compile(source: &str) -> Result<Environment<'static>, TemplateError> {
    if source.len() > limits::SOURCE_BYTES {
        return Err(Limit::Source { bytes: source.len(), limit: limits::SOURCE_BYTES }.into());
    }
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    let syntax = syntax.map_err(|error| TemplateError::of_compile(&error))?;
    let guarded = guard::rewrite(source, &syntax).map_err(|error| TemplateError::of_compile(&error))?;
    let mut environment = Environment::new();
    environment.set_syntax(syntax);
    environment.set_recursion_limit(limits::RECURSION);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_unknown_method_callback(python_method);
    environment.add_function("raise_exception", raise_exception);
    environment.add_filter("tojson", tojson);
    environment.add_filter(guard::FILTER, guard::shallow);
    environment.add_template_owned(NAME, guarded).map_err(|error| TemplateError::of_compile(&error))?;
    Ok(environment)
}

/// `strftime_now`, which reads `date` and no clock.
pub(super) fn strftime_now(date: LocalTime) -> Value {
    Value::from_function(move |format: &str| {
        date.strftime(format).map_err(|directive| {
            Error::new(ErrorKind::InvalidOperation, format!("strftime_now does not know {directive}"))
        })
    })
}

/// Methods of Python's strings, lists and dictionaries.
///
/// `str.format` pads as far as its format says before the engine charges for the text, so that is paid for first.
fn python_method(state: &mut State<'_, '_>, value: &Value, method: &str, args: &[Value]) -> Result<Value, Error> {
    if method == "format"
        && let Some(format) = value.as_str()
    {
        let numbers = format.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
        let widths = numbers.map(|digits| digits.parse().unwrap_or(u64::MAX)).fold(0, u64::saturating_add);
        state.consume_fuel(widths)?;
    }
    minijinja_contrib::pycompat::unknown_method_callback(state, value, method, args)
}

fn raise_exception(message: String) -> Result<Value, Error> {
    Err(Error::new(ErrorKind::InvalidOperation, message.clone()).with_source(Raised(message)))
}

/// JSON as Python's `json.dumps(value, ensure_ascii=False)` writes it: the engine's, without its escapes for HTML.
fn tojson(state: &State<'_, '_>, value: &Value, indent: Option<Value>, options: Kwargs) -> Result<Value, Error> {
    // transformers accepts these and means what the filter does anyway.
    let _ = options.get::<Option<bool>>("ensure_ascii")?;
    let indent = indent.or(options.get("indent")?);
    options.assert_all_used()?;
    let indent = indent.filter(|indent| !indent.is_none());
    let wide = |indent: &Value| indent.is_number() && indent.as_i64().is_none_or(|indent| indent > WIDEST_INDENT);
    if indent.as_ref().is_some_and(wide) {
        return Err(Error::new(ErrorKind::InvalidOperation, format!("tojson indents by {WIDEST_INDENT} at most")));
    }
    let json = filters::tojson(value, indent, Kwargs::from_iter(NO_OPTIONS))?;
    let json = json.as_str().unwrap_or_default();
    state.consume_fuel(u64::try_from(json.len() / JSON_BYTES_PER_STEP).unwrap_or(u64::MAX))?;
    Ok(Value::from(without_html_escapes(json)))
}

fn without_html_escapes(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let escapes = [("u003c", '<'), ("u003e", '>'), ("u0026", '&'), ("u0027", '\'')];
        if let Some((tail, plain)) = escapes.into_iter().find_map(|(code, c)| Some((after.strip_prefix(code)?, c))) {
            out.push(plain);
            rest = tail;
            continue;
        }
        // An escaped backslash must not lend its second half to what follows.
        out.push('\\');
        let mut chars = after.chars();
        out.extend(chars.next());
        rest = chars.as_str();
    }
    out.push_str(rest);
    out
}
