//! One process per data folder: two would plan the same memory twice.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use tauri::Wry;
use tauri::plugin::TauriPlugin;

use crate::window;

/// Hands a second start over to the first, whose window comes to the front.
pub(crate) fn single(home: &Path) -> TauriPlugin<Wry> {
    tauri_plugin_single_instance::Builder::new()
        .dbus_id(bus_name(home))
        .callback(|app, _arguments, _folder| window::to_front(app))
        .build()
}

/// The name under which a data folder's process is found. D-Bus allows letters, digits and dots.
fn bus_name(home: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    home.hash(&mut hasher);
    format!("org.plimsoll.desktop.h{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::bus_name;

    #[test]
    fn each_data_folder_has_its_own_name() {
        let name = bus_name(Path::new("/home/a/.local/share/plimsoll"));
        assert_eq!(name, bus_name(Path::new("/home/a/.local/share/plimsoll")));
        assert_ne!(name, bus_name(Path::new("/tmp/other")));
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '.'), "{name}");
    }
}
