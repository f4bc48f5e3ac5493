//! Installs the server as a user service: one systemd unit, or a launchd property list on macOS.

use std::path::PathBuf;

use super::file_change::InstallPlan;
use super::{FILE_MARKER, InstallError, has_marker, plan_file_removal, plan_files};
use crate::install::InstallService;

/// Whether to use launchd instead of systemd.
const IS_MAC: bool = cfg!(target_os = "macos");
/// The launchd label.
const LABEL: &str = "dev.rethread.serve";

impl InstallService<'_> {
    /// Plans writing the service file.
    pub(super) fn plan_service(self, binary: &str) -> Result<InstallPlan, InstallError> {
        let home = self.engine.folder.display().to_string();
        let text = if IS_MAC { launchd_plist(binary, &home) } else { systemd_unit(binary, &home) };
        plan_files(vec![(self.service_file(), text)], has_marker)
    }

    /// Plans removing the service file.
    pub(super) fn plan_remove_service(self) -> Result<InstallPlan, InstallError> {
        let file = self.service_file();
        // The folder belongs to the system and stays even if it is empty.
        let folder = file.parent().map_or_else(PathBuf::new, PathBuf::from);
        plan_file_removal(vec![file], &folder, has_marker)
    }

    fn service_file(self) -> PathBuf {
        let home = &self.engine.environment.home;
        if IS_MAC {
            return home.join("Library/LaunchAgents").join(format!("{LABEL}.plist"));
        }
        let surroundings = self.engine.source_config();
        let config = surroundings.env_var("XDG_CONFIG_HOME").map(|folder| surroundings.expand_home(folder));
        config.unwrap_or_else(|| home.join(".config")).join("systemd/user/rethread.service")
    }
}

/// The systemd unit.
fn systemd_unit(binary: &str, home: &str) -> String {
    let (binary, home) = (quote_for_systemd(binary), quote_for_systemd(home));
    format!(
        "# {FILE_MARKER}; `rethread uninstall service` removes it.\n\
         [Unit]\n\
         Description=Rethread, session memory for coding agents\n\
         \n\
         [Service]\n\
         ExecStart={binary} --home {home} serve\n\
         Restart=on-failure\n\
         UMask=0077\n\
         NoNewPrivileges=yes\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n"
    )
}

/// Quotes a word for a systemd unit and escapes specifiers and variables.
fn quote_for_systemd(word: &str) -> String {
    let word = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    format!("\"{word}\"")
}

/// The launchd property list.
fn launchd_plist(binary: &str, home: &str) -> String {
    let (binary, home) = (escape_xml(binary), escape_xml(home));
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- {FILE_MARKER}; `rethread uninstall service` removes it. -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
    <key>Label</key>
    <string>{LABEL}</string>
    <key>ProgramArguments</key>
    <array>
        <string>{binary}</string>
        <string>--home</string>
        <string>{home}</string>
        <string>serve</string>
    </array>
    <key>RunAtLoad</key>
    <true/>
    <key>KeepAlive</key>
    <dict>
        <key>SuccessfulExit</key>
        <false/>
    </dict>
    <key>Umask</key>
    <integer>63</integer>
</dict>
</plist>
"#
    )
}

fn escape_xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_one_word_whatever_it_contains() {
        // T21
        let unit = systemd_unit("/opt/a b/re\"thread", "/home/dev/100% $HOME \\x");
        assert!(
            unit.contains(r#"ExecStart="/opt/a b/re\"thread" --home "/home/dev/100%% $$HOME \\x" serve"#),
            "{unit}"
        );
        assert!(has_marker(&unit));
    }

    #[test]
    fn a_property_list_is_marked_and_escaped() {
        let list = launchd_plist("/opt/a&b", "/home/<dev>");
        assert!(list.contains("<string>/opt/a&amp;b</string>") && list.contains("<string>/home/&lt;dev&gt;</string>"));
        assert!(has_marker(&list));
        // Umask is written in decimal; only the user may read the server's files.
        assert!(list.contains("<integer>63</integer>") && 63 == 0o077);
    }
}
