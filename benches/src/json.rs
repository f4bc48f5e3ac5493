//! Writes JSON lines, keys in the order they are given. `serde_json`'s own maps would sort them.

/// Appends one object and a newline to `out`.
pub fn line(out: &mut Vec<u8>, body: impl FnOnce(&mut Object)) {
    braced(out, body);
    out.push(b'\n');
}

/// An object being written; each call adds one key.
#[derive(Debug)]
pub struct Object<'o> {
    out: &'o mut Vec<u8>,
    empty: bool,
}

impl Object<'_> {
    /// `"key":"value"`, escaped.
    pub fn text(&mut self, key: &str, value: &str) {
        self.key(key);
        quoted(self.out, value);
    }

    /// `"key":"value"`, or `"key":null`.
    pub fn maybe(&mut self, key: &str, value: Option<&str>) {
        match value {
            Some(value) => self.text(key, value),
            None => self.raw(key, "null"),
        }
    }

    /// `"key":123`.
    pub fn number(&mut self, key: &str, value: u64) {
        self.raw(key, &value.to_string());
    }

    /// `"key":true`.
    pub fn flag(&mut self, key: &str, value: bool) {
        self.raw(key, if value { "true" } else { "false" });
    }

    /// `"key":value` with `value` already JSON.
    pub fn raw(&mut self, key: &str, value: &str) {
        self.key(key);
        self.out.extend_from_slice(value.as_bytes());
    }

    /// `"key":{…}`.
    pub fn object(&mut self, key: &str, body: impl FnOnce(&mut Object)) {
        self.key(key);
        braced(self.out, body);
    }

    /// `"key":[…]`.
    pub fn list(&mut self, key: &str, body: impl FnOnce(&mut List)) {
        self.key(key);
        self.out.push(b'[');
        body(&mut List { out: self.out, empty: true });
        self.out.push(b']');
    }

    fn key(&mut self, key: &str) {
        separate(self.out, &mut self.empty);
        quoted(self.out, key);
        self.out.push(b':');
    }
}

/// A list being written; each call adds one item.
#[derive(Debug)]
pub struct List<'o> {
    out: &'o mut Vec<u8>,
    empty: bool,
}

impl List<'_> {
    /// A string.
    pub fn text(&mut self, value: &str) {
        separate(self.out, &mut self.empty);
        quoted(self.out, value);
    }

    /// An object.
    pub fn object(&mut self, body: impl FnOnce(&mut Object)) {
        separate(self.out, &mut self.empty);
        braced(self.out, body);
    }

    /// A text block, as in the content of messages.
    pub fn text_block(&mut self, text: &str) {
        self.object(|block| {
            block.text("type", "text");
            block.text("text", text);
        });
    }
}

fn braced(out: &mut Vec<u8>, body: impl FnOnce(&mut Object)) {
    out.push(b'{');
    body(&mut Object { out, empty: true });
    out.push(b'}');
}

fn separate(out: &mut Vec<u8>, empty: &mut bool) {
    if !std::mem::replace(empty, false) {
        out.push(b',');
    }
}

fn quoted(out: &mut Vec<u8>, text: &str) {
    // Neither writing to a vector nor encoding a string can fail.
    let _ = serde_json::to_writer(out, text);
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn keys_keep_their_order_and_text_is_escaped() {
        let mut out = Vec::new();
        line(&mut out, |o| {
            o.text("z", "a\"b\n");
            o.maybe("y", None);
            o.list("x", |list| {
                list.text("1");
                list.object(|o| o.number("n", 2));
            });
        });
        let expect = "{\"z\":\"a\\\"b\\n\",\"y\":null,\"x\":[\"1\",{\"n\":2}]}\n";
        assert_eq!(String::from_utf8_lossy(&out), expect);
    }
}
