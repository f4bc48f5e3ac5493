//! The user directories of Visual Studio Code and of the editors derived from it, in which extensions store their data.

use std::path::PathBuf;

use super::SourceConfig;

/// Names of the editors' folders in the directory for configuration.
const EDITORS: [&str; 6] = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf", "Code - OSS"];
/// The same on a machine that an editor is connected to.
const SERVERS: [&str; 5] =
    [".vscode-server", ".vscode-server-insiders", ".vscode-remote", ".cursor-server", ".windsurf-server"];

/// The user directories that exist, on Linux and macOS.
pub(crate) fn editor_user_dirs(source_config: &SourceConfig) -> Vec<PathBuf> {
    let home = &source_config.home;
    let config = source_config.env_var("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
    let places = [config, home.join("Library/Application Support")];
    let local = places.iter().flat_map(|place| EDITORS.iter().map(move |editor| place.join(editor).join("User")));
    let servers = SERVERS.iter().map(|server| home.join(server).join("data/User"));
    local.chain(servers).filter(|path| path.is_dir()).collect()
}

/// The folders with the data of an extension, in all editors that have it.
pub(crate) fn extension_dirs(source_config: &SourceConfig, extension: &str) -> Vec<PathBuf> {
    let folders = editor_user_dirs(source_config).into_iter().map(|user| user.join("globalStorage").join(extension));
    folders.filter(|path| path.is_dir()).collect()
}
