use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use plimsoll_ipc::{AppEvent, ErrorCode, GenerationKind, MemoryGauge, ModelStatus, Settings};
use plimsoll_plan::Bytes;
use tempfile::TempDir;

use crate::support::{GEMMA, GIB, SMOLLM2, World, text_of};

fn sum(gauge: &MemoryGauge) -> u64 {
    gauge.weights_bytes
        + gauge.kv_used_bytes
        + gauge.kv_reserved_bytes
        + gauge.kv_idle_bytes
        + gauge.workspace_bytes
        + gauge.runtime_bytes
        + gauge.other_bytes
        + gauge.free_bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn unusable_files_are_listed_with_their_problem_and_refused() {
    let world = World::new();
    let models = world.home.path().join("models");
    std::fs::write(models.join("text.gguf"), "this is not a model").unwrap();
    std::fs::write(models.join("short.gguf"), b"GGUF\x03\0\0\0").unwrap();
    std::fs::write(models.join("notes.txt"), "not listed").unwrap();
    world.add_model(SMOLLM2);
    let list = world.backend.models_list().await.unwrap();
    let problem = |id: &str| list.iter().find(|entry| entry.id == id).unwrap().problem.as_ref().map(|p| p.code);
    assert_eq!(list.len(), 3);
    assert_eq!(problem("text"), Some(ErrorCode::NotGguf));
    assert_eq!(problem("short"), Some(ErrorCode::Truncated));
    assert_eq!(problem(SMOLLM2), None);
    let entry = list.iter().find(|entry| entry.id == SMOLLM2).unwrap();
    assert_eq!((entry.architecture.as_str(), entry.storage_type.as_str()), ("llama", "Q4_1"));
    assert_eq!((entry.precision_class.as_str(), entry.trained_context, entry.chat), ("int4", 8192, true));

    let refused = world.backend.model_load("text".to_owned()).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::NotGguf);
    assert!(matches!(world.backend.model_status().await.unwrap(), ModelStatus::Failed { .. }));
    assert_eq!(world.backend.model_load("none".to_owned()).await.unwrap_err().code, ErrorCode::NotFound);
    let imported = world.backend.model_import(models.join("text.gguf").display().to_string()).await.unwrap_err();
    assert_eq!(imported.code, ErrorCode::NotGguf);
    world.backend.model_load(SMOLLM2.to_owned()).await.unwrap();
    let again = world.backend.model_load("short".to_owned()).await.unwrap_err();
    assert_eq!(again.code, ErrorCode::Truncated);
    let status = world.backend.model_status().await.unwrap();
    assert!(matches!(status, ModelStatus::Ready { .. }), "the loaded model stays: {status:?}");
    world.ask("Hello.", 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_does_not_fit_is_refused_with_numbers() {
    let world = World::new();
    world.add_model(SMOLLM2);
    world.probe.set_available(Some(Bytes(GIB + (250 << 20))));
    let model = Some(SMOLLM2.to_owned());
    let settings = Settings { model: model.clone(), context_tokens: 8192, ..Settings::default() };
    let refused = world.backend.settings_apply(settings).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::PlanDoesNotFit);
    assert!(refused.numbers["needed"] > refused.numbers["budget"], "{refused:?}");
    let largest = u32::try_from(refused.numbers["largestContext"]).unwrap();
    assert!((1..8192).contains(&largest), "{refused:?}");
    assert_eq!(world.backend.settings_get().await.unwrap(), Settings::default(), "nothing was saved");
    let fitting = Settings { model, context_tokens: largest, ..Settings::default() };
    let status = world.backend.settings_apply(fitting).await.unwrap();
    assert!(matches!(status, ModelStatus::Ready { .. }), "the largest context that was named fits: {status:?}");
    let above = Settings { context_tokens: 8193, ..world.backend.settings_get().await.unwrap() };
    let above = world.backend.settings_apply(above).await.unwrap_err();
    assert_eq!(above.code, ErrorCode::ContextAboveTrained);
    assert_eq!((above.numbers["wanted"], above.numbers["trained"]), (8193, 8192));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_model_takes_the_place_of_the_first() {
    // A machine on which the first model's memory is free again once it is gone.
    let world = World::with_sink(TempDir::new().unwrap(), |probe, event| {
        if matches!(event, AppEvent::ModelStatus(ModelStatus::Loading { model, done_bytes: 0, .. }) if model == GEMMA) {
            probe.set_available(Some(Bytes(GIB + (330 << 20))));
        }
    });
    world.load(SMOLLM2, |_| ()).await;
    let first = world.backend.memory_gauge().await.unwrap();
    world.add_model(GEMMA);
    // The second fits only because the first gives its part back.
    world.probe.set_available(Some(Bytes(GIB + (140 << 20))));
    let status = world.backend.model_load(GEMMA.to_owned()).await;
    let ModelStatus::Ready { model, plan, .. } = status.unwrap() else { panic!() };
    assert_eq!(model.id, GEMMA);
    assert!(!model.chat, "a base model");
    let gauge = world.backend.memory_gauge().await.unwrap();
    assert_ne!(gauge.weights_bytes, first.weights_bytes);
    assert_eq!(gauge.weights_bytes, plan.segments.iter().find(|part| part.name == "weights").unwrap().bytes);
    assert_eq!(world.backend.settings_get().await.unwrap().model.as_deref(), Some(GEMMA));
    let states: Vec<&str> = world
        .events()
        .iter()
        .filter_map(|event| match event {
            AppEvent::ModelStatus(ModelStatus::Loading { model, .. }) if model == GEMMA => Some("loading"),
            AppEvent::ModelStatus(ModelStatus::Ready { model, .. }) if model.id == GEMMA => Some("ready"),
            _ => None,
        })
        .collect();
    assert_eq!((states.first(), states.last()), (Some(&"loading"), Some(&"ready")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_base_model_continues_text() {
    let world = World::new();
    world.load(GEMMA, |_| ()).await;
    let check = world.check("The capital of France is").await;
    assert_eq!(check.refusal.unwrap().code, ErrorCode::NoTemplate);
    assert_eq!(check.prompt_tokens, 6, "BOS and five words, no template");
    let refused = world.send("The capital of France is", |_| ()).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::NoTemplate);
    assert!(world.view().await.messages.is_empty(), "a refused Send changes nothing");
    let accepted = world
        .send("The capital of France is", |request| {
            request.completion = true;
            request.output_tokens = Some(4);
        })
        .await
        .unwrap();
    let events = world.end_of(accepted.generation).await;
    let GenerationKind::Started { prompt_tokens, .. } = events[0].kind else { panic!() };
    assert_eq!(prompt_tokens, check.prompt_tokens, "the check counted what Send sends");
    assert!(!text_of(&events).is_empty());
    // The next text stands directly behind what is there.
    let longer = world.check(" And").await;
    assert_eq!(longer.prompt_tokens, 6 + 4 + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gauge_speaks_at_most_four_times_a_second() {
    let told: Arc<Mutex<Vec<Instant>>> = Arc::default();
    let times = Arc::clone(&told);
    let world = World::with_sink(TempDir::new().unwrap(), move |_, event| {
        if matches!(event, AppEvent::Memory(_)) {
            times.lock().unwrap().push(Instant::now());
        }
    });
    world.load(SMOLLM2, |_| ()).await;
    for number in 1..=3 {
        world.ask(&format!("Count to {number}."), 24).await;
    }
    // The last change is told as well, if late.
    tokio::time::sleep(Duration::from_millis(600)).await;
    let told = told.lock().unwrap().clone();
    assert!(told.len() >= 2, "{}", told.len());
    for pair in told.windows(2) {
        assert!(pair[1] >= pair[0] + Duration::from_millis(245), "{:?}", pair[1] - pair[0]);
    }
    let last = world.events().into_iter().rev().find_map(|event| match event {
        AppEvent::Memory(gauge) => Some(gauge),
        _ => None,
    });
    assert_eq!(last.unwrap(), world.backend.memory_gauge().await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gauge_names_every_byte() {
    let world = World::ready(|settings| settings.context_tokens = 1024).await;
    let ModelStatus::Ready { plan, .. } = world.backend.model_status().await.unwrap() else { panic!() };
    let idle = world.backend.memory_gauge().await.unwrap();
    assert_eq!(sum(&idle), idle.total_bytes);
    assert_eq!((idle.kv_used_tokens, idle.kv_reserved_tokens, idle.state.as_str()), (0, 0, "ok"));
    let kv = plan.segments.iter().find(|part| part.name == "kv").unwrap().bytes;
    assert_eq!(idle.kv_used_bytes + idle.kv_reserved_bytes + idle.kv_idle_bytes, kv);

    let check = world.check_with("What is the capital of France?", Some(100)).await;
    let asked = world.backend.memory_gauge().await.unwrap();
    assert_eq!(asked.kv_reserved_tokens, check.prompt_tokens + 100, "what Send would reserve");
    assert_eq!(sum(&asked), asked.total_bytes);
    assert_eq!(check.reserve_bytes, asked.kv_reserved_bytes);

    world.ask("What is the capital of France?", 8).await;
    let after = world.backend.memory_gauge().await.unwrap();
    assert!(after.kv_used_tokens > check.prompt_tokens, "{after:?}");
    assert_eq!(sum(&after), after.total_bytes);
    world.backend.model_unload().await.unwrap();
    let empty = world.backend.memory_gauge().await.unwrap();
    assert_eq!((empty.state.as_str(), empty.weights_bytes, sum(&empty)), ("empty", 0, empty.total_bytes));
    for event in world.events() {
        if let AppEvent::Memory(gauge) = event {
            assert_eq!(sum(&gauge), gauge.total_bytes);
        }
    }
}
