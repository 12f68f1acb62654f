//! `cargo xtask setup`: everything that a build or a test needs from outside.

use anyhow::Result;

use crate::{contract, models, node, packages};

/// Installs what is missing and says so; says little when nothing is.
pub(crate) fn setup() -> Result<()> {
    packages::ensure()?;
    node::ensure()?;
    models::ensure()?;
    contract::write()?;
    println!("setup: ready");
    Ok(())
}
