//! What the operating system says of this process.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The processor time of all threads of this process so far, in nanoseconds; 0 where the system does not say.
pub fn process_cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // Safety: the call writes one `timespec`, which is its own.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    if failed != 0 { 0 } else { time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 }
}

/// The greatest memory this process has had so far, in bytes; 0 where the system does not say.
pub fn process_peak_bytes() -> u64 {
    status_bytes("VmHWM:")
}

/// The memory this process has now, in bytes; 0 where the system does not say.
pub fn process_resident_bytes() -> u64 {
    status_bytes("VmRSS:")
}

fn status_bytes(name: &str) -> u64 {
    let Ok(status) = fs::read_to_string("/proc/self/status") else { return 0 };
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// How many threads can run at a time.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// How many bytes a process may still write below a folder; nothing where the system does not say.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let path = CString::new(folder.as_os_str().as_bytes()).ok()?;
    // Safety: all-zero bytes are a `statvfs`, and the call writes into it alone.
    let (failed, found) = unsafe {
        let mut found: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(path.as_ptr(), &mut found), found)
    };
    (failed == 0).then(|| found.f_bavail * found.f_frsize)
}

/// How many files and sockets this process may have open; nothing where the system does not say.
pub fn open_files_max() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // Safety: the call writes one `rlimit`, which is its own.
    let failed = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    (failed == 0).then_some(limit.rlim_cur)
}

/// Has the process end quietly when whoever reads what it prints has gone, as other tools of a pipe do.
pub fn end_with_its_reader() {
    // Safety: called before any other thread runs; the default action runs no code of ours.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

/// Has the calling thread give way: it gets a small part of a busy processor, and all of an idle one. Nothing changes where a
/// thread has no priority of its own.
pub fn give_way() {
    // A seventieth of the weight of a plain thread.
    #[cfg(target_os = "linux")]
    const NICE: i32 = 19;
    // Safety: the call takes numbers alone; 0 is the calling thread.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, NICE)
    };
}
