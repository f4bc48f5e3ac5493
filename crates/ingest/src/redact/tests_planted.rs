//! Plants a secret of every rule in prose, shell, JSON, YAML and URLs, and checks that it is removed.

use super::rule_table::RULES;
use super::tests::{BASE62, random, redact};
use super::tests_tokens::SecretPart::{Lit, Rnd};
use super::tests_tokens::{BASE64, HEX, LOWER, SecretPart, TOKENS, UPPER, URL_SAFE, UUID, build_secret};

/// Secrets that are recognizable by their context: the rule, and the text with `@@` in place of the secret.
const IN_CONTEXT: &[(&str, &str, &[SecretPart])] = &[
    ("aws-secret", "aws_secret_access_key = @@", &[Rnd(BASE64, 40)]),
    ("aws-secret", "AWS_SECRET_ACCESS_KEY=@@", &[Rnd(BASE64, 40)]),
    ("aws-secret", "{\"SecretAccessKey\": \"@@\"}", &[Rnd(BASE64, 40)]),
    ("aws-secret", "secret-access-key: @@", &[Rnd(BASE64, 40)]),
    ("aws-secret", "Secret access key: @@", &[Rnd(BASE64, 40)]),
    ("azure", "DefaultEndpointsProtocol=https;AccountKey=@@;EndpointSuffix=x", &[Rnd(BASE64, 86), Lit("==")]),
    ("azure", "Endpoint=sb://x.net/;SharedAccessKey=@@", &[Rnd(BASE64, 43), Lit("=")]),
    (
        "slack-webhook",
        "https://hooks.slack.com/services/@@",
        &[Lit("T"), Rnd(UPPER, 9), Lit("/B"), Rnd(UPPER, 9), Lit("/"), Rnd(BASE62, 24)],
    ),
    ("discord-webhook", "https://discord.com/api/webhooks/123456789012345678/@@", &[Rnd(URL_SAFE, 68)]),
    ("telegram", "https://api.telegram.org/bot123456789:@@/getMe", &[Lit("AA"), Rnd(URL_SAFE, 33)]),
    ("terraform", "token abcdefgh12345a@@ next", &[Lit(".atlasv1."), Rnd(BASE62, 67)]),
    ("url-password", "DATABASE_URL=postgres://app:@@@db.internal:5432/app", &[Lit("s3"), Rnd(BASE62, 12)]),
    ("url-password", "redis://:@@@cache:6379/0", &[Lit("correct-horse-"), Rnd(BASE62, 4)]),
    ("url-password", "mongodb+srv://me:@@@cluster0.mongodb.net", &[Lit("letmein")]),
    ("url-token", "git clone https://@@@github.com/o/r", &[Rnd(HEX, 40)]),
    ("url-parameter", "GET https://x.io/a?token=@@&b=1", &[Lit("q"), Rnd(BASE62, 9), Lit("7")]),
    ("url-parameter", "https://x.io/a?b=1&access_token=@@#top", &[Rnd(BASE62, 30)]),
    ("url-parameter", "https://x.io/a?refresh_token=@@", &[Rnd(BASE62, 30)]),
    ("url-parameter", "https://x.io/a?id_token=@@", &[Rnd(BASE62, 30)]),
    ("url-parameter", "https://x.io/a?auth_token=@@", &[Rnd(BASE62, 30)]),
    ("url-parameter", "https://x.io/a?api_key=@@", &[Rnd(HEX, 32)]),
    ("url-parameter", "https://x.io/a?apikey=@@", &[Rnd(HEX, 32)]),
    ("url-parameter", "https://x.io/a?api-key=@@", &[Rnd(HEX, 32)]),
    ("url-parameter", "https://x.io/a?client_secret=@@", &[Rnd(BASE62, 30)]),
    ("url-parameter", "https://x.io/a?secret=@@", &[Rnd(BASE62, 30)]),
    ("url-parameter", "https://x.io/a?password=@@", &[Lit("hunter2")]),
    ("url-parameter", "https://x.io/a?passwd=@@", &[Lit("hunter2")]),
    ("url-parameter", "https://x.io/a?pwd=@@", &[Lit("hunter2")]),
    ("url-parameter", "https://x.blob.core.windows.net/c/f?se=2030&sig=@@", &[Rnd(BASE62, 40), Lit("%3D")]),
    ("url-parameter", "https://x.io/a?signature=@@", &[Rnd(HEX, 64)]),
    ("url-parameter", "https://maps.x.io/a?key=@@", &[Rnd(BASE62, 39)]),
    ("url-parameter", "wss://x.io/a?auth=@@", &[Rnd(BASE62, 30)]),
    ("url-parameter", "https://x.io/a?session=@@", &[Rnd(BASE62, 30)]),
    ("url-parameter", "https://x.io/a?jwt=@@", &[Rnd(BASE62, 60)]),
    ("url-parameter", "https://b.s3.amazonaws.com/k?X-Amz-Signature=@@", &[Rnd(HEX, 64)]),
    ("url-parameter", "https://storage.googleapis.com/k?X-Goog-Signature=@@", &[Rnd(HEX, 128)]),
    ("bearer", "curl -H 'Authorization: Bearer @@' https://x.io", &[Rnd(BASE62, 22)]),
    ("bearer", "{\\\"authorization\\\": \\\"bearer @@\\\"}", &[Rnd(HEX, 40)]),
    ("basic", "Authorization: Basic @@", &[Lit("dXNlcjpodW50"), Lit("ZXIy")]),
    ("authorization", "Authorization: token @@", &[Rnd(HEX, 40)]),
    ("authorization", "\"Authorization\": \"@@\"", &[Rnd(BASE62, 22)]),
    ("curl-user", "curl -u admin:@@ https://x.io", &[Lit("letmein")]),
    ("curl-user", "curl -s \\\n  --user \"me:@@\" https://x.io", &[Lit("s3cret!")]),
    ("curl-user", "curl --proxy-user me:@@ https://x.io", &[Lit("s3cret!")]),
    ("azure-ad", "client 12_8Q~@@ next", &[Rnd(BASE62, 34)]),
    ("kubernetes", "    client-key-data: @@", &[Rnd(BASE62, 120), Lit("==")]),
    ("kubernetes", "    client-certificate-data: @@", &[Rnd(BASE62, 120), Lit("==")]),
    (
        "teams-webhook",
        "https://acme.webhook.office.com/webhookb2/x@y/IncomingWebhook/@@",
        &[Rnd(HEX, 32), Lit("/"), Rnd(UUID, 36)],
    ),
    ("cookie", "Cookie: @@", &[Lit("theme=dark; sid="), Rnd(BASE62, 32), Lit("; lang=en")]),
    ("cookie", "set-cookie: @@; HttpOnly", &[Lit("id="), Rnd(HEX, 32)]),
    ("cookie", "curl --cookie '@@' https://x.io", &[Lit("s="), Rnd(HEX, 40)]),
    ("cookie", "PHPSESSID=@@", &[Rnd(LOWER, 26)]),
    ("cookie", "JSESSIONID=@@; Path=/", &[Rnd(UPPER, 32)]),
    ("cookie", "connect.sid=@@", &[Lit("s%3A"), Rnd(BASE62, 32), Lit("."), Rnd(BASE62, 40)]),
    ("cookie", "ASP.NET_SessionId=@@", &[Rnd(LOWER, 24)]),
    ("cookie", "laravel_session=@@", &[Lit("eyJpdiI6"), Rnd(BASE62, 90)]),
    ("cookie", "_gitlab_session=@@", &[Rnd(HEX, 32)]),
    ("cookie", "_session_id=@@", &[Rnd(HEX, 32)]),
    ("cookie", "next-auth.session-token=@@", &[Rnd(BASE62, 60)]),
    ("cookie", "authjs.session-token=@@", &[Rnd(BASE62, 60)]),
    ("cookie", "sessionid=@@", &[Rnd(LOWER, 32)]),
    ("cookie", "csrftoken=@@", &[Rnd(BASE62, 32)]),
    ("cookie", "remember_user_token=@@", &[Rnd(BASE62, 60)]),
    ("docker-login", "docker login -u me -p @@ registry.x.io", &[Lit("letmein")]),
    ("docker-login", "podman login --username me --password=@@ x.io", &[Lit("letmein")]),
    ("docker-login", "helm registry login x.io -u me -p '@@'", &[Lit("letmein")]),
    ("docker-login", "buildah login -p @@ x.io", &[Lit("letmein")]),
    ("docker-login", "oras login x.io -p @@", &[Lit("letmein")]),
    ("docker-login", "crane auth login x.io -u me -p @@", &[Lit("letmein")]),
    ("docker-login", "nerdctl login -p @@ x.io", &[Lit("letmein")]),
    ("login", "az login --service-principal -u app -p @@ --tenant t", &[Lit("letmein")]),
    ("login", "mongosh -u root -p @@ x", &[Lit("letmein")]),
    ("login", "mongodump -u root -p @@ x", &[Lit("letmein")]),
    ("login", "mongorestore -u root -p @@ x", &[Lit("letmein")]),
    ("login", "mosquitto_pub -u me -P @@ -t x", &[Lit("letmein")]),
    ("login", "mosquitto_sub -u me -P @@ -t x", &[Lit("letmein")]),
    ("login", "keytool -list -keystore x.jks -storepass @@", &[Lit("letmein")]),
    ("login", "jarsigner -keystore x.jks -storepass @@ a.jar", &[Lit("letmein")]),
    ("htpasswd", "htpasswd -b .htpasswd admin @@", &[Lit("letmein")]),
    ("htpasswd", "htpasswd -nbB admin @@ and so on", &[Lit("letmein")]),
    ("htpasswd", "htpasswd -cb .htpasswd admin @@ && ls", &[Lit("letmein")]),
    ("http-auth", "http -a admin:@@ x.io", &[Lit("letmein")]),
    ("http-auth", "http --auth admin:@@ x.io", &[Lit("letmein")]),
    ("http-auth", "https -a admin:@@ x.io", &[Lit("letmein")]),
    ("http-auth", "xh -a admin:@@ x.io", &[Lit("letmein")]),
    ("wget", "wget --http-user=me --http-password=@@ x.io", &[Lit("letmein")]),
    ("wget", "wget --ftp-password=@@ x.io", &[Lit("letmein")]),
    ("wget", "wget --proxy-password=@@ x.io", &[Lit("letmein")]),
    ("smb", "smbclient //host/share -U me%@@", &[Lit("letmein")]),
    ("smb", "rpcclient -U me%@@ host", &[Lit("letmein")]),
    ("ldap", "ldapsearch -x -D cn=admin -w @@ -b dc=x", &[Lit("letmein")]),
    ("ldap", "ldapadd -x -w @@", &[Lit("letmein")]),
    ("ldap", "ldapmodify -x -w @@", &[Lit("letmein")]),
    ("ldap", "ldapwhoami -x -w @@", &[Lit("letmein")]),
    ("ldap", "ldapdelete -x -w @@", &[Lit("letmein")]),
    ("sqlcmd", "sqlcmd -S db -U sa -P @@ -Q x", &[Lit("letmein")]),
    ("sqlcmd", "bcp t in f -U sa -P @@", &[Lit("letmein")]),
    ("archive", "zip -r -P @@ a.zip dir", &[Lit("letmein")]),
    ("archive", "7z a -p@@ a.7z dir", &[Lit("letmein")]),
    ("openssl", "openssl rsa -passin pass:@@ -in k", &[Lit("letmein")]),
    ("openssl", "openssl rsa -passout pass:@@ -in k", &[Lit("letmein")]),
    ("openssl", "openssl enc -pass pass:@@ -in k", &[Lit("letmein")]),
    ("sudo", "sudo -S ls <<< '@@'", &[Lit("letmein")]),
    ("sudo", "chpasswd <<< 'me:@@'", &[Lit("letmein")]),
    ("sudo", "echo '@@' | sudo -S apt update", &[Lit("letmein")]),
    ("pgpass", "db.internal:5432:app:me:@@", &[Lit("letmein")]),
    ("sshpass", "sshpass -p '@@' ssh root@10.0.0.1", &[Lit("letmein")]),
    ("mysql", "mysql -uroot -p@@ app", &[Lit("toor1234")]),
    ("redis", "redis-cli -h cache -a @@ ping", &[Lit("toor1234")]),
    ("netrc", "machine api.x.io login me password @@", &[Lit("letmein")]),
];

