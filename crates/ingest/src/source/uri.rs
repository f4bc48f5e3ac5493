//! Paths in the addresses of files that editors write.

/// `file:///home/dev/my%20app` → the path. On the other side of a remote connection, the path there.
pub(crate) fn path_in_uri(uri: &str) -> Option<String> {
    let (_, rest) = uri.split_once("://")?;
    let path = &rest[rest.find('/')?..];
    let path = path.split(['#', '?']).next()?;
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = escaped_byte(after).filter(|_| *first == b'%');
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).ok()
}

/// The byte that two hexadecimal digits stand for.
fn escaped_byte(text: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*text.get(at)?).to_digit(16);
    u8::try_from(digit(0)? << 4 | digit(1)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_is_decoded_to_a_path() {
        for (uri, path) in [
            ("file:///home/dev/my%20app", "/home/dev/my app"),
            ("vscode-remote://wsl%2Bubuntu/home/dev/app", "/home/dev/app"),
            ("file:///a.rs#12-14", "/a.rs"),
            ("file:///100%", "/100%"),
            ("file:///a%zz%2%+5", "/a%zz%2%+5"),
        ] {
            assert_eq!(path_in_uri(uri).as_deref(), Some(path));
        }
        for uri in ["untitled:x", "file:///%ff", "/home/dev/app"] {
            assert_eq!(path_in_uri(uri), None, "{uri}");
        }
    }
}
