//! How much memory can be had: what the system has free, and what limits on this process leave of it.

/// Bytes that can be had without swapping, as far as the system tells: memory that is free or holds only copies of files,
/// the limits of control groups (both versions, of all groups above too), and that of the address space (ulimit -v).
pub fn available_memory() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let free = read("/proc/meminfo").and_then(|text| kilobytes(&text, "MemAvailable:"));
    let groups = read("/proc/self/cgroup").map_or(vec![], |text| groups(&text));
    let of_groups = groups.iter().filter_map(|group| left(group, &read));
    let addresses = read("/proc/self/limits").zip(read("/proc/self/status")).and_then(|(limits, status)| {
        let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
        let most: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
        Some(most.saturating_sub(kilobytes(&status, "VmSize:")?))
    });
    free.into_iter().chain(of_groups).chain(addresses).min()
}

/// A figure that a file of the system gives in kB.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// A control group: its folder, and the names of its files.
struct Group {
    folder: String,
    limit: &'static str,
    used: &'static str,
    reclaimable: &'static str,
}

/// The groups of this process, with those above them.
fn groups(text: &str) -> Vec<Group> {
    let mut all = vec![];
    for line in text.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let (root, [limit, used, reclaimable]) = match controllers {
            "" => ("/sys/fs/cgroup", ["memory.max", "memory.current", "inactive_file"]),
            other if other.split(',').any(|name| name == "memory") => (
                "/sys/fs/cgroup/memory",
                ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"],
            ),
            _ => continue,
        };
        // In a container the path may be that of the host: then the root is the group itself.
        let above = std::path::Path::new(path).ancestors();
        let paths =
            above.map(|path| format!("{root}/{}", path.display().to_string().trim_start_matches('/')));
        all.extend(paths.map(|folder| Group { folder, limit, used, reclaimable }));
    }
    all
}

/// What a group's limit leaves. Copies of files count as used there, but are given up when memory is needed.
fn left(group: &Group, read: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    let file = |name: &str| read(&format!("{}/{name}", group.folder));
    let limit: u64 = file(group.limit)?.trim().parse().ok()?;
    let used: u64 = file(group.used)?.trim().parse().ok()?;
    let of_files = file("memory.stat").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix(group.reclaimable))?;
        line.trim().parse::<u64>().ok()
    });
    Some(limit.saturating_sub(used.saturating_sub(of_files.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_both_kinds_of_groups_count_and_copies_of_files_do_not() {
        let files = |path: &str| -> Option<String> {
            Some(match path {
                "/sys/fs/cgroup/a/b/memory.max" => "max\n".into(),
                "/sys/fs/cgroup/a/memory.max" => "1000\n".into(),
                "/sys/fs/cgroup/a/memory.current" => "700\n".into(),
                "/sys/fs/cgroup/a/memory.stat" => "anon 300\ninactive_file 400\n".into(),
                "/sys/fs/cgroup/memory/c/memory.limit_in_bytes" => "5000\n".into(),
                "/sys/fs/cgroup/memory/c/memory.usage_in_bytes" => "1500\n".into(),
                _ => return None,
            })
        };
        let least = |text: &str| groups(text).iter().filter_map(|group| left(group, &files)).min();
        assert_eq!(least("0::/a/b\n"), Some(700));
        assert_eq!(least("7:cpu:/c\n3:hugetlb,memory:/c\n"), Some(3500));
        assert_eq!(least("0::/elsewhere\n"), None);
        assert_eq!(kilobytes("MemTotal: 9 kB\nMemAvailable:   12 kB\n", "MemAvailable:"), Some(12288));
    }
}
