//! A date and time that a template may print. It is passed in: this crate reads no clock.

use std::fmt::Write as _;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// A local time in the Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalTime {
    year: u16,
    month: u8,
    day: u8,
    hour: u8,
    minute: u8,
    second: u8,
}

impl LocalTime {
    /// A time; `None` when there is no such one. Years are 1 to 9999.
    pub fn new(year: u16, month: u8, day: u8, hour: u8, minute: u8, second: u8) -> Option<Self> {
        let real = (1..=9999).contains(&year)
            && (1..=12).contains(&month)
            && (1..=days_in(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            && second < 60;
        real.then_some(Self { year, month, day, hour, minute, second })
    }

    /// The time after `seconds` since the start of 1970, in the time zone whose offset is contained in them.
    pub fn from_unix(seconds: u64) -> Option<Self> {
        let (days, rest) = (seconds / 86_400, seconds % 86_400);
        // Civil from days, by Howard Hinnant: eras of 400 years that start in March.
        let shifted = days.checked_add(719_468)?;
        let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = era * 400 + year_of_era + u64::from(month <= 2);
        let narrow = |value: u64| u8::try_from(value).ok();
        Self::new(
            u16::try_from(year).ok()?,
            narrow(month)?,
            narrow(day)?,
            narrow(rest / 3600)?,
            narrow(rest / 60 % 60)?,
            narrow(rest % 60)?,
        )
    }

    /// Formats as `strftime` does in the C locale; an unknown directive is the error. `-` after `%` drops padding.
    pub fn strftime(self, format: &str) -> Result<String, String> {
        let mut out = String::new();
        let mut rest = format;
        while let Some((before, after)) = rest.split_once('%') {
            out.push_str(before);
            let (bare, after) = after.strip_prefix('-').map_or((false, after), |after| (true, after));
            let mut chars = after.chars();
            let directive = chars.next().unwrap_or('%');
            rest = chars.as_str();
            self.write(&mut out, directive, bare).ok_or_else(|| format!("%{directive}"))?;
        }
        out.push_str(rest);
        Ok(out)
    }

    fn write(self, out: &mut String, directive: char, bare: bool) -> Option<()> {
        let mut number = |value: u16, width: usize| {
            let width = if bare { 0 } else { width };
            let _ = write!(out, "{value:0width$}");
        };
        match directive {
            'Y' => number(self.year, 4),
            'y' => number(self.year % 100, 2),
            'm' => number(self.month.into(), 2),
            'd' => number(self.day.into(), 2),
            'H' => number(self.hour.into(), 2),
            'I' => number(u16::from((self.hour + 11) % 12 + 1), 2),
            'M' => number(self.minute.into(), 2),
            'S' => number(self.second.into(), 2),
            'j' => number(self.day_of_year(), 3),
            'w' => number(self.weekday(), 1),
            'e' if bare => number(self.day.into(), 0),
            'e' => {
                let _ = write!(out, "{:2}", self.day);
            }
            'B' => out.push_str(self.month_name()),
            'b' | 'h' => out.push_str(self.month_name().get(..3)?),
            'A' => out.push_str(self.weekday_name()),
            'a' => out.push_str(self.weekday_name().get(..3)?),
            'p' => out.push_str(if self.hour < 12 { "AM" } else { "PM" }),
            'F' => out.push_str(&self.strftime("%Y-%m-%d").ok()?),
            'T' => out.push_str(&self.strftime("%H:%M:%S").ok()?),
            '%' => out.push('%'),
            _ => return None,
        }
        Some(())
    }

    fn month_name(self) -> &'static str {
        MONTHS.get(usize::from(self.month) - 1).copied().unwrap_or_default()
    }

    fn weekday_name(self) -> &'static str {
        WEEKDAYS.get(usize::from(self.weekday())).copied().unwrap_or_default()
    }

    fn day_of_year(self) -> u16 {
        (1..self.month).map(|month| u16::from(days_in(self.year, month))).sum::<u16>() + u16::from(self.day)
    }

    /// 0 is Sunday.
    fn weekday(self) -> u16 {
        let before = u32::from(self.year) - 1;
        let days = before * 365 + before / 4 - before / 100 + before / 400 + u32::from(self.day_of_year());
        u16::try_from(days % 7).unwrap_or(0)
    }
}

fn days_in(year: u16, month: u8) -> u8 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 31,
    }
}
