//! Where Zed stores its threads.

use std::path::PathBuf;

use crate::source::SourceConfig;

/// Zed's data directory.
pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    let mut homes = homes(source_config);
    let used = homes.iter().position(|(home, _)| home.is_dir()).unwrap_or_default();
    homes.swap_remove(used).0
}

/// The databases: of Linux, of Flatpak, of macOS.
pub(super) fn databases(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    homes(source_config).into_iter().map(|(home, reason)| (home.join("threads/threads.db"), reason)).collect()
}

fn homes(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let home = &source_config.home;
    let default = "default location";
    let mut homes = vec![match source_config.env_var("XDG_DATA_HOME") {
        Some(folder) => (source_config.expand_home(folder).join("zed"), "XDG_DATA_HOME"),
        None => (home.join(".local/share/zed"), default),
    }];
    if let Some(folder) = source_config.env_var("FLATPAK_XDG_DATA_HOME") {
        homes.push((source_config.expand_home(folder).join("zed"), "FLATPAK_XDG_DATA_HOME"));
    }
    homes.push((home.join(".var/app/dev.zed.Zed/data/zed"), default));
    homes.push((home.join("Library/Application Support/Zed"), default));
    homes
}
