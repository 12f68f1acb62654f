//! Which way WebKitGTK draws, decided before GTK starts.

/// Turns WebKitGTK's DMABUF renderer off unless the user has said otherwise.
///
/// With NVIDIA's driver, and some Mesa versions, that renderer leaves the window blank. The variable must be in the
/// environment before the process starts its first thread; since setting a variable of a running process is
/// `unsafe`, the process replaces itself once by the same program with the variable set.
pub(crate) fn choose_renderer() {
    #[cfg(target_os = "linux")]
    linux::choose_renderer();
}

#[cfg(target_os = "linux")]
mod linux {
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    const VARIABLE: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";

    pub(super) fn choose_renderer() {
        if std::env::var_os(VARIABLE).is_some() {
            return;
        }
        let Ok(program) = std::env::current_exe() else { return };
        // `exec` returns only when it fails; then the window opens with WebKit's own choice.
        let error = Command::new(program).args(std::env::args_os().skip(1)).env(VARIABLE, "1").exec();
        eprintln!("cannot set {VARIABLE}: {error}");
    }
}