/// Pairs: the rule, the names, and a value that is secret next to such a name.
const PAIRS: &[(&str, &[&str], &[SecretPart])] = &[
    (
        "password",
        &[
            "password",
            "passwd",
            "DB_PASSWORD",
            "dbPassword",
            "spring.datasource.password",
            "PGPASSWORD",
            "db_pass",
            "passphrase",
            "DB_PASSWORD2",
            "admin-password",
            "MYSQL_PWD",
        ],
        &[Lit("tr0ub4"), Lit("dor&3")],
    ),
    ("password", &["password", "POSTGRES_PASSWORD"], &[Rnd("abcdefghijklmnopqrstuvwxyz23456789", 12)]),
    (
        "secret",
        &[
            "secret",
            "client_secret",
            "clientSecret",
            "JWT_SECRET",
            "SECRET_KEY",
            "secret_key_base",
            "encryption_key",
            "ENCRYPTION_KEY",
            "signingKey",
        ],
        &[Rnd(BASE62, 20)],
    ),
    (
        "token",
        &["token", "access_token", "accessToken", "GITLAB_TOKEN", "auth-token", "refresh_token", "_authToken"],
        &[Rnd(BASE62, 20)],
    ),
    ("token", &["token", "CI_JOB_TOKEN"], &[Rnd(HEX, 40)]),
    (
        "api-key",
        &["api_key", "apikey", "apiKey", "API_KEY", "x-api-key", "ACME_API_KEY", "access_key", "accessKey"],
        &[Rnd(HEX, 32)],
    ),
    (
        "api-key",
        &["api_key", "HEROKU_API_KEY"],
        &[Rnd(HEX, 8), Lit("-"), Rnd(HEX, 4), Lit("-"), Rnd(HEX, 4), Lit("-"), Rnd(HEX, 4), Lit("-"), Rnd(HEX, 12)],
    ),
    ("key", &["ACME_KEY", "license_key", "Ocp-Subscription-Key"], &[Rnd(BASE62, 22)]),
];

