//! The commands, once. The backend has one async method per row, the window one adapter per row, the page one
//! typed entry per row; tests compare all three with this table.

/// (command, arguments type in TypeScript, result type in TypeScript). Arguments are one object named `args`,
/// or nothing.
pub const COMMANDS: &[(&str, &str, &str)] = &[
    ("app_info", "null", "AppInfo"),
    ("doctor", "null", "DoctorReport"),
    ("models_list", "null", "ModelEntry[]"),
    // Opens the system's file dialog in the shell and adds the chosen .gguf to the list; null when dismissed.
    ("model_import_dialog", "null", "ModelEntry | null"),
    ("model_import", "string", "ModelEntry"),
    ("model_load", "string", "ModelStatus"),
    ("model_unload", "null", "ModelStatus"),
    ("model_status", "null", "ModelStatus"),
    ("settings_get", "null", "Settings"),
    // Prices `args` against the plan in force; changes nothing.
    ("settings_preview", "Settings", "SettingsPreview"),
    // Applies and saves `args`; loads the model again where the plan changes. Refused whole when it does not fit.
    ("settings_apply", "Settings", "ModelStatus"),
    ("memory_gauge", "null", "MemoryGauge"),
    ("conversation_get", "null", "ConversationView"),
    ("conversation_new", "null", "ConversationView"),
    ("conversation_select_sibling", "SelectSibling", "ConversationView"),
    ("conversation_drop_messages", "DropMessages", "ConversationView"),
    ("draft_save", "DraftSave", "null"),
    ("prompt_check", "PromptCheckRequest", "PromptCheck"),
    ("generation_send", "SendRequest", "Accepted"),
    ("generation_stop", "number", "null"),
    ("generation_snapshot", "number", "GenerationSnapshot"),
    // Writes a line of the page's own log to the log file.
    ("log_ui", "string", "null"),
    // Opens an http(s) link in the system's browser, after the page's own confirmation.
    ("open_link", "string", "null"),
];
