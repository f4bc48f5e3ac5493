//! Arguments of `admin …`: spaces, members, tokens, audit and retention of a shared memory.

use clap::{Args, Subcommand};
use rethread_model::{AccessScope, MemberName, Role, Space};

use super::{JsonArgs, values};

#[derive(Debug, Subcommand)]
pub(crate) enum AdminCommand {
    /// Create and list spaces.
    ///
    /// A space is the memory that the members of one team share. Rows of different spaces never mix.
    #[command(
        subcommand,
        arg_required_else_help = true,
        after_long_help = "Examples:\n  rethread admin space new acme\n  rethread admin space list"
    )]
    Space(AdminSpaceCommand),
    /// Add, list and revoke members.
    ///
    /// Each member signs in to the server with a token of its own.
    #[command(
        subcommand,
        arg_required_else_help = true,
        after_long_help = "Examples:\n  rethread admin member add alice --role admin --space acme\n  rethread admin member revoke bob"
    )]
    Member(AdminMemberCommand),
    /// List and revoke single tokens.
    ///
    /// Use it when one token was leaked; `rethread admin member rotate` replaces all tokens of a member.
    #[command(
        subcommand,
        arg_required_else_help = true,
        after_long_help = "Examples:\n  rethread admin token list\n  rethread admin token revoke 3f9a01c2d4e5"
    )]
    Token(AdminTokenCommand),
    /// Show who read or wrote what.
    ///
    /// Lists requests to the server and admin commands, newest first. Events are deleted after a year.
    #[command(after_long_help = "Examples:\n  rethread admin audit --member alice --since 7d --limit 50")]
    Audit(AdminAuditArgs),
    /// Show or set how long sessions are kept.
    ///
    /// Sessions without activity for DAYS days are forgotten by the server, with everything derived from them. `off`
    /// keeps all sessions, which is the default.
    #[command(
        after_long_help = "Examples:\n  rethread admin retention\n  rethread admin retention 365\n  rethread admin retention off"
    )]
    Retention(AdminRetentionArgs),
    /// Distribute the store over Citus nodes.
    ///
    /// Run it on the coordinator's database, after `rethread serve --migrate`: when Citus is set up, and after every
    /// migration. Each space is then stored on one node. Stop the servers first: a table that is distributed cannot be
    /// written. Tables that are distributed already are left alone.
    #[command(
        after_long_help = "Examples:\n  rethread admin distribute --store postgres://rethread@coordinator/memory --dry-run\n  rethread admin distribute --store postgres://rethread@coordinator/memory"
    )]
    Distribute(AdminDistributeArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminSpaceCommand {
    /// Create a new space.
    ///
    /// Add its first admin next, with `rethread admin member add`.
    #[command(after_long_help = "Examples:\n  rethread admin space new acme")]
    New {
        /// Name: 1 to 64 lower-case letters, digits and dashes
        #[arg(value_name = "NAME", value_parser = values::space)]
        name: Space,
        #[command(flatten)]
        json: JsonArgs,
    },
    /// List all spaces of the store.
    ///
    /// The space `local` of a single machine is listed only if it has members or a retention.
    #[command(after_long_help = "Examples:\n  rethread admin space list")]
    List(JsonArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminMemberCommand {
    /// Add a member and print its token.
    ///
    /// The token is shown only once; only its hash is stored. A revoked member can be added again. Roles: `reader` reads,
    /// `member` reads and writes, `admin` also manages members, `service` only writes (for CI).
    #[command(
        after_long_help = "Examples:\n  rethread admin member add alice --role admin\n  rethread admin member add ci --role service --expires 90"
    )]
    Add(AdminMemberAddArgs),
    /// List members and their roles.
    ///
    /// Revoked members are listed too, because the audit names them.
    #[command(after_long_help = "Examples:\n  rethread admin member list --space acme")]
    List(AdminArgs),
    /// Revoke a member and its tokens.
    ///
    /// Takes effect with the member's next request. Its sessions are kept. The last admin of a space cannot be revoked.
    #[command(after_long_help = "Examples:\n  rethread admin member revoke bob")]
    Revoke(AdminMemberNameArgs),
    /// Replace all tokens of a member.
    ///
    /// Prints the new token once. It may do what the old one could, and lives as long, unless you say otherwise.
    #[command(
        after_long_help = "Examples:\n  rethread admin member rotate alice\n  rethread admin member rotate ci --grace 60"
    )]
    Rotate(AdminMemberRotateArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminTokenCommand {
    /// List tokens without their secrets.
    ///
    /// Shows whose they are, what they may do, and when they were last used.
    #[command(after_long_help = "Examples:\n  rethread admin token list --space acme")]
    List(AdminArgs),
    /// Revoke one token at once.
    ///
    /// The id is the part after the space in the token, as `rethread admin token list` shows it.
    #[command(after_long_help = "Examples:\n  rethread admin token revoke 3f9a01c2d4e5")]
    Revoke {
        /// Id of the token
        id: String,
        #[command(flatten)]
        admin: AdminArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AdminArgs {
    /// Space to manage [default: local]
    #[arg(long, value_name = "NAME", value_parser = values::space)]
    pub(crate) space: Option<Space>,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AdminTokenTermsArgs {
    /// Let the token expire after DAYS days
    #[arg(long, value_name = "DAYS", value_parser = values::days())]
    pub(crate) expires: Option<u64>,
    /// Limit the token: read, write, admin, separated by commas
    #[arg(long, value_name = "ACCESS,…", value_parser = values::access_scope)]
    pub(crate) scope: Option<AccessScope>,
}

#[derive(Debug, Args)]
pub(crate) struct AdminMemberAddArgs {
    /// Name: 1 to 64 lower-case letters, digits and dashes
    #[arg(value_name = "NAME", value_parser = values::member_name)]
    pub(crate) name: MemberName,
    /// Role of the member
    #[arg(long, value_parser = values::member_role())]
    pub(crate) role: Role,
    #[command(flatten)]
    pub(crate) terms: AdminTokenTermsArgs,
    /// Allow at most N requests per minute
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) requests_per_minute: Option<u64>,
    /// Allow at most N bytes in one request
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub(crate) max_body_bytes: Option<u64>,
    /// Allow at most N bytes of requests per day
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 50))]
    pub(crate) max_bytes_per_day: Option<u64>,
    #[command(flatten)]
    pub(crate) admin: AdminArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AdminMemberNameArgs {
    /// Name of the member
    #[arg(value_name = "NAME", value_parser = values::member_name)]
    pub(crate) name: MemberName,
    #[command(flatten)]
    pub(crate) admin: AdminArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AdminMemberRotateArgs {
    /// Name of the member
    #[arg(value_name = "NAME", value_parser = values::member_name)]
    pub(crate) name: MemberName,
    #[command(flatten)]
    pub(crate) terms: AdminTokenTermsArgs,
    /// Let old tokens work for MINUTES more minutes
    #[arg(long, value_name = "MINUTES", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=43_200))]
    pub(crate) grace: u64,
    #[command(flatten)]
    pub(crate) admin: AdminArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AdminAuditArgs {
    /// Show only events of this member
    #[arg(long, value_name = "NAME", value_parser = values::member_name)]
    pub(crate) member: Option<MemberName>,
    /// Show only events since then: 30d, 12h, 2026-02-20 or RFC 3339
    #[arg(long, value_name = "TIME", value_parser = values::since)]
    pub(crate) since: Option<values::SinceValue>,
    /// Show only events with a smaller number, for the next page
    #[arg(long, value_name = "NUMBER")]
    pub(crate) before: Option<u64>,
    /// Show at most N events
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = values::limit())]
    pub(crate) limit: u16,
    #[command(flatten)]
    pub(crate) admin: AdminArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AdminRetentionArgs {
    /// Number of days, or `off`; without it, the current value is shown
    #[arg(value_name = "DAYS|off", value_parser = values::retention)]
    pub(crate) days: Option<values::RetentionValue>,
    #[command(flatten)]
    pub(crate) admin: AdminArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AdminDistributeArgs {
    /// Show the statements and run none
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

impl AdminCommand {
    /// Whether `--json` was given.
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            Self::Space(AdminSpaceCommand::New { json, .. } | AdminSpaceCommand::List(json))
            | Self::Member(
                AdminMemberCommand::Add(AdminMemberAddArgs { admin: AdminArgs { json, .. }, .. })
                | AdminMemberCommand::List(AdminArgs { json, .. })
                | AdminMemberCommand::Revoke(AdminMemberNameArgs { admin: AdminArgs { json, .. }, .. })
                | AdminMemberCommand::Rotate(AdminMemberRotateArgs { admin: AdminArgs { json, .. }, .. }),
            )
            | Self::Token(
                AdminTokenCommand::List(AdminArgs { json, .. })
                | AdminTokenCommand::Revoke { admin: AdminArgs { json, .. }, .. },
            )
            | Self::Distribute(AdminDistributeArgs { json, .. })
            | Self::Audit(AdminAuditArgs { admin: AdminArgs { json, .. }, .. })
            | Self::Retention(AdminRetentionArgs { admin: AdminArgs { json, .. }, .. }) => json.json,
        }
    }
}
