//! `plimsoll plan`: every byte before anything is loaded.

use plimsoll_backend::report::{kv_name, precision_name, segment_name};
use plimsoll_ipc::{ErrorCode, IpcError};
use plimsoll_plan::MemoryPlan;
use serde_json::Value;

use crate::args::PlanArguments;
use crate::failure::Failure;
use crate::model::{Needs, plan_model};
use crate::print;

pub(crate) fn run(arguments: &PlanArguments) -> Result<(), Failure> {
    let needs = Needs { chats: arguments.chats, ..Needs::default() };
    let plan = plan_model(&arguments.model, needs)?.plan;
    let left = arguments.max_output.map(|output| plan.context.0.saturating_sub(output));
    if arguments.model.json {
        print::json(&report(&plan, arguments.max_output, left)?)?;
    } else {
        describe(&plan, left);
    }
    plan.require_fit()?;
    match (arguments.max_output, left) {
        (Some(output), Some(0)) => Err(Failure::new(
            IpcError::new(
                ErrorCode::ContextExceeded,
                format!("an answer of {output} tokens leaves no room for a prompt"),
            )
            .with_number("prompt", 1)
            .with_number("output", output.into())
            .with_number("context", plan.context.wide())
            .with_number("excess", u64::from(output).saturating_sub(plan.context.wide()).saturating_add(1)),
        )),
        _ => Ok(()),
    }
}

/// The plan, without its list of regions, and what an answer leaves for the prompt.
fn report(plan: &MemoryPlan, max_output: Option<u32>, largest_prompt: Option<u32>) -> Result<Value, Failure> {
    let internal = |error: serde_json::Error| Failure::new(IpcError::new(ErrorCode::Internal, error.to_string()));
    let mut value = serde_json::to_value(plan).map_err(internal)?;
    if let Value::Object(fields) = &mut value {
        fields.remove("regions");
        fields.insert("max_output".to_owned(), max_output.into());
        fields.insert("largest_prompt".to_owned(), largest_prompt.into());
    }
    Ok(value)
}

fn describe(plan: &MemoryPlan, left: Option<u32>) {
    print::line(&format!("{} on {}", plan.model, plan.device.name));
    for part in &plan.segments {
        print::line(&format!("  {:<10} {:>12}", segment_name(part.segment), print::bytes(part.bytes.0)));
    }
    print::line(&format!("  {:<10} {:>12}", "total", print::bytes(plan.total.0)));
    print::line(&format!("  {:<10} {:>12}", "budget", print::bytes(plan.budget.0)));
    print::line(&format!(
        "{} weights, {} KV cache ({} a token), context {} of {} trained, chunk {}: {}",
        precision_name(plan.precision),
        kv_name(plan.kv),
        print::bytes(plan.kv_bytes_per_token.0),
        plan.context,
        plan.trained_context,
        plan.chunk,
        if plan.fits { "fits" } else { "does not fit" },
    ));
    print::line(&format!("Largest context that fits: {}", plan.largest_context));
    if let Some(left) = left {
        print::line(&format!("Left for the prompt: {left} tokens"));
    }
    for row in &plan.candidates {
        print::line(&format!(
            "  {:<5} {:>12}  largest context {:>7}  {}{}",
            precision_name(row.precision),
            print::bytes(row.total.0),
            row.largest_context.0,
            if row.fits { "fits" } else { "does not fit" },
            if row.available { "" } else { ", needs another file" },
        ));
    }
}
