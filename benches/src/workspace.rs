//! The files a synthetic session works on. They live in memory only and change as they are edited.

use crate::author::Author;

/// How often a file is used before another takes its place.
const USES: u64 = 6;
const FILES: usize = 8;

/// A handful of files, so that reads and edits meet the same contents again as in a real session.
#[derive(Debug)]
pub struct Workspace {
    root: String,
    files: Vec<SourceFile>,
}

/// A file with its text.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Absolute path.
    pub path: String,
    /// The whole text.
    pub content: String,
    uses_left: u64,
}

/// One replacement in a file.
#[derive(Debug)]
pub struct Change {
    /// Absolute path.
    pub path: String,
    /// The file before.
    pub original: String,
    /// What was replaced: whole lines.
    pub old: String,
    /// What stands there now.
    pub new: String,
    /// The first replaced line, from 1.
    pub line: u64,
}

impl Workspace {
    /// An empty workspace below `root`.
    #[must_use]
    pub fn new(root: &str) -> Self {
        Self { root: root.to_string(), files: Vec::new() }
    }

    /// A path below the root.
    pub fn path(&self, author: &mut Author) -> String {
        format!("{}/{}", self.root, author.path())
    }

    /// Some file of at most `room` bytes or little more.
    pub fn file(&mut self, author: &mut Author, room: usize) -> &SourceFile {
        let at = self.settle(author, room);
        &self.files[at]
    }

    /// A new file, kept for later use.
    pub fn create(&mut self, author: &mut Author, room: usize) -> &SourceFile {
        let file = self.invent(author, room);
        let at = self.keep(author, file);
        &self.files[at]
    }

    /// Replaces some lines of a file.
    pub fn change(&mut self, author: &mut Author, room: usize) -> Change {
        let at = self.settle(author, room);
        let file = &mut self.files[at];
        let original = file.content.clone();
        let range = some_lines(author, &original);
        let line = 1 + original[..range.start].matches('\n').count() as u64;
        let new = author.code(range.len() + 40);
        file.content.replace_range(range.clone(), &new);
        let old = original[range].to_string();
        Change { path: file.path.clone(), original, old, new, line }
    }

    /// Finds a known file that fits, or makes one; gives its place.
    fn settle(&mut self, author: &mut Author, room: usize) -> usize {
        let at = author.random.index(FILES);
        if let Some(file) = self.files.get_mut(at)
            && file.uses_left > 0
            && file.content.len() <= room
        {
            file.uses_left -= 1;
            return at;
        }
        let file = self.invent(author, room);
        self.keep(author, file)
    }

    fn keep(&mut self, author: &mut Author, file: SourceFile) -> usize {
        if self.files.len() < FILES {
            self.files.push(file);
            return self.files.len() - 1;
        }
        let at = author.random.index(FILES);
        self.files[at] = file;
        at
    }

    fn invent(&self, author: &mut Author, room: usize) -> SourceFile {
        let bytes = author.random.size(3_600, 1.1).min(room).max(60);
        let content = author.code(bytes);
        SourceFile { path: self.path(author), content, uses_left: author.random.below(USES) }
    }
}

/// One to twelve whole lines somewhere in `text`.
fn some_lines(author: &mut Author, text: &str) -> std::ops::Range<usize> {
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
    use super::Workspace;
    use crate::author::Author;
    use crate::words::Words;

    #[test]
    fn a_change_fits_the_file_it_was_made_in() {
        let words = Words::new(1);
        let mut author = Author::new(&words, 2);
        let mut workspace = Workspace::new("/p");
        for _ in 0..200 {
            let change = workspace.change(&mut author, 9_000);
            assert!(change.path.starts_with("/p/"));
            assert!(change.original.contains(&change.old) && !change.old.is_empty());
        }
    }
}
