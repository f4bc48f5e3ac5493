//! Opens an index to read it, also on a read-only file system.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tantivy::Index;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};

/// Opens the index in a folder.
pub(crate) fn open_to_read(folder: &Path) -> tantivy::Result<Index> {
    if rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok() {
        return Index::open_in_dir(folder);
    }
    open_frozen(folder)
}

fn open_frozen(folder: &Path) -> tantivy::Result<Index> {
    Index::open(FrozenDirectory(MmapDirectory::open(folder)?))
}

/// A folder that no process can change, so that reading it needs no lock file.
#[derive(Clone, Debug)]
struct FrozenDirectory(MmapDirectory);

impl Directory for FrozenDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.0.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.0.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.0.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.0.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.0.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.0.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.0.sync_directory()
    }

    fn acquire_lock(&self, _: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.0.watch(callback)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tantivy::schema::{Schema, TEXT};

    #[test]
    fn an_index_on_a_read_only_file_system_needs_no_lock_file() {
        // D63
        let folder = tempfile::tempdir().unwrap();
        let mut schema = Schema::builder();
        let field = schema.add_text_field("text", TEXT);
        let index = Index::create_in_dir(folder.path(), schema.build()).unwrap();
        let mut writer = index.writer::<tantivy::TantivyDocument>(15_000_000).unwrap();
        writer.add_document(tantivy::doc!(field => "one")).unwrap();
        writer.commit().unwrap();
        drop((writer, index));
        let locks = || {
            let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
            names.filter(|name| name.to_string_lossy().ends_with(".lock")).collect::<Vec<_>>()
        };
        for lock in locks() {
            std::fs::remove_file(folder.path().join(lock)).unwrap();
        }
        let reader = open_frozen(folder.path()).unwrap().reader().unwrap();
        assert_eq!((reader.searcher().num_docs(), locks()), (1, Vec::new()));
    }
}
