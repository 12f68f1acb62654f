//! The program as a process, and the close button of its window.

use std::fs;

use x11rb::CURRENT_TIME;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{ClientMessageEvent, ConnectionExt as _, EventMask, Window as WindowId};

/// The process that the driver started.
pub fn child_of(parent: u32) -> Option<u32> {
    let processes = fs::read_dir("/proc").ok()?;
    let ids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|&id| stat(id).is_some_and(|(_, of)| of == parent)).min()
}

/// Is the process gone? One whose parent has not taken notice yet counts as gone.
pub fn has_ended(process: u32) -> bool {
    stat(process).is_none_or(|(state, _)| state == 'Z')
}

/// (state, parent) of a process.
fn stat(process: u32) -> Option<(char, u32)> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may hold anything.
    let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// Presses the window's close button, as a window manager does it: by the message WM_DELETE_WINDOW.
pub fn press_close(display: &str, title: &str) {
    let (connection, screen) = x11rb::connect(Some(display)).expect("the display answers");
    let atom = |name: &[u8]| connection.intern_atom(false, name).unwrap().reply().unwrap().atom;
    let (protocols, delete, name, utf8) =
        (atom(b"WM_PROTOCOLS"), atom(b"WM_DELETE_WINDOW"), atom(b"_NET_WM_NAME"), atom(b"UTF8_STRING"));
    let root = connection.setup().roots[screen].root;
    let children = connection.query_tree(root).unwrap().reply().unwrap().children;
    let has_title = |&window: &WindowId| {
        let property = connection.get_property(false, window, name, utf8, 0, 64).unwrap().reply();
        property.is_ok_and(|property| property.value == title.as_bytes())
    };
    let closes = |&window: &WindowId| {
        let property = connection.get_property(
            false,
            window,
            protocols,
            u32::from(x11rb::protocol::xproto::AtomEnum::ATOM),
            0,
            16,
        );
        let listed = property.unwrap().reply();
        listed.is_ok_and(|listed| listed.value32().is_some_and(|mut atoms| atoms.any(|atom| atom == delete)))
    };
    let window =
        children.into_iter().find(|window| has_title(window) && closes(window)).expect("the window is on the display");
    let message = ClientMessageEvent::new(32, window, protocols, [delete, CURRENT_TIME, 0, 0, 0]);
    connection.send_event(false, window, EventMask::NO_EVENT, message).unwrap();
    connection.flush().unwrap();
}
