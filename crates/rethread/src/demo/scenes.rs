//! What the demo shows, in order.

/// One thing that Rethread does.
pub(super) struct Scene {
    pub(super) title: &'static str,
    /// What happens, one line each.
    pub(super) caption: &'static [&'static str],
    pub(super) commands: &'static [&'static [&'static str]],
    /// How long it takes to read, before the next scene starts by itself.
    pub(super) seconds: u8,
}

pub(super) const SCENES: [Scene; 5] = [
    Scene {
        title: "Two agents work on one project",
        caption: &[
            "Claude Code fixes the rounding of discounts. At the same time, pi writes a test for coupons.",
            "Rethread reads the transcripts that both write anyway.",
        ],
        commands: &[&["sync"], &["sessions", "--all-projects", "--limit", "5"]],
        seconds: 12,
    },
    Scene {
        title: "Each agent learns what the other did",
        caption: &["The hook adds this to Claude Code's next prompt:"],
        commands: &[&["inject", "--session", "rounding of discounts", "--prompt", "Now the release notes."]],
        seconds: 12,
    },
    Scene {
        title: "An error that was fixed before",
        caption: &["Another session runs into the same error. What fixed it before, and what proves that it did:"],
        commands: &[&["fix", "error[E0432]: unresolved import `shop::coupon::redeem`", "--all-projects"]],
        seconds: 12,
    },
    Scene {
        title: "See what changed",
        caption: &["Diffs and command output come from the transcript when you ask for them."],
        commands: &[&["show", "rounding of discounts:11", "--lines", "5", "--full"]],
        seconds: 15,
    },
    Scene {
        title: "Find the reason again",
        caption: &["Search and questions answer with the lines they come from."],
        commands: &[
            &["search", "--all-projects", "--limit", "2", "why one cent too high?"],
            &["decisions", "--all-projects", "cents"],
        ],
        seconds: 12,
    },
];
