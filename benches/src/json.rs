//! Writes JSON lines with keys in the given order. `serde_json` maps would sort them.

/// Appends one object and a newline to `out`.
pub fn write_line(out: &mut Vec<u8>, body: impl FnOnce(&mut JsonObjectWriter)) {
    write_object(out, body);
    out.push(b'\n');
}

/// Writes a JSON object; each call adds one key.
#[derive(Debug)]
pub struct JsonObjectWriter<'o> {
    out: &'o mut Vec<u8>,
    empty: bool,
}

impl JsonObjectWriter<'_> {
    /// `"key":"value"`, escaped.
    pub fn text(&mut self, key: &str, value: &str) {
        self.key(key);
        write_string(self.out, value);
    }

    /// `"key":"value"`, or `"key":null`.
    pub fn optional_text(&mut self, key: &str, value: Option<&str>) {
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

    /// `"key":value`, where `value` is already JSON.
    pub fn raw(&mut self, key: &str, value: &str) {
        self.key(key);
        self.out.extend_from_slice(value.as_bytes());
    }

    /// `"key":{…}`.
    pub fn object(&mut self, key: &str, body: impl FnOnce(&mut JsonObjectWriter)) {
        self.key(key);
        write_object(self.out, body);
    }

    /// `"key":[…]`.
    pub fn list(&mut self, key: &str, body: impl FnOnce(&mut JsonListWriter)) {
        self.key(key);
        self.out.push(b'[');
        body(&mut JsonListWriter { out: self.out, empty: true });
        self.out.push(b']');
    }

    fn key(&mut self, key: &str) {
        write_separator(self.out, &mut self.empty);
        write_string(self.out, key);
        self.out.push(b':');
    }
}

/// Writes a JSON array; each call adds one item.
#[derive(Debug)]
pub struct JsonListWriter<'o> {
    out: &'o mut Vec<u8>,
    empty: bool,
}

impl JsonListWriter<'_> {
    /// Adds a string.
    pub fn text(&mut self, value: &str) {
        write_separator(self.out, &mut self.empty);
        write_string(self.out, value);
    }

    /// Adds an object.
    pub fn object(&mut self, body: impl FnOnce(&mut JsonObjectWriter)) {
        write_separator(self.out, &mut self.empty);
        write_object(self.out, body);
    }

    /// Adds a text block, as in message content.
    pub fn text_block(&mut self, text: &str) {
        self.object(|block| {
            block.text("type", "text");
            block.text("text", text);
        });
    }
}

fn write_object(out: &mut Vec<u8>, body: impl FnOnce(&mut JsonObjectWriter)) {
    out.push(b'{');
    body(&mut JsonObjectWriter { out, empty: true });
    out.push(b'}');
}

fn write_separator(out: &mut Vec<u8>, empty: &mut bool) {
    if !std::mem::replace(empty, false) {
        out.push(b',');
    }
}

fn write_string(out: &mut Vec<u8>, text: &str) {
    // Neither writing to a vector nor encoding a string can fail.
    let _ = serde_json::to_writer(out, text);
}

#[cfg(test)]
mod tests {
    use super::write_line;

    #[test]
    fn keys_keep_their_order_and_text_is_escaped() {
        let mut out = Vec::new();
        write_line(&mut out, |o| {
            o.text("z", "a\"b\n");
            o.optional_text("y", None);
            o.list("x", |list| {
                list.text("1");
                list.object(|o| o.number("n", 2));
            });
        });
        let expect = "{\"z\":\"a\\\"b\\n\",\"y\":null,\"x\":[\"1\",{\"n\":2}]}\n";
        assert_eq!(String::from_utf8_lossy(&out), expect);
    }
}
