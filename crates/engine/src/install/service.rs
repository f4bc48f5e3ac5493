//! The server as a service of the user: one file of ours that systemd, or launchd on a Mac, reads.

use std::path::PathBuf;

use super::change::Plan;
use super::{InstallError, MARK, is_ours, unwanted, wanted};
use crate::Engine;

/// Whether services are launchd's here, and not systemd's.
const IS_MAC: bool = cfg!(target_os = "macos");
/// What launchd calls it.
const LABEL: &str = "dev.rethread.serve";

impl Engine {
    /// The service as it should be.
    pub(super) fn plan_service(&self, binary: &str) -> Result<Plan, InstallError> {
        let home = self.folder.display().to_string();
        let text = if IS_MAC { property_list(binary, &home) } else { unit(binary, &home) };
        wanted(vec![(self.service_file(), text)], is_ours)
    }

    /// Without it.
    pub(super) fn plan_no_service(&self) -> Result<Plan, InstallError> {
        let file = self.service_file();
        // The folder is the system's: it stays, even when it is empty.
        let folder = file.parent().map_or_else(PathBuf::new, PathBuf::from);
        unwanted(vec![file], &folder, is_ours)
    }

    /// The file that systemd or launchd reads.
    fn service_file(&self) -> PathBuf {
        let home = &self.environment.home;
        if IS_MAC {
            return home.join("Library/LaunchAgents").join(format!("{LABEL}.plist"));
        }
        let surroundings = self.surroundings();
        let config = surroundings.variable("XDG_CONFIG_HOME").map(|folder| surroundings.expand(folder));
        config.unwrap_or_else(|| home.join(".config")).join("systemd/user/rethread.service")
    }
}

/// For systemd.
fn unit(binary: &str, home: &str) -> String {
    let (binary, home) = (in_unit(binary), in_unit(home));
    format!(
        "# {MARK}; `rethread uninstall service` removes it.\n\
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

/// A word as systemd reads it: quoted, and nothing in it means anything else.
fn in_unit(word: &str) -> String {
    let word = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    format!("\"{word}\"")
}

/// For launchd.
fn property_list(binary: &str, home: &str) -> String {
    let (binary, home) = (in_xml(binary), in_xml(home));
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- {MARK}; `rethread uninstall service` removes it. -->
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

fn in_xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t21_a_path_stays_one_word_whatever_is_in_it() {
        let unit = unit("/opt/a b/re\"thread", "/home/dev/100% $HOME \\x");
        assert!(
            unit.contains(r#"ExecStart="/opt/a b/re\"thread" --home "/home/dev/100%% $$HOME \\x" serve"#),
            "{unit}"
        );
        assert!(is_ours(&unit));
    }

    #[test]
    fn a_property_list_is_ours_and_well_formed() {
        let list = property_list("/opt/a&b", "/home/<dev>");
        assert!(list.contains("<string>/opt/a&amp;b</string>") && list.contains("<string>/home/&lt;dev&gt;</string>"));
        assert!(is_ours(&list));
        // Umask is written in decimal: nobody else may read what the server writes.
        assert!(list.contains("<integer>63</integer>") && 63 == 0o077);
    }
}
