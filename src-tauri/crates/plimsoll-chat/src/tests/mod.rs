//! Tests of the chat state.

mod conversation;
mod hostile;
mod ledger;
mod local_time;
mod names;
mod rendering;
mod special;
