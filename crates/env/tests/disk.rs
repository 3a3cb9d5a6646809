//! What every disk does, and what only the simulated one can.

use env::{Disk, Error, Kill, RealDisk, SimDisk};

fn every_disk(check: impl Fn(&dyn Disk)) {
    let folder = tempfile::tempdir().unwrap();
    check(&RealDisk::new(folder.path().join("deep/root")).unwrap());
    check(&SimDisk::new());
}

#[test]
fn a_file_grows_at_its_end_and_is_cut_listed_replaced_and_removed() {
    every_disk(|disk| {
        let mut file = disk.append("a/b/one.log").unwrap();
        file.write(b"hello ").unwrap();
        file.write(b"world").unwrap();
        file.sync().unwrap();
        disk.append("a/b/one.log").unwrap().write(b"!").unwrap();
        assert_eq!(disk.read("a/b/one.log").unwrap(), b"hello world!");
        assert_eq!(disk.read_range("a/b/one.log", 6, 5).unwrap(), b"world");
        assert_eq!(disk.read_range("a/b/one.log", 11, 50).unwrap(), b"!");
        disk.truncate("a/b/one.log", 5).unwrap();
        assert_eq!(disk.len("a/b/one.log").unwrap(), 5);
        disk.replace("a/two", b"2").unwrap();
        disk.replace("a/two", b"22").unwrap();
        assert_eq!(disk.read("a/two").unwrap(), b"22");
        assert_eq!(disk.list("a").unwrap(), ["b", "two"]);
        assert_eq!(disk.list("nowhere").unwrap(), [""; 0]);
        disk.remove("a/two").unwrap();
        disk.remove("a/two").unwrap();
        disk.remove_folder("a/b").unwrap();
        disk.remove_folder("a/b").unwrap();
        assert!(matches!(disk.read("a/b/one.log"), Err(Error::NotFound { .. })));
    });
}

#[test]
fn a_path_cannot_leave_the_root() {
    every_disk(|disk| {
        for path in ["../x", "a/../../x", "/etc/passwd", "a\\..\\x", "a/./b"] {
            assert!(matches!(disk.read(path), Err(Error::Path { .. })), "{path}");
        }
        assert!(disk.replace("", b"x").is_err());
        assert!(disk.remove_folder("").is_err());
    });
}

#[test]
fn a_killed_process_leaves_none_half_or_all_of_its_last_write() {
    for (kill, left) in [(Kill::Before, "one"), (Kill::Half, "onetw"), (Kill::After, "onetwoo")] {
        let disk = SimDisk::new();
        let mut file = disk.append("log").unwrap();
        disk.kill_at(1, kill);
        file.write(b"one").unwrap();
        assert_eq!(file.write(b"twoo"), Err(Error::Killed));
        assert_eq!(file.write(b"three"), Err(Error::Killed));
        assert_eq!(disk.read("log"), Err(Error::Killed));
        assert_eq!(disk.revive().read("log").unwrap(), left.as_bytes());
    }
}

#[test]
fn a_power_loss_leaves_what_was_synced() {
    let disk = SimDisk::new();
    let mut file = disk.append("log").unwrap();
    file.write(b"safe").unwrap();
    file.sync().unwrap();
    file.write(b" and not").unwrap();
    assert_eq!(disk.power_loss().read("log").unwrap(), b"safe");
    assert_eq!(disk.revive().read("log").unwrap(), b"safe and not");
}
