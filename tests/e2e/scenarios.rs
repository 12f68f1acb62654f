//! What a user does with the window, start to end.

mod chat;
mod closing;
mod drafts;
mod limits;
mod model_files;
mod pictures;
mod speed;

use libtest_mimic::Trial;

use crate::trial;

/// The tests of the real window.
pub fn trials() -> Vec<Trial> {
    vec![
        trial("window::an_answer_streams_stops_and_is_followed_up", chat::an_answer_streams_stops_and_is_followed_up),
        trial("window::the_keyboard_alone_is_enough", chat::the_keyboard_alone_is_enough),
        trial("window::a_base_model_continues_text", chat::a_base_model_continues_text),
        trial("window::an_answer_outlives_a_reload_of_the_page", chat::an_answer_outlives_a_reload_of_the_page),
        trial("window::send_is_blocked_in_numbers_and_every_remedy_works", limits::every_remedy_works),
        trial("window::a_pasted_megabyte_is_counted_and_blocked", limits::a_pasted_megabyte_is_counted_and_blocked),
        trial("window::a_draft_survives_reload_and_restart", drafts::a_draft_survives_reload_and_restart),
        trial("window::bad_files_say_what_is_wrong_and_the_rest_works", model_files::bad_files_say_what_is_wrong),
        trial("window::closing_while_an_answer_runs_ends_the_process", closing::closing_while_an_answer_runs),
        trial("window::the_first_token_is_on_the_screen_at_once", speed::the_first_token_is_on_the_screen_at_once),
        trial(
            "window::two_thousand_tokens_stream_without_a_stutter",
            speed::two_thousand_tokens_stream_without_a_stutter,
        ),
        trial("window::pictures_of_both_themes_and_languages", pictures::both_themes_and_languages),
    ]
}
