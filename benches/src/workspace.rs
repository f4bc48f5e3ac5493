//! Files a synthetic session works on. They exist only in memory and change when they are edited.

use crate::text_generator::TextGenerator;

/// Maximum uses of a file before it is replaced by another.
const MAX_USES: u64 = 6;
const MAX_FILES: usize = 8;

/// A few files, so that the same contents are read and edited repeatedly, as in a real session.
#[derive(Debug)]
pub struct SyntheticWorkspace {
    root: String,
    files: Vec<SyntheticFile>,
}

/// A file and its content.
#[derive(Debug, Clone)]
pub struct SyntheticFile {
    /// Absolute path.
    pub path: String,
    /// Complete text of the file.
    pub content: String,
    uses_left: u64,
}

/// One replacement in a file.
#[derive(Debug)]
pub struct SyntheticEdit {
    /// Absolute path.
    pub path: String,
    /// Content of the file before the edit.
    pub original: String,
    /// Replaced lines.
    pub old: String,
    /// New lines.
    pub new: String,
    /// Number of the first replaced line, from 1.
    pub line: u64,
}

impl SyntheticWorkspace {
    /// An empty workspace in folder `root`.
    #[must_use]
    pub fn new(root: &str) -> Self {
        Self { root: root.to_string(), files: Vec::new() }
    }

    /// A random path in the root folder.
    pub fn path(&self, author: &mut TextGenerator) -> String {
        format!("{}/{}", self.root, author.path())
    }

    /// A file of at most about `max_bytes` bytes.
    pub fn file(&mut self, author: &mut TextGenerator, max_bytes: usize) -> &SyntheticFile {
        let at = self.pick_file(author, max_bytes);
        &self.files[at]
    }

    /// Creates a file and keeps it for later use.
    pub fn create(&mut self, author: &mut TextGenerator, max_bytes: usize) -> &SyntheticFile {
        let file = self.new_file(author, max_bytes);
        let at = self.add_file(author, file);
        &self.files[at]
    }

    /// Replaces random lines of a file.
    pub fn edit(&mut self, author: &mut TextGenerator, max_bytes: usize) -> SyntheticEdit {
        let at = self.pick_file(author, max_bytes);
        let file = &mut self.files[at];
        let original = file.content.clone();
        let range = random_lines(author, &original);
        let line = 1 + original[..range.start].matches('\n').count() as u64;
        let new = author.code(range.len() + 40);
        file.content.replace_range(range.clone(), &new);
        let old = original[range].to_string();
        SyntheticEdit { path: file.path.clone(), original, old, new, line }
    }

    /// Picks an existing file that is small enough, or creates one. Returns its index.
    fn pick_file(&mut self, author: &mut TextGenerator, max_bytes: usize) -> usize {
        let at = author.random.index(MAX_FILES);
        if let Some(file) = self.files.get_mut(at)
            && file.uses_left > 0
            && file.content.len() <= max_bytes
        {
            file.uses_left -= 1;
            return at;
        }
        let file = self.new_file(author, max_bytes);
        self.add_file(author, file)
    }

    fn add_file(&mut self, author: &mut TextGenerator, file: SyntheticFile) -> usize {
        if self.files.len() < MAX_FILES {
            self.files.push(file);
            return self.files.len() - 1;
        }
        let at = author.random.index(MAX_FILES);
        self.files[at] = file;
        at
    }

    fn new_file(&self, author: &mut TextGenerator, max_bytes: usize) -> SyntheticFile {
        let bytes = author.random.size(3_600, 1.1).min(max_bytes).max(60);
        let content = author.code(bytes);
        SyntheticFile { path: self.path(author), content, uses_left: author.random.below(MAX_USES) }
    }
}

/// Byte range of one to twelve whole lines in `text`.
fn random_lines(author: &mut TextGenerator, text: &str) -> std::ops::Range<usize> {
    let start = text[..author.random.index(text.len())].rfind('\n').map_or(0, |at| at + 1);
    let count = author.random.between(1, 13);
    let mut end = start;
    for _ in 0..count {
        end = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::SyntheticWorkspace;
    use crate::text_generator::TextGenerator;
    use crate::vocabulary::Vocabulary;

    #[test]
    fn an_edit_matches_the_file_content() {
        let words = Vocabulary::new(1);
        let mut author = TextGenerator::new(&words, 2);
        let mut workspace = SyntheticWorkspace::new("/p");
        for _ in 0..200 {
            let change = workspace.edit(&mut author, 9_000);
            assert!(change.path.starts_with("/p/"));
            assert!(change.original.contains(&change.old) && !change.old.is_empty());
        }
    }
}
