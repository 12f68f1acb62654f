//! Links that leave the window.

use plimsoll_ipc::{ErrorCode, IpcError};
use tauri::Url;

/// Opens a web or mail address in the system's own program. Any other scheme is refused: a model's output must not
/// start programs or open local files.
pub(crate) fn open(address: &str) -> Result<(), IpcError> {
    let url = outside(address)?;
    // Not waited for: some systems' openers stay alive as long as the browser does.
    open::that_detached(url.as_str()).map_err(|error| {
        IpcError::new(ErrorCode::Io, format!("the system cannot open this link: {error}")).with_detail(address)
    })
}

/// The address, if it is one that may be opened.
fn outside(address: &str) -> Result<Url, IpcError> {
    let refused = |why: String| IpcError::new(ErrorCode::BadSetting, why).with_detail("open_link");
    let url = Url::parse(address).map_err(|error| refused(format!("not an address: {error}")))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        "mailto" => Ok(url),
        scheme => Err(refused(format!("links of the kind `{scheme}` are not opened"))),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::outside;

    #[test]
    fn web_and_mail_addresses_pass() {
        for address in ["https://example.org/a?b#c", "http://localhost:8080", "mailto:someone@example.org"] {
            assert_eq!(outside(address).unwrap().scheme(), address.split(':').next().unwrap());
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for address in ["file:///etc/passwd", "javascript:alert(1)", "tauri://localhost", "smb://host/x", "/bin/sh", ""]
        {
            assert!(outside(address).is_err(), "{address} must not open");
        }
    }
}