/// Formats of pairs, with `NAME` and `@@`.
const PAIR_FORMATS: &[&str] = &[
    "NAME=@@",
    "export NAME=@@ && run",
    "NAME=\"@@\"",
    "NAME = \"@@\"",
    "NAME: \"@@\",",
    "NAME: '@@'",
    "{\"NAME\": \"@@\", \"other\": 1}",
    "{\"NAME\":\"@@\"}",
    "{\\\"NAME\\\":\\\"@@\\\"}",
    "{\\\\\\\"NAME\\\\\\\": \\\\\\\"@@\\\\\\\"}",
    "config['NAME'] = '@@'",
    "config[\"NAME\"] := \"@@\"",
    "  NAME => '@@',",
    "const char *NAME = \"@@\";",
    "let NAME: &str = \"@@\";",
    "const NAME: string = '@@';",
    "if (NAME === \"@@\") {",
    "a\\nNAME=@@\\nb",
    "f(NAME=\"@@\", other=1)",
    "docker run -e NAME=@@ image",
    "Server=x;NAME=@@;Timeout=3",
];

/// Formats of pairs with an unquoted value after a space.
const LOOSE_PAIR_FORMATS: &[&str] =
    &["NAME: @@", "NAME = @@", "- NAME: @@ # comment", "**NAME:** @@", "NAME: `@@`", "run --NAME @@ now"];

