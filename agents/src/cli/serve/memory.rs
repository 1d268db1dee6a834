//! Owns the memory limit of the server: the memory of the machine, or of a control group that bounds the
//! process, as in a container. It also returns unused memory to the machine.

use std::convert::Infallible;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Duration;

use diorama_sessions::MAX_BYTES;

/// Divisor of the memory, for the default maximum of sessions and unsent replies. Answering takes memory as
/// well, which counts only once there is a reply.
const SHARE: u64 = 4;

/// Interval at which unused memory is returned.
const RETURN_INTERVAL: Duration = Duration::from_secs(1);
/// Length of a block for which the allocator maps memory of its own, in bytes.
const LARGE_BLOCK_BYTES: usize = 8 << 20;

/// Lets the allocator return unused memory to the machine, until the future is dropped. The allocator does so
/// when a thread frees a large block, which the threads of an idle server never do. No code writes to the
/// block, so that it takes no memory.
pub(super) async fn return_unused() -> Infallible {
    let mut interval = tokio::time::interval(RETURN_INTERVAL);
    loop {
        interval.tick().await;
        drop(black_box(Vec::<u8>::with_capacity(LARGE_BLOCK_BYTES)));
    }
}

/// Returns the default of `--max-bytes` on this machine.
pub(super) fn max_bytes() -> u64 {
    memory_bytes(Path::new("/")).map_or(MAX_BYTES, |bytes| MAX_BYTES.min(bytes / SHARE))
}

/// Returns the memory that a process may use, in bytes, from the files below `root`. None if they do not
/// state it.
fn memory_bytes(root: &Path) -> Option<u64> {
    let machine = fs::read_to_string(root.join("proc/meminfo")).ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1_024)
    });
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let bounds = groups.lines().filter_map(|line| {
        // The line is `0::/path` in version 2, and `5:memory:/path` in version 1.
        let mut parts = line.splitn(3, ':').skip(1);
        match (parts.next()?, parts.next()?) {
            ("", path) => find_lowest(&root.join("sys/fs/cgroup"), path, "memory.max"),
            (names, path) if names.split(',').any(|name| name == "memory") => {
                find_lowest(&root.join("sys/fs/cgroup/memory"), path, "memory.limit_in_bytes")
            }
            _ => None,
        }
    });
    machine.into_iter().chain(bounds).min()
}

/// Returns the lowest bound of a group and its ancestors. A container may see its own group as the root.
fn find_lowest(mounted: &Path, group: &str, file: &str) -> Option<u64> {
    let group = PathBuf::from(group.trim_start_matches('/'));
    let bound = |group: &Path| fs::read_to_string(mounted.join(group).join(file)).ok()?.trim().parse().ok();
    group.ancestors().filter_map(bound).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_group_bounds_what_the_machine_has() {
        let check = |files: &[(&str, &str)], expect: Option<u64>| {
            let root = tempfile::tempdir().unwrap();
            for (name, text) in files {
                let path = root.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            assert_eq!(memory_bytes(root.path()), expect, "{files:?}");
        };
        let machine = ("proc/meminfo", "MemTotal:        8000000 kB\nMemFree: 1 kB\n");
        let group = ("proc/self/cgroup", "0::/a/b\n");
        check(&[], None);
        check(&[machine], Some(8_192_000_000));
        check(&[machine, group, ("sys/fs/cgroup/a/b/memory.max", "max\n")], Some(8_192_000_000));
        check(&[machine, group, ("sys/fs/cgroup/a/memory.max", "4000\n")], Some(4_000));
        check(&[machine, group, ("sys/fs/cgroup/memory.max", "5000\n")], Some(5_000));
        let first = ("proc/self/cgroup", "7:cpu:/x\n5:memory:/a\n");
        check(&[machine, first, ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "6000\n")], Some(6_000));
        check(&[machine, ("proc/self/cgroup", "0::/../../a\n")], Some(8_192_000_000));
    }
}
