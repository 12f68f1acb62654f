//! The window under test: the program, the display it draws on, the driver that works it.

mod display;
mod driver;
mod home;
mod page;
mod process;

pub use home::Home;
pub use page::Window;
