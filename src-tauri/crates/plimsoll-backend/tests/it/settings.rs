use plimsoll_ipc::{AppEvent, ErrorCode, KvChoice, ModelStatus, PrecisionChoice, Settings};
use plimsoll_plan::Bytes;
use tempfile::TempDir;

use crate::support::{GIB, SMOLLM2, World};

#[tokio::test(flavor = "multi_thread")]
async fn settings_survive_a_restart() {
    let world = World::new();
    let wanted = Settings {
        context_tokens: 2048,
        temperature: 0.7,
        system_prompt: "简短回答。".to_owned(),
        language: "zh-CN".to_owned(),
        ..Settings::default()
    };
    world.backend.settings_apply(wanted.clone()).await.unwrap();
    let told = world.events().into_iter().any(|event| event == AppEvent::Settings(wanted.clone()));
    assert!(told, "the page hears of new settings");
    let World { home, backend, .. } = world;
    drop(backend);
    assert_eq!(World::in_folder(home).backend.settings_get().await.unwrap(), wanted);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_file_gives_the_defaults_and_is_kept() {
    for damage in ["{\"contextTokens\": 20", "7", "{\"memoryFraction\": 7.5}", "{\"precision\": \"int3\"}"] {
        let home = TempDir::new().unwrap();
        std::fs::write(home.path().join("settings.json"), damage).unwrap();
        let world = World::in_folder(home);
        assert_eq!(world.backend.settings_get().await.unwrap(), Settings::default(), "{damage}");
        let backup = std::fs::read_to_string(world.home.path().join("settings.json.bad")).unwrap();
        assert_eq!(backup, damage, "what may be repaired by hand is kept");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_fields_and_missing_ones_are_no_damage() {
    let home = TempDir::new().unwrap();
    std::fs::write(home.path().join("settings.json"), "{\"contextTokens\": 1024, \"fromTheFuture\": 1}").unwrap();
    let world = World::in_folder(home);
    let settings = world.backend.settings_get().await.unwrap();
    assert_eq!(settings, Settings { context_tokens: 1024, ..Settings::default() });
}

#[tokio::test(flavor = "multi_thread")]
async fn values_out_of_range_are_named_and_refused() {
    let world = World::new();
    let wrong: [(&str, Settings); 6] = [
        ("contextTokens", Settings { context_tokens: 0, ..Settings::default() }),
        ("outputTokens", Settings { output_tokens: 0, ..Settings::default() }),
        ("memoryFraction", Settings { memory_fraction: f64::NAN, ..Settings::default() }),
        ("temperature", Settings { temperature: -0.1, ..Settings::default() }),
        ("topP", Settings { top_p: 0.0, ..Settings::default() }),
        ("theme", Settings { theme: "sepia".to_owned(), ..Settings::default() }),
    ];
    for (name, settings) in wrong {
        let refused = world.backend.settings_apply(settings).await.unwrap_err();
        assert_eq!((refused.code, refused.detail.as_deref()), (ErrorCode::BadSetting, Some(name)));
    }
    assert_eq!(world.backend.settings_get().await.unwrap(), Settings::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_changes_the_plan_loads_again() {
    let world = World::ready(|settings| settings.context_tokens = 1024).await;
    let loads = || {
        let ready =
            |event: &&AppEvent| matches!(event, AppEvent::ModelStatus(ModelStatus::Loading { done_bytes: 0, .. }));
        world.events().iter().filter(ready).count()
    };
    let before = loads();
    world.probe.set_available(Some(Bytes(16 * GIB)));
    let settings = world.backend.settings_get().await.unwrap();
    let quiet = Settings { temperature: 0.9, theme: "dark".to_owned(), output_tokens: 64, ..settings.clone() };
    world.backend.settings_apply(quiet.clone()).await.unwrap();
    let wider = Settings { memory_fraction: 0.8, kv: KvChoice::Fp16, ..quiet.clone() };
    let ModelStatus::Ready { plan, .. } = world.backend.settings_apply(wider.clone()).await.unwrap() else { panic!() };
    assert_eq!(loads(), before, "the same configuration stays loaded");
    assert_eq!(plan.budget_bytes, plan.device_total_bytes / 10 * 8 + plan.device_total_bytes % 10 * 8 / 10);
    world.backend.settings_apply(Settings { context_tokens: 2048, ..wider.clone() }).await.unwrap();
    assert!(loads() > before, "another context is another plan");
    let refused =
        world.backend.settings_apply(Settings { precision: PrecisionChoice::Fp16, ..wider }).await.unwrap_err();
    assert_eq!((refused.code, refused.detail.as_deref()), (ErrorCode::BadSetting, Some("precision")));
    let ModelStatus::Ready { plan, .. } = world.backend.model_status().await.unwrap() else { panic!() };
    assert_eq!(plan.context_tokens, 2048, "a refused change changes nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_choice_is_priced_before_it_is_applied() {
    let world = World::ready(|settings| settings.context_tokens = 1024).await;
    let settings = world.backend.settings_get().await.unwrap();
    let preview = world.backend.settings_preview(settings.clone()).await.unwrap();
    assert_eq!((preview.delta_bytes, preview.needs_reload), (0, false), "what is in force costs nothing");
    let values = |options: &[plimsoll_ipc::SettingOption]| -> Vec<String> {
        options.iter().map(|option| option.value.clone()).collect()
    };
    assert_eq!(values(&preview.precision), ["int4", "int8", "fp16"]);
    assert_eq!(values(&preview.kv), ["fp16", "int8", "int4"]);
    assert_eq!(values(&preview.context), ["512", "1024", "2048", "4096", "8192"]);
    assert_eq!(values(&preview.output), ["128", "256", "512", "1024"]);
    assert!(preview.precision[0].available && preview.precision[0].delta_bytes == 0);
    assert_eq!(preview.precision[2].reason.as_deref(), Some("file_precision"));
    assert!(preview.precision[2].delta_bytes > 100_000_000, "FP16 weights would cost that much more");
    let larger = preview.context.iter().find(|option| option.value == "8192").unwrap();
    assert_eq!(larger.delta_tokens, 8192 - 1024);
    let applied = Settings { context_tokens: 8192, ..settings };
    let ModelStatus::Ready { plan, .. } = world.backend.settings_apply(applied).await.unwrap() else { panic!() };
    assert_eq!(plan.total_bytes, larger.total_bytes, "the price that was named is the price");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_answers_the_six_questions() {
    let world = World::new();
    let ids = |report: &plimsoll_ipc::DoctorReport| -> Vec<String> {
        report.items.iter().map(|item| item.id.clone()).collect()
    };
    let wanted =
        ["memory", "prompt", "output", "concurrency", "quantization", "kv", "cpu", "kernels", "gpu", "version"];
    assert_eq!(ids(&world.backend.doctor().await.unwrap()), wanted);
    world.load(SMOLLM2, |_| ()).await;
    let report = world.backend.doctor().await.unwrap();
    let answer = |id: &str| report.items.iter().find(|item| item.id == id).unwrap().answer.clone();
    assert!(answer("quantization").contains("Q4_1"), "{}", answer("quantization"));
    assert!(answer("output").contains("512 tokens"), "{}", answer("output"));
    assert!(answer("memory").contains("17.1 GB in all"), "{}", answer("memory"));
}
