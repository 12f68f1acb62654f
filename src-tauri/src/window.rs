//! The one window: how it opens, comes to the front and closes.

use std::path::Path;
use std::thread;
use std::time::Duration;

use plimsoll_backend::Backend;
use tauri::webview::PageLoadEvent;
use tauri::{AppHandle, Manager as _, RunEvent, Url, WebviewWindowBuilder, WindowEvent};

/// The window's label, as tauri.conf.json and capabilities/main.json spell it.
pub(crate) const MAIN: &str = "main";

/// How long a closing window waits for a running answer to stop before the process ends anyway.
const PATIENCE: Duration = Duration::from_secs(1);

/// Opens the window of tauri.conf.json. It stays hidden until the page has loaded, so that no white frame shows.
pub(crate) fn open(app: &AppHandle, home: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let config = app.config().app.windows.first().ok_or("tauri.conf.json describes no window")?;
    WebviewWindowBuilder::from_config(app, config)?
        // What WebKit itself keeps moves with the data folder.
        .data_directory(home.join("webview"))
        .on_navigation(is_own_page)
        .on_page_load(|window, page| {
            if matches!(page.event(), PageLoadEvent::Finished)
                && let Err(error) = window.show()
            {
                tracing::error!(%error, "the window cannot be shown");
            }
        })
        .build()?;
    Ok(())
}

/// Brings the window to the front.
pub(crate) fn to_front(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(MAIN) {
        let raised = window.unminimize().and_then(|()| window.show()).and_then(|()| window.set_focus());
        if let Err(error) = raised {
            tracing::warn!(%error, "the window cannot come to the front");
        }
    }
}

/// Stops a running answer when the window closes. The process ends within two seconds, whatever the engine does.
pub(crate) fn on_event(app: &AppHandle, event: RunEvent) {
    match event {
        RunEvent::WindowEvent { event: WindowEvent::CloseRequested { .. }, .. } => {
            end_after(PATIENCE);
            let backend = app.state::<Backend>().inner().clone();
            backend.flush();
            tauri::async_runtime::spawn(async move { stop_answer(&backend).await });
        }
        RunEvent::Exit => {
            app.state::<Backend>().flush();
            tracing::info!("Plimsoll ends");
        }
        _ => {}
    }
}

async fn stop_answer(backend: &Backend) {
    let running = backend.conversation_get().await.ok().and_then(|view| view.generation);
    if let Some(generation) = running
        && let Err(error) = backend.generation_stop(generation).await
    {
        tracing::warn!(%error, "the running answer could not be stopped");
    }
}

fn end_after(patience: Duration) {
    thread::spawn(move || {
        thread::sleep(patience);
        tracing::warn!("the engine did not stop in time; ending the process");
        std::process::exit(0);
    });
}

/// The page may load itself and nothing else; links go through `open_link`.
fn is_own_page(url: &Url) -> bool {
    let own = match url.scheme() {
        "tauri" => url.host_str() == Some("localhost"),
        // Windows and Android serve the page under this name.
        "http" | "https" => url.host_str() == Some("tauri.localhost"),
        scheme => scheme == "about",
    };
    if !own {
        tracing::warn!(scheme = url.scheme(), "the page tried to leave itself");
    }
    own
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::is_own_page;

    #[test]
    fn the_page_cannot_leave_itself() {
        for (address, allowed) in [
            ("tauri://localhost/index.html", true),
            ("http://tauri.localhost/", true),
            ("about:blank", true),
            ("https://example.org/", false),
            ("file:///etc/passwd", false),
            ("tauri://elsewhere/", false),
        ] {
            assert_eq!(is_own_page(&address.parse().unwrap()), allowed, "{address}");
        }
    }
}
