//! Readable tables: what real models take on machines of several sizes.

use std::fmt::Write as _;

use super::fixtures::{GIB, all, device, gemma3_270m, settings, smollm2_135m};
use crate::{Bytes, MemoryPlan, PlanSettings, Segment, Tokens, plan};

/// Bytes with thousands grouped, so that a difference of one shows.
fn grouped(bytes: Bytes) -> String {
    let digits = bytes.0.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

#[test]
fn models_by_machine() {
    let mut table = format!(
        "{:27} {:>4} {:>7} {:>5} {:>5} {:>6} {:>5} {:>15} {:>15} {:>15} {:>8}\n",
        "model", "GiB", "wanted", "prec", "kv", "tokens", "chunk", "total", "budget", "short of", "largest"
    );
    for shape in all() {
        for gib in [4, 8, 16, 32, 64] {
            for context in [Some(Tokens(8192)), None] {
                let plan = plan(&shape, &device(gib * GIB), &PlanSettings { context, ..settings() }).unwrap();
                let wanted = context.map_or("largest".into(), |tokens| tokens.to_string());
                let _ = writeln!(
                    table,
                    "{:27} {gib:>4} {wanted:>7} {:>5} {:>5} {:>6} {:>5} {:>15} {:>15} {:>15} {:>8}",
                    plan.model,
                    format!("{:?}", plan.precision),
                    format!("{:?}", plan.kv),
                    plan.context.0,
                    plan.chunk.0,
                    grouped(plan.total),
                    grouped(plan.budget),
                    grouped(plan.shortfall),
                    plan.largest_context.0,
                );
            }
        }
    }
    insta::assert_snapshot!(table);
}

fn describe(plan: &MemoryPlan) -> String {
    let mut out = format!("{} at {} tokens, chunk {}\n", plan.model, plan.context, plan.chunk);
    for segment in &plan.segments {
        let _ = writeln!(out, "{:10} {:>15}", format!("{:?}", segment.segment), grouped(segment.bytes));
    }
    let _ = writeln!(out, "{:10} {:>15}   slab {}", "total", grouped(plan.total), grouped(plan.slab));
    for part in &plan.host {
        let _ = writeln!(out, "host {:15} {:>10}", format!("{:?}", part.item), grouped(part.bytes));
    }
    for class in &plan.kv_classes {
        let _ = writeln!(
            out,
            "class window {:?}: {} layers, {} pages",
            class.window.map(|tokens| tokens.0),
            class.layers.len(),
            class.pages
        );
    }
    for region in plan.regions.iter().filter(|region| region.segment == Segment::Workspace) {
        let name = format!("{:?}", region.name);
        let _ = writeln!(out, "{name:18} at {:>15} {:>12}", grouped(region.offset), grouped(region.bytes));
    }
    for row in &plan.candidates {
        let _ = writeln!(
            out,
            "{:5} available {:5} kv {:?} chunk {} weights {} total {} largest {} fits {}",
            format!("{:?}", row.precision),
            row.available,
            row.kv,
            row.chunk,
            grouped(row.weights),
            grouped(row.total),
            row.largest_context,
            row.fits
        );
    }
    out
}

#[test]
fn workspace_of_the_two_real_models() {
    let mut text = String::new();
    for shape in [smollm2_135m(), gemma3_270m()] {
        for context in [512, 8192] {
            let wanted = PlanSettings { context: Some(Tokens(context)), ..settings() };
            let _ = writeln!(text, "{}", describe(&plan(&shape, &device(8 * GIB), &wanted).unwrap()));
        }
    }
    insta::assert_snapshot!(text);
}