/// Texts in which a secret can occur on its own.
const SECRET_CONTEXTS: &[&str] = &[
    "@@",
    "Please use @@ for the calls.",
    "The key (@@) no longer works",
    "export X=@@",
    "X=\"@@\" cargo run",
    "{\"value\":\"@@\",\"n\":1}",
    "{\\\"value\\\":\\\"@@\\\"}",
    "first\\n@@\\nlast",
    "value: @@\nother: 1\n",
    "- '@@'",
    "https://x.io/path/@@/more",
    "https://x.io/?q=@@&n=1",
    "<code>@@</code>",
    "`@@`",
    "| a | @@ | b |",
    "é@@é",
    "+ @@",
];

/// Checks that the secret and nothing else is removed, and that a second pass finds nothing.
fn check(template: &str, secret: &str, rule: &str) {
    let text = template.replace("@@", secret);
    let (out, found) = redact(&text);
    assert!(!out.contains(secret), "{rule} survived in {text:?}: {out:?}");
    let counts: Vec<_> = found.iter().collect();
    assert_eq!(counts, [(rule, 1)], "in {text:?}: {out:?}");
    assert_eq!(out, template.replace("@@", &format!("[REDACTED:{rule}]")), "for {text:?}");
    assert_eq!(redact(&out).0, out, "redacting twice");
}

