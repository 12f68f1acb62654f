//! Titles and names of turns.

use proptest::prelude::*;

use crate::{first_words, title};

#[test]
fn a_title_is_the_first_line_that_says_something() {
    assert_eq!(title("What is a Plimsoll line?\nAnd why?"), "What is a Plimsoll line?");
    assert_eq!(title("\n\n  ## Heading  \nbody"), "Heading");
    assert_eq!(title("---\n> * quoted   point"), "quoted point");
    assert_eq!(title("```\nlet x = 1;\n```"), "let x = 1;");
    assert_eq!(title(" \n\t"), "");
    assert_eq!(title("#"), "");
}

#[test]
fn a_long_line_is_cut_after_a_word() {
    let long = "Please explain how the load line of a ship protects its crew in winter in the North Atlantic";
    assert_eq!(title(long), "Please explain how the load line of a ship protects its…");
    assert_eq!(first_words(long), "Please explain how the load…");
    assert_eq!(first_words(&"x".repeat(1 << 20)), format!("{}…", "x".repeat(31)));
}

#[test]
fn characters_are_counted_as_people_count_them() {
    let family = "👨‍👩‍👧‍👦".repeat(40);
    assert_eq!(first_words(&family), format!("{}…", "👨‍👩‍👧‍👦".repeat(31)));
    assert_eq!(first_words("今天天气怎么样？"), "今天天气怎么样？");
}

proptest! {
    #[test]
    fn names_are_one_short_line(text in "\\PC{0,80}|[ \\n#>a-z]{0,200}") {
        for name in [title(&text), first_words(&text)] {
            prop_assert!(!name.contains('\n'));
            prop_assert_eq!(name.trim(), name.as_str());
            prop_assert!(unicode_segmentation::UnicodeSegmentation::graphemes(name.as_str(), true).count() <= 61);
        }
    }
}
