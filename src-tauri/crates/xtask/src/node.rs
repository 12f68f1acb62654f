//! Node and the page's packages.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use sha2::{Digest as _, Sha256};

use crate::{process, workspace};

/// Oldest Node that the page's tools run on.
const OLDEST: (u32, u32) = (20, 19);

/// Checks Node, and installs the lock file's packages when it has changed since the last time.
///
/// `npm ci` would refuse a lock file that leaves out optional packages of other platforms; `npm install --no-save`
/// takes the same locked versions with the same hashes, and leaves the lock file as it is.
pub(crate) fn ensure() -> Result<()> {
    let printed = process::output(Command::new("node").arg("--version"))
        .context("Node was not found; install Node 20.19 or later")?;
    let found = version(printed.trim()).with_context(|| format!("node --version printed {printed:?}"))?;
    if found < OLDEST {
        bail!("Node {} is too old; install Node {}.{} or later", printed.trim(), OLDEST.0, OLDEST.1);
    }
    let ui = workspace::ui()?;
    let lock = fs::read(ui.join("package-lock.json")).context("ui/package-lock.json")?;
    let wanted = format!("{}\n", hex(&Sha256::digest(&lock)));
    let stamp = workspace::target()?.join("xtask/npm.sha256");
    let installed = ui.join("node_modules").is_dir();
    if installed && fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    println!("setup: installing the page's packages");
    process::run(&mut process::npm(&["install", "--no-save", "--loglevel=error"])?)?;
    fs::create_dir_all(stamp.parent().context("the stamp has a folder")?)?;
    fs::write(stamp, wanted)?;
    Ok(())
}

/// `v20.19.1` as (20, 19).
fn version(printed: &str) -> Option<(u32, u32)> {
    let mut numbers = printed.strip_prefix('v')?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut digits, byte| {
        // Writing to a String cannot fail.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

#[cfg(test)]
mod tests {
    use super::{OLDEST, version};

    #[test]
    fn versions_compare_by_number() {
        assert_eq!(version("v20.19.1"), Some((20, 19)));
        assert!(version("v20.9.0") < Some(OLDEST));
        assert!(version("v22.1.0") > Some(OLDEST));
        assert_eq!(version("20"), None);
    }
}