#[test]
fn tokens_are_found_in_any_context() {
    // D70
    for seed in 1..8 {
        for (rule, pieces) in TOKENS {
            let secret = build_secret(pieces, seed);
            // Base64 can contain a `/`, so its end is ambiguous in a path.
            let is_base64 = secret.contains('/')
                || ["glc_", "whsec_", "sntrys_", "sntryu_", "fm1_", "fm2_", "ABSK", "ops_"]
                    .iter()
                    .any(|p| secret.starts_with(p));
            for place in SECRET_CONTEXTS.iter().filter(|place| !(is_base64 && place.contains("/path/"))) {
                check(place, &secret, rule);
            }
        }
    }
}

#[test]
fn secrets_are_found_by_their_context() {
    // D70
    for seed in 1..8 {
        for (rule, template, pieces) in IN_CONTEXT {
            // The `@` of a URL follows the secret.
            check(template, &build_secret(pieces, seed), rule);
        }
    }
}

#[test]
fn values_are_found_by_their_names() {
    for seed in 1..10 {
        for (rule, names, pieces) in PAIRS {
            for name in *names {
                let value = build_secret(pieces, seed);
                for writing in PAIR_FORMATS {
                    check(&writing.replace("NAME", name), &value, rule);
                }
                for writing in LOOSE_PAIR_FORMATS {
                    if !(writing.contains("--") && name.starts_with('_')) {
                        check(&writing.replace("NAME", name), &value, rule);
                    }
                }
            }
        }
    }
}

#[test]
fn passwords_chosen_by_people_are_found() {
    for (text, expect) in [
        ("password=hunter2", "password=[REDACTED:password]"),
        ("DB_PASSWORD=postgres", "DB_PASSWORD=[REDACTED:password]"),
        ("\"password\": \"letmein\"", "\"password\": \"[REDACTED:password]\""),
        ("password: 'correct-horse-battery-staple'", "password: '[REDACTED:password]'"),
        ("the password is Tr0ub4dor&3.", "the password is [REDACTED:password]."),
        ("\"password\": \"a\\\"b1c2d3\"", "\"password\": \"[REDACTED:password]\""),
        ("\\\"password\\\": \\\"a\\\\\\\"b1c2d3\\\"", "\\\"password\\\": \\\"[REDACTED:password]\\\""),
        ("password=a,b1c2d3", "password=[REDACTED:password]"),
        ("password=b1c2d3,user=me", "password=[REDACTED:password],user=me"),
        ("${DB_PASSWORD:-hunter2}", "${DB_PASSWORD:-[REDACTED:password]}"),
        ("password: пароль123", "password: [REDACTED:password]"),
        ("the password is hunter2, ok?", "the password is [REDACTED:password], ok?"),
        ("user admin, password Adm1n!2024", "user admin, password [REDACTED:password]"),
        ("PGPASSWORD='two words 12' psql", "PGPASSWORD='[REDACTED:password]' psql"),
        ("user: bob\npass: S3cure#Pass", "user: bob\npass: [REDACTED:password]"),
        ("{\"pass\": \"S3cure#Pass\"}", "{\"pass\": \"[REDACTED:password]\"}"),
        ("\"passwordConfirm\":\"hunter2\"", "\"passwordConfirm\":\"[REDACTED:password]\""),
        ("mysql://root:p@ss@word1@localhost/db", "mysql://root:[REDACTED:url-password]@localhost/db"),
        ("PASSWORD=123456", "PASSWORD=[REDACTED:password]"),
        ("user=me&password=hunter2&x=1", "user=me&password=[REDACTED:url-parameter]&x=1"),
    ] {
        assert_eq!(redact(text).0, expect, "for {text:?}");
    }
}

