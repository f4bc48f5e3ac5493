//! The kinds of failures, with their codes in JSON, exit codes and HTTP statuses.

/// The kind of a failure. Each has a stable code, an exit code and an HTTP status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    Usage,
    UnknownReference,
    AmbiguousReference,
    UnknownAgent,
    NotFound,
    InvalidConfig,
    InvalidTime,
    NoHome,
    HomeUnusable,
    ConfigFile,
    InvalidSettings,
    SettingsFile,
    StoreLocked,
    StoreDisk,
    StoreDamaged,
    StoreNewer,
    StoreOutdated,
    /// Two stores that should have the same rows do not.
    StoreDiffers,
    /// The server of the store cannot be reached.
    StoreUnavailable,
    Index,
    Watch,
    Serve,
    /// The request does not match what the route accepts.
    BadRequest,
    UnknownPath,
    Unauthorized,
    /// The `Host` or `Origin` of a request is not allowed.
    Forbidden,
    InvalidContent,
    UnknownToolCall,
    NotAThread,
    SessionEnded,
    TooLarge,
    QueueFull,
    ThreadExists,
    TurnLost,
    ClientIdTaken,
    CardBusy,
    /// What exists already does not allow it.
    Conflict,
    ThreadDisk,
    Stopped,
    NoModel,
    Budget,
    Model,
    Output,
    /// Another program cannot be started.
    Launch,
    /// The reader of our output closed it, for example `head`. Not an error.
    ClosedPipe,
    Internal,
}

impl FailureKind {
    /// The code in JSON. Part of the public contract.
    pub(crate) const fn code(self) -> &'static str {
        self.row().0
    }

    /// The exit code of the process: 2 for mistakes of the caller, 3 for the environment (disk, network, locks), 70 for
    /// bugs in rethread, 130 for Ctrl-C.
    pub(crate) const fn exit_code(self) -> u8 {
        self.row().1
    }

    /// The HTTP status: 4xx for mistakes of the caller and for what the configuration does not allow, 502 for models,
    /// 503 for store and disk, 500 only for bugs.
    pub(crate) const fn http_status(self) -> u16 {
        self.row().2
    }

    /// Code, exit code and HTTP status of a kind.
    const fn row(self) -> (&'static str, u8, u16) {
        match self {
            FailureKind::Usage => ("usage", 2, 400),
            FailureKind::UnknownReference => ("unknown-reference", 2, 404),
            FailureKind::AmbiguousReference => ("ambiguous-reference", 2, 409),
            FailureKind::UnknownAgent => ("unknown-agent", 2, 400),
            FailureKind::NotFound => ("not-found", 2, 404),
            FailureKind::InvalidConfig => ("bad-config", 2, 409),
            FailureKind::InvalidTime => ("bad-time", 2, 400),
            FailureKind::NoHome => ("no-home", 3, 503),
            FailureKind::HomeUnusable => ("home-unusable", 3, 503),
            FailureKind::ConfigFile => ("config-file", 3, 503),
            FailureKind::InvalidSettings => ("bad-settings", 2, 409),
            FailureKind::SettingsFile => ("settings-file", 3, 503),
            FailureKind::StoreLocked => ("store-locked", 3, 503),
            FailureKind::StoreDisk => ("store-disk", 3, 503),
            FailureKind::StoreDamaged => ("store-damaged", 3, 503),
            FailureKind::StoreNewer => ("store-newer", 3, 503),
            FailureKind::StoreOutdated => ("store-outdated", 3, 503),
            FailureKind::StoreDiffers => ("store-differs", 3, 503),
            FailureKind::StoreUnavailable => ("store-unavailable", 3, 503),
            FailureKind::Index => ("index", 3, 503),
            FailureKind::Watch => ("watch", 3, 503),
            FailureKind::Serve => ("serve", 3, 503),
            FailureKind::BadRequest => ("bad-request", 2, 400),
            FailureKind::UnknownPath => ("unknown-path", 2, 404),
            FailureKind::Unauthorized => ("unauthorized", 2, 401),
            FailureKind::Forbidden => ("forbidden", 2, 403),
            FailureKind::InvalidContent => ("bad-content", 2, 400),
            FailureKind::UnknownToolCall => ("unknown-tool-call", 2, 409),
            FailureKind::NotAThread => ("not-a-thread", 2, 409),
            FailureKind::SessionEnded => ("session-ended", 2, 409),
            FailureKind::TooLarge => ("too-large", 2, 413),
            FailureKind::QueueFull => ("queue-full", 3, 429),
            FailureKind::ThreadExists => ("thread-exists", 2, 409),
            FailureKind::TurnLost => ("turn-lost", 3, 409),
            FailureKind::ClientIdTaken => ("client-id-taken", 2, 409),
            FailureKind::CardBusy => ("card-busy", 3, 409),
            FailureKind::Conflict => ("conflict", 2, 409),
            FailureKind::ThreadDisk => ("thread-disk", 3, 503),
            FailureKind::Stopped => ("stopped", 130, 409),
            FailureKind::NoModel => ("no-model", 2, 409),
            FailureKind::Budget => ("budget", 2, 409),
            FailureKind::Model => ("model", 3, 502),
            FailureKind::Output => ("output", 3, 503),
            FailureKind::Launch => ("launch", 3, 503),
            FailureKind::ClosedPipe => ("closed-pipe", 0, 503),
            FailureKind::Internal => ("internal-error", 70, 500),
        }
    }
}
