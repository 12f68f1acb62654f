//! Dates as strftime writes them.

use crate::LocalTime;

#[test]
fn the_formats_of_known_templates() {
    let time = LocalTime::new(2024, 7, 6, 9, 5, 3).unwrap();
    for (format, expected) in [
        ("%d %b %Y", "06 Jul 2024"),
        ("%Y-%m-%d", "2024-07-06"),
        ("%B %d, %Y", "July 06, 2024"),
        ("%-d %B %y", "6 July 24"),
        ("%A, %a %e %h", "Saturday, Sat  6 Jul"),
        ("%H:%M:%S %I %p", "09:05:03 09 AM"),
        ("%F %T day %j of the year, %w", "2024-07-06 09:05:03 day 188 of the year, 6"),
        ("100%%", "100%"),
        ("今天 %Y 年", "今天 2024 年"),
    ] {
        assert_eq!(time.strftime(format).as_deref(), Ok(expected), "{format}");
    }
    assert_eq!(time.strftime("%Q"), Err("%Q".to_owned()));
    assert_eq!(time.strftime("broken %"), Ok("broken %".to_owned()));
}

#[test]
fn noon_and_midnight() {
    let at = |hour| LocalTime::new(2000, 2, 29, hour, 0, 0).unwrap().strftime("%I %p").unwrap();
    assert_eq!([at(0), at(12), at(23)], ["12 AM", "12 PM", "11 PM"]);
}

#[test]
fn days_that_do_not_exist() {
    assert!(LocalTime::new(2024, 2, 29, 0, 0, 0).is_some());
    for (year, month, day) in [(2023, 2, 29), (1900, 2, 29), (2024, 4, 31), (2024, 0, 1), (2024, 13, 1), (0, 1, 1)] {
        assert_eq!(LocalTime::new(year, month, day, 0, 0, 0), None, "{year}-{month}-{day}");
    }
    assert_eq!(LocalTime::new(2024, 1, 1, 24, 0, 0), None);
}

#[test]
fn from_seconds() {
    let text = |seconds| LocalTime::from_unix(seconds).unwrap().strftime("%F %T %A").unwrap();
    assert_eq!(text(0), "1970-01-01 00:00:00 Thursday");
    assert_eq!(text(951_868_799), "2000-02-29 23:59:59 Tuesday");
    assert_eq!(text(1_721_997_000), "2024-07-26 12:30:00 Friday");
    assert_eq!(text(4_107_542_400), "2100-03-01 00:00:00 Monday");
    assert_eq!(LocalTime::from_unix(u64::MAX), None);
}
