//! A display for machines that have none, and pictures of it.

use std::fs;
use std::io::{BufRead as _, BufReader, BufWriter};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

/// Is there a display that a window can open on?
pub(crate) fn is_present() -> bool {
    cfg!(not(target_os = "linux"))
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// A command whose process ends with this one, however this one ends.
pub(crate) fn bound_to_us(program: &Path) -> Command {
    if cfg!(target_os = "linux") {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "TERM", "--"]).arg(program);
        command
    } else {
        Command::new(program)
    }
}

/// An X server that draws into a file. It ends when dropped.
pub(crate) struct VirtualDisplay {
    server: Child,
    frames: TempDir,
    name: String,
}

impl VirtualDisplay {
    /// Starts Xvfb on a free display number.
    pub(crate) fn start() -> Result<Self> {
        let frames = tempfile::tempdir()?;
        let mut command = bound_to_us(Path::new("Xvfb"));
        // It writes the number it chose to file descriptor 1, which is our pipe.
        command.args(["-displayfd", "1", "-screen", "0", "1280x860x24", "-nolisten", "tcp", "-fbdir"]);
        command.arg(frames.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().context("cannot start Xvfb")?;
        let mut number = String::new();
        let printed = server.stdout.take().context("Xvfb's stdout is a pipe")?;
        BufReader::new(printed).read_line(&mut number)?;
        if number.trim().is_empty() {
            bail!("Xvfb ended at once: {}", server.wait()?);
        }
        Ok(Self { server, frames, name: format!(":{}", number.trim()) })
    }

    /// The value for DISPLAY.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Writes the whole screen as a PNG file.
    pub(crate) fn screenshot(&self, file: &Path) -> Result<()> {
        let dump = fs::read(self.frames.path().join("Xvfb_screen0")).context("Xvfb's frame buffer")?;
        let picture = Picture::from_xwd(&dump).context("Xvfb's frame buffer has an unknown form")?;
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        let out = BufWriter::new(fs::File::create(file).with_context(|| file.display().to_string())?);
        let mut encoder = png::Encoder::new(out, picture.width, picture.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.write_header()?.write_image_data(&picture.rgb)?;
        Ok(())
    }
}

impl Drop for VirtualDisplay {
    fn drop(&mut self) {
        // It may have ended on its own.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Bytes of one entry of the dump's colour table.
const COLOUR_BYTES: usize = 12;

/// Pixels, three bytes each, row by row.
struct Picture {
    width: u32,
    height: u32,
    rgb: Vec<u8>,
}

impl Picture {
    /// Reads an X window dump (XWD, version 7) of 32-bit little-endian pixels, the form Xvfb keeps at 24 bits depth.
    fn from_xwd(dump: &[u8]) -> Option<Self> {
        let field = |index: usize| -> Option<u32> {
            let bytes = dump.get(index * 4..index * 4 + 4)?;
            Some(u32::from_be_bytes(bytes.try_into().ok()?))
        };
        let size = |index: usize| usize::try_from(field(index)?).ok();
        let (version, width, height, byte_order, bits) = (field(1)?, field(4)?, field(5)?, field(7)?, field(11)?);
        if version != 7 || byte_order != 0 || bits != 32 {
            return None;
        }
        let (header, line, colours) = (size(0)?, size(12)?, size(19)?);
        let pixels = dump.get(header + colours * COLOUR_BYTES..)?;
        let mut rgb = Vec::new();
        for row in pixels.chunks_exact(line).take(usize::try_from(height).ok()?) {
            for pixel in row.chunks_exact(4).take(usize::try_from(width).ok()?) {
                if let [blue, green, red, _] = *pixel {
                    rgb.extend([red, green, blue]);
                }
            }
        }
        Some(Self { width, height, rgb })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::Picture;

    fn dump(version: u32) -> Vec<u8> {
        // 2 x 1 pixels, lines of 8 bytes, one colour entry.
        let mut fields = [0_u32; 25];
        for (index, value) in [(0, 100), (1, version), (4, 2), (5, 1), (11, 32), (12, 8), (19, 1)] {
            if let Some(field) = fields.get_mut(index) {
                *field = value;
            }
        }
        let mut dump: Vec<u8> = fields.iter().flat_map(|field| field.to_be_bytes()).collect();
        dump.extend([0xee; 12]);
        dump.extend([1, 2, 3, 0, 4, 5, 6, 0]);
        dump
    }

    #[test]
    fn pixels_come_out_red_first() {
        let picture = Picture::from_xwd(&dump(7)).unwrap();
        assert_eq!((picture.width, picture.height), (2, 1));
        assert_eq!(picture.rgb, [3, 2, 1, 6, 5, 4]);
    }

    #[test]
    fn other_forms_are_refused() {
        assert!(Picture::from_xwd(&dump(6)).is_none());
        assert!(Picture::from_xwd(&[0; 10]).is_none());
    }
}
