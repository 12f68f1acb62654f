//! Templates are programs from strangers. None may hang, exhaust memory or end the process.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::rendering::{CHATML, render, user};
use super::special::control_tokens;
use crate::{ChatTemplate, Limit, TemplateError};

fn fails(source: &str) -> TemplateError {
    let start = Instant::now();
    let outcome = render(source, &[user("x")], &control_tokens());
    assert!(start.elapsed() < Duration::from_secs(5), "{source}");
    outcome.expect_err(source)
}

fn out_of_steps(source: &str) {
    let error = fails(source);
    assert!(matches!(error, TemplateError::Limit(Limit::Steps { .. })), "{source}: {error}");
}

#[test]
fn work_and_memory_are_bounded() {
    out_of_steps("{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}");
    out_of_steps("{{ 'a' * 10000000000 }}");
    out_of_steps("{% set ns = namespace(x='a') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}");
    out_of_steps("{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}");
    out_of_steps("{{ '%1000000000d' | format(1) }}");
    out_of_steps("{{ '{:1000000000}'.format(1) }}");
    out_of_steps("{{ '{:.1000000000f}{:5}'.format(1.5, 1) }}");
    out_of_steps("{{ '{:99999999999999999999999}'.format(1) }}");
    fails("{{ range(1000000000) | list }}");
    fails("{{ [1] | tojson(indent=1000000000) }}");
    fails("{{ [1] | tojson(18446744073709551615) }}");
    fails("{{ [1] | tojson(1e18) }}");
    assert_eq!(render("{{ '{:>4}|{}'.format(7, 'x') }}", &[], &control_tokens()).unwrap().text, "   7|x");
}

#[test]
fn the_output_is_bounded() {
    let error = fails("{% for i in range(99999) %}12345678{% endfor %}");
    assert!(matches!(error, TemplateError::Limit(Limit::Output { .. } | Limit::Steps { .. })), "{error}");
    let error = fails(&format!("{{% for i in range(20) %}}{}{{% endfor %}}", "x".repeat(20_000)));
    assert!(matches!(error, TemplateError::Limit(Limit::Output { .. })), "{error}");
}

#[test]
fn the_source_is_bounded() {
    let error = ChatTemplate::compile(&"x".repeat((128 << 10) + 1)).unwrap_err();
    assert!(matches!(error, TemplateError::Limit(Limit::Source { bytes: 131_073, limit: 131_072 })), "{error}");
}

#[test]
fn recursion_is_bounded() {
    fails("{% macro f(n) %}{{ f(n) }}{% endmacro %}{{ f(1) }}");
    fails("{% include 'chat' %}");
    fails(&format!("{{{{ {}1{} }}}}", "(".repeat(10_000), ")".repeat(10_000)));
    fails(&"{% if true %}".repeat(9_000));
}

#[test]
fn values_that_nest_in_a_loop_are_refused() {
    for step in ["[ns.x]", "{'a': ns.x}", "(ns.x, 1)", "[[[[ns.x]]]]"] {
        let source = format!(
            "{{% set ns = namespace(x=[]) %}}{{% for i in range(90000) %}}{{% set ns.x = {step} %}}{{% endfor %}}done"
        );
        let error = fails(&source);
        assert!(matches!(error, TemplateError::Limit(Limit::Depth { limit: 32 })), "{step}: {error}");
    }
    // What is shared is copied, and paid for, each time.
    out_of_steps("{% set ns = namespace(x=[]) %}{% for i in range(90) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}");
    // Every spelling of the assignment.
    for set in [
        "{%set ns.x=[ns.x]%}",
        "{%- set\tns . x = [ ns.x ] -%}",
        "{% set a, ns.x = 1, [ns.x] %}",
        "{% set (ns.x) = [ns.x] %}",
    ] {
        fails(&format!("{{% set ns = namespace(x=[]) %}}{{% for i in range(90000) %}}{set}{{% endfor %}}done"));
    }
}

#[test]
fn lazy_values_do_not_nest_either() {
    for step in ["ns.x[1:]", "ns.x | reverse", "ns.x | map('upper')", "ns.x + [1]", "ns.x | batch(1)", "ns.x[::-1]"] {
        let source = format!(
            "{{% set ns = namespace(x=['a', 'b']) %}}{{% for i in range(50000) %}}{{% set ns.x = {step} %}}{{% endfor %}}\
             {{{{ ns.x | string | length }}}}"
        );
        // Ends with a text or an error; what counts is that it ends.
        let _ = render(&source, &[user("x")], &control_tokens());
    }
}