#[test]
fn examples_in_the_exact_format_of_a_service_are_removed() {
    // D10
    let sequence = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    for text in [
        "AKIAIOSFODNN7EXAMPLE".to_owned(),
        format!("AKIA{}", &sequence[20..36]),
        format!("ghp_{sequence}"),
        format!("sk-ant-api03-{sequence}"),
        format!("sk-proj-{}", sequence.to_lowercase()),
        format!("xoxb-123456789012-{sequence}"),
        format!("dp.pt.{sequence}ABCD"),
    ] {
        assert!(redact(&text).0.starts_with("[REDACTED:"), "{text} is kept");
    }
}

#[test]
fn private_keys_are_removed_with_or_without_their_end() {
    let body = format!("{}\n{}", random(BASE64, 64, 5), random(BASE64, 40, 6));
    for kind in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "PGP "] {
        let block = if kind == "PGP " { " BLOCK" } else { "" };
        let label = format!("{kind}PRIVATE KEY{block}");
        let whole = format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----");
        check("before\n@@\nafter", &whole, "private-key");
        check("key: |\n@@\nafter", &whole.replace('\n', "\n    "), "private-key");
        check("{\"private_key\": \"@@\\n\", \"id\": 1}", &whole.replace('\n', "\\n"), "private-key");
        check("{\\\"k\\\": \\\"@@\\\"}", &whole.replace('\n', "\\\\n"), "private-key");
        check("   1→@@", &whole.replace('\n', "\n   2→"), "private-key");
        check("before\n@@", whole.split("\n-----END").next().unwrap_or_default(), "private-key");
    }
    let headers = format!("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{body}");
    check("a @@", &headers, "private-key");
}

#[test]
fn entropy_finds_nearly_all_random_runs() {
    for (alphabet, length, least) in [
        (BASE62, 24, 930),
        (BASE62, 32, 975),
        (BASE62, 40, 985),
        (BASE64, 40, 985),
        (BASE64, 64, 990),
        (BASE64, 400, 990),
    ] {
        let runs = (0..1000).map(|seed| random(alphabet, length, 7_000 + seed));
        let found = runs.filter(|run| redact(run).1.total() > 0).count();
        assert!(found >= least, "{found} of 1000 with {length} characters");
    }
}

#[test]
fn every_pattern_compiles() {
    for rule in &RULES {
        rule.compile();
    }
}

#[test]
fn every_trigger_of_every_rule_has_a_planted_secret() {
    let tokens = TOKENS.iter().map(|(rule, pieces)| (*rule, build_secret(pieces, 1)));
    let contexts = IN_CONTEXT.iter().map(|(rule, text, pieces)| (*rule, text.replace("@@", &build_secret(pieces, 1))));
    let planted: Vec<(&str, String)> =
        tokens.chain(contexts).map(|(rule, text)| (rule, text.to_ascii_lowercase())).collect();
    for rule in RULES.iter().filter(|rule| rule.name != "private-key") {
        for trigger in rule.triggers {
            let is_planted = planted.iter().any(|(name, text)| *name == rule.name && text.contains(trigger));
            assert!(is_planted, "{} has no test for {trigger:?}", rule.name);
        }
    }
}
