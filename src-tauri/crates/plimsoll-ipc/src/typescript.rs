//! Writes the contract as TypeScript.

use std::fmt::Write as _;

use ts_rs::{Config, TS};

use crate::{
    Accepted, AppEvent, AppInfo, COMMANDS, CandidateReport, ConversationView, DoctorItem, DoctorReport, DraftSave,
    DropMessages, ErrorCode, GenerationEvent, GenerationKind, GenerationSnapshot, IpcError, KvChoice, MemoryGauge,
    MessageState, MessageStats, MessageView, ModelEntry, ModelStatus, PlanReport, PrecisionChoice, PromptCheck,
    PromptCheckRequest, Remedy, Role, SegmentReport, SelectSibling, SendRequest, SettingOption, Settings,
    SettingsPreview,
};

/// The whole contract as one TypeScript module, the content of `ui/src/lib/ipc/generated.ts`.
pub fn module() -> String {
    let config = Config::new().with_large_int("number");
    let mut out = String::from(
        "// Generated from crate plimsoll-ipc by `cargo xtask setup`. Do not edit: change the Rust types.\n\n",
    );
    macro_rules! declare {
        ($($type:ty),* $(,)?) => {
            $( let _ = writeln!(out, "export {}\n", <$type>::decl(&config)); )*
        };
    }
    declare!(
        Accepted,
        AppEvent,
        AppInfo,
        CandidateReport,
        ConversationView,
        DoctorItem,
        DoctorReport,
        DraftSave,
        DropMessages,
        ErrorCode,
        GenerationEvent,
        GenerationKind,
        GenerationSnapshot,
        IpcError,
        KvChoice,
        MemoryGauge,
        MessageState,
        MessageStats,
        MessageView,
        ModelEntry,
        ModelStatus,
        PlanReport,
        PrecisionChoice,
        PromptCheck,
        PromptCheckRequest,
        Remedy,
        Role,
        SegmentReport,
        SelectSibling,
        SendRequest,
        SettingOption,
        Settings,
        SettingsPreview,
    );
    out.push_str("/** Every command: its arguments and its result. */\nexport interface Commands {\n");
    for (name, arguments, result) in COMMANDS {
        let _ = writeln!(out, "  {name}: {{ args: {arguments}; result: {result} }};");
    }
    out.push_str("}\n");
    out
}
