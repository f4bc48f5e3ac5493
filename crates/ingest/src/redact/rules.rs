//! The table of secrets with a known format: tokens with a prefix, headers, URLs, PEM blocks. Secrets that are only
//! recognizable by the name next to them are in `keys`.

use std::ops::Range;

use regex::Regex;

use super::{placeholder, values, words};

/// One kind of secret.
#[derive(Debug)]
pub(super) struct SecretRule {
    /// Used in the placeholder and in the counts.
    pub(super) name: &'static str,
    /// The pattern is tried only where one of these occurs, ignoring case.
    pub(super) triggers: &'static [&'static str],
    /// Matches from the start of the trigger.
    pattern: &'static str,
    /// The capture group that is the secret; 0 is the whole match.
    secret: usize,
    before: PrecedingText,
    check: SecretCheck,
}

impl SecretRule {
    /// Compiles the pattern, anchored at its start.
    #[expect(clippy::expect_used, reason = "the patterns are constants, and a test compiles them all")]
    pub(super) fn compile(&self) -> Regex {
        Regex::new(&format!("^(?:{})", self.pattern)).expect("the table holds valid patterns")
    }

    /// The secret of this rule whose trigger starts at `at`. `pattern` returns the result of `compile`.
    pub(super) fn find<'r>(&self, pattern: impl FnOnce() -> &'r Regex, text: &str, at: usize) -> Option<Range<usize>> {
        if !self.before.fits(&text.as_bytes()[..at]) {
            return None;
        }
        let pattern = pattern();
        let reach = match self.check {
            SecretCheck::Always => text.len(),
            _ => text.floor_char_boundary(at + MAX_MATCH_BYTES),
        };
        let near = &text[at..reach];
        // Most triggers in ordinary text fail here, without the allocation for capture groups.
        if !pattern.is_match(near) {
            return None;
        }
        let found = pattern.captures(near)?.get(self.secret)?.range();
        let range = at + found.start..at + found.end;
        if !self.check.passes(text, range.clone()) {
            return None;
        }
        let is_cut = range.end == reach;
        Some(if is_cut { range.start..end_of_run(text.as_bytes(), reach) } else { range })
    }
}

/// Maximum length of a match before its check. A check can fail, and the next trigger in the same run is then tried
/// too: without a limit, a long run full of triggers would take quadratic time.
const MAX_MATCH_BYTES: usize = 1024;

/// The end of a secret that extends past `from`.
fn end_of_run(bytes: &[u8], from: usize) -> usize {
    let is_inside = |b: &u8| b.is_ascii_alphanumeric() || b"+/=_-.~%".contains(b);
    from + bytes[from..].iter().take_while(|b| is_inside(b)).count()
}

/// What must come before the trigger.
#[derive(Debug, Clone, Copy)]
enum PrecedingText {
    Anything,
    /// Not a letter or digit, unless it belongs to an escape such as `\n` or `%3D`.
    Edge,
    Digit,
    /// The `?` or `&` of a URL query.
    Query,
}

impl PrecedingText {
    fn fits(self, before: &[u8]) -> bool {
        match (self, before) {
            (Self::Anything, _) | (Self::Edge, [] | [.., b'\\', b'n' | b'r' | b't'] | [.., b'%', _, _]) => true,
            (Self::Edge, [.., last]) => !last.is_ascii_alphanumeric(),
            (Self::Digit, [.., last]) => last.is_ascii_digit(),
            (Self::Query, [.., last]) => matches!(last, b'?' | b'&'),
            (Self::Digit | Self::Query, []) => false,
        }
    }
}

/// The check that a match must pass.
#[derive(Debug, Clone, Copy)]
enum SecretCheck {
    /// The pattern is sufficient. It must not read far and then fail.
    Always,
    /// Not a placeholder such as `xxxx` or `your-key`.
    Real,
    /// Also not made of words, as `sk-learn-estimator-html` is.
    Random,
    /// The value of a query parameter.
    Parameter,
    /// A password chosen by a human.
    Password,
    /// Base64 of `user:password`.
    Credentials,
    /// A password with `curl` shortly before it.
    AfterCurl,
}

