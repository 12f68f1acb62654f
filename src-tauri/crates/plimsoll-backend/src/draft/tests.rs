use super::*;

#[test]
fn the_last_text_is_written_when_the_file_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("draft.json");
    let (file, text) = DraftFile::open(&path).unwrap();
    assert_eq!(text, "", "there was none");
    file.save("half a".to_owned());
    file.save("half a thought".to_owned());
    drop(file);
    let (_file, text) = DraftFile::open(&path).unwrap();
    assert_eq!(text, "half a thought");
}

#[test]
fn a_pause_writes_without_closing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("draft.json");
    let (file, _) = DraftFile::open(&path).unwrap();
    file.save("before the crash".to_owned());
    let deadline = Instant::now() + Duration::from_secs(10);
    while !path.exists() {
        assert!(Instant::now() < deadline, "the draft was never written");
        std::thread::sleep(Duration::from_millis(5));
    }
    // A crash runs no destructor.
    std::mem::forget(file);
    let (_file, text) = DraftFile::open(&path).unwrap();
    assert_eq!(text, "before the crash");
}

#[test]
fn a_damaged_file_is_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("draft.json");
    std::fs::write(&path, "{\"text\": \"half").unwrap();
    let (_file, text) = DraftFile::open(&path).unwrap();
    assert_eq!(text, "");
    let kept = std::fs::read_to_string(folder.path().join("draft.json.bad")).unwrap();
    assert_eq!(kept, "{\"text\": \"half", "what may be repaired by hand is kept");
}