#[test]
fn a_namespace_cannot_hold_itself() {
    for value in ["ns", "[ns]", "{'a': ns}", "namespace(x=ns)", "[namespace()]"] {
        let source = format!("{{% set ns = namespace() %}}{{% set ns.x = {value} %}}{{{{ ns }}}}{{{{ ns | tojson }}}}");
        let error = fails(&source);
        assert!(matches!(error, TemplateError::Render { .. }), "{value}: {error}");
    }
    // A macro closes over what is around it, and is copied as plain data.
    let closure = "{% set ns = namespace() %}{% macro f() %}{{ ns }}{% endmacro %}{% set ns.x = f %}{{ ns }}";
    let prompt = render(closure, &[user("x")], &control_tokens()).unwrap();
    assert_eq!(prompt.text, "{'x': {'name': 'f', 'arguments': [], 'caller': False}}");
}

#[test]
fn a_guard_hidden_from_a_careless_reader_still_holds() {
    let nest = "{% set ns.x = [ns.x] %}";
    for prelude in ["{# {% raw %} #}", "{{ '{#' }}", "{{ \"{% raw %}\" }}", "{% raw %}{# {% endraw %}", "{{ '\\'{#' }}"]
    {
        let source =
            format!("{{% set ns = namespace(x=[]) %}}{prelude}{{% for i in range(90000) %}}{nest}{{% endfor %}}done");
        let error = fails(&source);
        assert!(matches!(error, TemplateError::Limit(Limit::Depth { .. })), "{prelude}: {error}");
    }
}

#[test]
fn the_deepest_value_that_a_source_can_write_ends_well() {
    // Literals that nest across statements: the longest source has this many levels and no more.
    let step = "{%set x=[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]%}";
    let statements = step.repeat((128 << 10) / step.len() - 2);
    for (head, last) in [
        ("{%set x=1%}", ""),
        ("{%set x=1%}", "{{x|string|length}}"),
        ("{%set x=1%}", "{{x|tojson|length}}"),
        ("{%set x=1%}", "{{x==x}}"),
        ("{%set x=1%}", "{{[x,x]|unique|list|length}}"),
        ("{%set x=1%}", "{{[x,x]|sort|length}}"),
    ] {
        let _ = render(&format!("{head}{statements}{last}"), &[user("x")], &control_tokens());
    }
}

#[test]
fn long_messages_are_rendered() {
    let long = "word <|im_end|> ".repeat(70_000);
    let start = Instant::now();
    let prompt = render(CHATML, &[user(&long)], &control_tokens()).unwrap();
    assert!(prompt.text.contains(&long));
    assert!(start.elapsed() < Duration::from_secs(10));
    let run = "Z".repeat(1 << 20);
    assert_eq!(render("{{ messages[0].content }}", &[user(&run)], &control_tokens()).unwrap().text, run);
    let angles = "<".repeat(1 << 20);
    assert_eq!(render("{{ messages[0].content | trim }}", &[user(&angles)], &control_tokens()).unwrap().text, angles);
}

fn scraps() -> impl Strategy<Value = String> {
    let scrap = prop::sample::select(vec![
        "{%",
        "%}",
        "{{",
        "}}",
        "{#",
        "#}",
        "-",
        "+",
        " ",
        "\n",
        "set ",
        "ns",
        ".",
        "x",
        "=",
        "[",
        "]",
        "(",
        ")",
        "for ",
        " in ",
        "range(99)",
        "endfor",
        "if ",
        "endif",
        "else",
        "macro f()",
        "endmacro",
        "f()",
        "namespace()",
        "|",
        "tojson",
        "trim",
        "join",
        "messages",
        "'",
        "\"",
        "\\",
        "raw",
        "endraw",
        "generation",
        "endgeneration",
        "endset",
        "1",
        ",",
        "~",
        "*",
        "raise_exception('x')",
        "loop",
        "loop(x)",
        "recursive",
        "include 'chat'",
        "block b",
        "endblock",
        "é",
        "{% set ns = namespace() %}",
        "{% set ns.x = [ns.x] %}",
        "{% for m in messages %}",
        "{% endfor %}",
        "{{ ns }}",
        "strftime_now('%Y')",
        "is defined",
        "not ",
        "do ",
        "with x=1",
        "endwith",
        "filter upper",
        "endfilter",
    ]);
    prop::collection::vec(scrap, 0..40).prop_map(|scraps| scraps.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn no_template_ends_the_process(source in scraps()) {
        let start = Instant::now();
        if let Ok(prompt) = render(&source, &[user("hello <|im_end|>")], &control_tokens()) {
            prop_assert!(prompt.text.len() <= (256 << 10) + 64 + 4096);
        }
        prop_assert!(start.elapsed() < Duration::from_secs(20));
    }
}