impl SecretCheck {
    fn passes(self, text: &str, range: Range<usize>) -> bool {
        let value = &text[range.clone()];
        match self {
            Self::Always => true,
            Self::Real => !placeholder::is_placeholder(value),
            Self::Random => !placeholder::is_placeholder(value) && words::is_random(value),
            Self::Parameter => values::is_parameter(value),
            Self::Password => values::is_typed_password(value),
            Self::Credentials => values::is_basic_credentials(value),
            Self::AfterCurl => {
                let near = &text.as_bytes()[range.start.saturating_sub(400)..range.start];
                memchr::memmem::find(near, b"curl").is_some() && values::is_typed_password(value)
            }
        }
    }
}

/// One row of the table.
const fn rule(
    name: &'static str,
    triggers: &'static [&'static str],
    pattern: &'static str,
    secret: usize,
    before: PrecedingText,
    check: SecretCheck,
) -> SecretRule {
    SecretRule { name, triggers, pattern, secret, before, check }
}

use PrecedingText::{Anything, Digit, Edge, Query};
use SecretCheck::{AfterCurl, Always, Credentials, Parameter, Password, Random, Real};

/// All rules, the more specific first: if two match the same text, the first gives the name.
#[rustfmt::skip]
pub(super) const RULES: [SecretRule; 61] = [
    // name, triggers, pattern, capture group, what comes before, check
    rule("private-key", &["-----begin"], r"(?s)-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:\\+[nr]|[^A-Za-z]){1,40}(?:[A-Za-z0-9+/=]{16}|[A-Z][A-Za-z-]{2,12}: )(?:.*?-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|.*)", 0, Anything, Always),
    rule("age", &["age-secret-key-"], r"(?i)AGE-SECRET-KEY-(?:PQ-)?1[02-9AC-HJ-NP-Z]{50,}", 0, Anything, Real),

    // Models.
    rule("anthropic", &["sk-ant-"], r"sk-ant-[A-Za-z0-9_-]{16,}", 0, Edge, Real),
    rule("openrouter", &["sk-or-"], r"sk-or-(?:v\d-)?[A-Za-z0-9]{32,}", 0, Edge, Real),
    rule("openai", &["sk-"], r"sk-(?:proj-|svcacct-|admin-|None-)?[A-Za-z0-9_-]{20,}", 0, Edge, Random),
    rule("huggingface", &["hf_"], r"hf_[A-Za-z0-9]{30,}", 0, Edge, Real),
    rule("groq", &["gsk_"], r"gsk_[A-Za-z0-9]{40,}", 0, Edge, Real),
    rule("xai", &["xai-"], r"xai-[A-Za-z0-9]{40,}", 0, Edge, Real),
    rule("perplexity", &["pplx-"], r"pplx-[A-Za-z0-9]{32,}", 0, Edge, Real),
    rule("replicate", &["r8_"], r"r8_[A-Za-z0-9]{30,}", 0, Edge, Real),

    // Code hosts and package registries.
    rule("github", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"gh[pousr]_[A-Za-z0-9]{30,}", 0, Edge, Real),
    rule("github", &["github_pat_"], r"github_pat_[A-Za-z0-9_]{40,}", 0, Edge, Real),
    rule("gitlab", &["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-"], r"gl(?:pat|dt|rt|ptt|cbt|soat)-[A-Za-z0-9_.-]{19,}[A-Za-z0-9_-]", 0, Edge, Real),
    rule("npm", &["npm_"], r"npm_[A-Za-z0-9]{30,}", 0, Edge, Real),
    rule("pypi", &["pypi-"], r"pypi-[A-Za-z0-9_-]{50,}", 0, Edge, Random),
    rule("rubygems", &["rubygems_"], r"rubygems_[a-f0-9]{40,}", 0, Edge, Real),
    rule("docker", &["dckr_pat_"], r"dckr_pat_[A-Za-z0-9_-]{20,}", 0, Edge, Real),

    // Clouds.
    rule("aws-key-id", &["akia", "asia"], r"(?:AKIA|ASIA)[A-Z2-7]{16}(?-u:\b)", 0, Edge, Real),
    rule("aws-secret", &["secret_access_key", "secretaccesskey", "secret-access-key", "secret access key"], r#"(?i:secret[_ -]?access[_ -]?key)[\\"'`*\]]{0,6}\s{0,8}(?::=|=>|[:=]|\s)[\s*]{0,8}[\\"'`]{0,4}([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+]|$)"#, 1, Anything, Real),
    rule("google", &["aiza"], r"AIza[A-Za-z0-9_-]{35}", 0, Edge, Real),
    rule("google-oauth", &["ya29."], r"ya29\.[A-Za-z0-9_-]{20,}", 0, Edge, Real),
    rule("google-oauth", &["gocspx-"], r"GOCSPX-[A-Za-z0-9_-]{20,}", 0, Edge, Real),
    rule("google-oauth", &["1//0"], r"1//0[A-Za-z0-9_-]{30,}", 0, Edge, Random),
    rule("azure", &["accountkey=", "sharedaccesskey="], r"(?i:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{30,}={0,2})", 1, Anything, Real),
    rule("digitalocean", &["dop_v1_", "doo_v1_", "dor_v1_"], r"do[por]_v1_[a-f0-9]{40,}", 0, Edge, Real),
    rule("databricks", &["dapi"], r"dapi[a-f0-9]{32}(?:-\d)?(?-u:\b)", 0, Edge, Real),
    rule("vault", &["hvs.", "hvb."], r"hv[sb]\.[A-Za-z0-9_-]{24,}", 0, Edge, Random),
    rule("supabase", &["sbp_", "sb_secret_"], r"(?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,})", 0, Edge, Real),
    rule("grafana", &["glsa_", "glc_"], r"(?:glsa_[A-Za-z0-9_]{32,}|glc_[A-Za-z0-9+/]{32,}={0,2})", 0, Edge, Random),
    rule("tailscale", &["tskey-"], r"tskey-[a-z]{2,12}-[A-Za-z0-9-]{16,}", 0, Edge, Real),

    // Messages and mail.
    rule("slack", &["xoxa-", "xoxb-", "xoxe", "xoxp-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xapp-"], r"(?:xox[abcdeprs](?:\.xox[bp])?|xapp)-[A-Za-z0-9%-]{10,}", 0, Edge, Real),
    rule("slack-webhook", &["hooks.slack.com/"], r"(?i:hooks\.slack\.com)/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,})", 1, Anything, Random),
    rule("discord-webhook", &[".com/api/webhooks/"], r"(?i:\.com/api/webhooks)/\d{5,}/([A-Za-z0-9_-]{20,})", 1, Anything, Real),
    rule("telegram", &[":aa"], r":(AA[A-Za-z0-9_-]{33})(?:[^A-Za-z0-9_-]|$)", 1, Digit, Real),
    rule("sendgrid", &["sg."], r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,}", 0, Edge, Real),
    rule("mailgun", &["key-"], r"key-[a-f0-9]{32}(?-u:\b)", 0, Edge, Real),

    // Payments and shops.
    rule("stripe", &["sk_live_", "sk_test_", "rk_live_", "rk_test_"], r"[sr]k_(?:live|test)_[A-Za-z0-9]{10,}", 0, Edge, Real),
    rule("stripe", &["whsec_"], r"whsec_[A-Za-z0-9+/]{24,}={0,2}", 0, Edge, Real),
    rule("shopify", &["shpat_", "shpca_", "shppa_", "shpss_"], r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}", 0, Edge, Real),

    // Other services.
    rule("linear", &["lin_api_", "lin_oauth_"], r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}", 0, Edge, Real),
    rule("notion", &["ntn_"], r"ntn_[A-Za-z0-9]{40,}", 0, Edge, Real),
    rule("figma", &["figd_"], r"figd_[A-Za-z0-9_-]{30,}", 0, Edge, Real),
    rule("postman", &["pmak-"], r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}", 0, Edge, Real),
    rule("newrelic", &["nrak-"], r"NRAK-[A-Z0-9]{27}", 0, Edge, Real),
    rule("atlassian", &["atatt3"], r"ATATT3[A-Za-z0-9_=-]{40,}", 0, Edge, Real),
    rule("terraform", &[".atlasv1."], r"\.atlasv1\.[A-Za-z0-9_=-]{40,}", 0, Anything, Real),
    rule("sentry", &["sntrys_", "sntryu_"], r"sntry[su]_[A-Za-z0-9+/=_-]{40,}", 0, Edge, Real),

    // Formats that many services share.
    rule("jwt", &["eyj"], r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{10,}", 0, Edge, Always),
    rule("url-password", &["://"], r#"://[^\s/:@?#"'`<>\\\[\]]*:([^\s/"'`<>\\]+)@"#, 1, Anything, Password),
    rule("url-token", &["://"], r"://([A-Za-z0-9_.~-]{20,})@", 1, Anything, Random),
    rule("url-parameter", &["token=", "access_token=", "refresh_token=", "id_token=", "auth_token=", "api_key=", "apikey=", "api-key=", "client_secret=", "secret=", "password=", "passwd=", "pwd="], r#"[A-Za-z_-]{3,16}=([^&\s#"'`<>\\()\[\]{}|]{6,})"#, 1, Query, Parameter),
    rule("url-parameter", &["sig=", "signature=", "key=", "auth=", "session=", "jwt="], r#"[A-Za-z_-]{3,16}=([^&\s#"'`<>\\()\[\]{}|]{16,})"#, 1, Query, Random),
    rule("url-parameter", &["x-amz-s", "x-goog-s"], r"[A-Za-z-]{10,24}=([A-Za-z0-9%/+_-]{16,})", 1, Anything, Real),

    // Headers and command lines.
    rule("bearer", &["bearer"], r"(?i:bearer)(?:\s{1,4}|%20|\+)([A-Za-z0-9._~+/=-]{8,})", 1, Edge, Random),
    rule("basic", &["basic "], r"(?i:basic)\s{1,4}([A-Za-z0-9+/_-]{6,}={0,2})", 1, Edge, Credentials),
    rule("authorization", &["authorization"], r#"(?i:authorization)[\\"'`*\]]{0,6}\s{0,4}[:=,][\s*]{0,6}[\\"'`]{0,4}(?:(?i:bearer|token|apikey|api-key|key|negotiate|digest|bot)\s{1,4})?([A-Za-z0-9._~+/=:-]{8,})"#, 1, Anything, Random),
    rule("curl-user", &[" -u", " --user", " --proxy-user"], r#" (?:-u|--user|--proxy-user)[ =]{0,4}[\\"']{0,3}[^\s:"'`\\/@]{1,80}:([^\s"'`\\]+)"#, 1, Anything, AfterCurl),
    rule("sshpass", &["sshpass"], r#"sshpass\s{1,4}-p\s{0,4}[\\"']{0,3}([^\s"'\\]{3,})"#, 1, Edge, Password),
    rule("mysql", &["mysql"], r#"mysql(?:dump|admin)?\s(?:[^\n|;&]{0,120}?\s)?-p["']?([^\s"'\\]{4,})"#, 1, Edge, Password),
    rule("redis", &["redis-cli"], r#"redis-cli\s(?:[^\n|;&]{0,120}?\s)?-a\s{0,4}["']?([^\s"'\\]{4,})"#, 1, Edge, Password),
    rule("netrc", &["machine "], r#"machine\s{1,4}\S{1,80}\s{1,8}login\s{1,4}\S{1,80}\s{1,8}password\s{1,4}["']?([^\s"'\\]{4,})"#, 1, Edge, Password),
];
