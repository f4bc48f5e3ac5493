//! Reads the records of a damaged SQLite file page by page, without following its trees.
//!
//! A broken page costs only its own records. All tables here are `WITHOUT ROWID`, so records are in index pages, in
//! leaves and in inner nodes alike. See <https://www.sqlite.org/fileformat2.html>.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::sql::OwnedValue;

/// Our page size, for a file whose header is broken.
const DEFAULT_PAGE_SIZE: usize = 8192;
const INDEX_LEAF: u8 = 0x0a;
const INDEX_INNER: u8 = 0x02;
/// Longest payload that is believed.
const MAX_PAYLOAD: u64 = 256 << 20;
const WAL_HEADER: u64 = 32;
const FRAME_HEADER: u64 = 24;

/// The pages of a database file, with newer versions from its write-ahead log.
pub(super) struct PageFile {
    file: File,
    page_size: usize,
    /// Bytes of a page that are used.
    usable: usize,
    pages: u32,
    log: Option<File>,
    /// Where the log has the last committed version of a page.
    in_log: HashMap<u32, u64>,
}

/// The records of one page, and the pages below it.
#[derive(Default)]
pub(super) struct PageRecords {
    pub(super) records: Vec<Vec<OwnedValue>>,
    pub(super) children: Vec<u32>,
}

impl PageFile {
    pub(super) fn open(path: &Path) -> std::io::Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut header = [0; 100];
        // A shorter file has no pages.
        let _ = file.read_exact_at(&mut header, 0);
        let named = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 65536,
            size => usize::from(size),
        };
        let is_valid = named.is_power_of_two() && named >= 512;
        let page_size = if is_valid { named } else { DEFAULT_PAGE_SIZE };
        let reserved = if is_valid && header[20] < 32 { usize::from(header[20]) } else { 0 };
        let pages = u32::try_from(length.div_ceil(page_size as u64)).unwrap_or(u32::MAX);
        let mut all = Self {
            file,
            page_size,
            usable: page_size - reserved,
            pages,
            log: File::open(path.with_extension("db-wal")).ok(),
            in_log: HashMap::new(),
        };
        all.index_log();
        Ok(all)
    }

    pub(super) fn page_numbers(&self) -> impl Iterator<Item = u32> + use<> {
        1..=self.pages
    }

    /// Finds the last committed version of each page in the log.
    fn index_log(&mut self) {
        let Some(log) = &self.log else { return };
        let mut header = [0; WAL_HEADER as usize];
        if log.read_exact_at(&mut header, 0).is_err() || header[8..12] != (self.page_size as u32).to_be_bytes() {
            return;
        }
        let mut open = HashMap::new();
        let mut at = WAL_HEADER;
        let mut frame = [0; FRAME_HEADER as usize];
        while log.read_exact_at(&mut frame, at).is_ok() && frame[8..16] == header[16..24] {
            let number = number_at(&frame, 0);
            open.insert(number, at + FRAME_HEADER);
            if number_at(&frame, 4) != 0 {
                self.pages = self.pages.max(number_at(&frame, 4));
                self.in_log.extend(open.drain());
            }
            at += FRAME_HEADER + self.page_size as u64;
        }
    }

    fn page(&self, number: u32) -> Option<Vec<u8>> {
        if number == 0 || number > self.pages {
            return None;
        }
        let mut bytes = vec![0; self.page_size];
        let in_log = self.in_log.get(&number).and_then(|at| Some((self.log.as_ref()?, *at)));
        let (file, at) = in_log.unwrap_or((&self.file, u64::from(number - 1) * self.page_size as u64));
        let mut filled = 0;
        // The last page of a truncated file is incomplete.
        while let Ok(read @ 1..) = file.read_at(&mut bytes[filled..], at + filled as u64) {
            filled += read;
        }
        (filled > 0).then_some(bytes)
    }

    /// The records of a page; `None` for other pages than those of indexes.
    pub(super) fn records(&self, number: u32) -> Option<PageRecords> {
        let page = self.page(number)?;
        let start = if number == 1 { 100 } else { 0 };
        let kind = page[start];
        if kind != INDEX_LEAF && kind != INDEX_INNER {
            return None;
        }
        let is_inner = kind == INDEX_INNER;
        let pointers = start + if is_inner { 12 } else { 8 };
        let cells = usize::from(short_at(&page, start + 3)?);
        let mut found = PageRecords::default();
        if is_inner {
            found.children.push(number_at(&page, start + 8));
        }
        for cell in 0..cells {
            let Some(at) = short_at(&page, pointers + 2 * cell).map(usize::from) else { break };
            let at = if is_inner && at + 4 <= page.len() {
                found.children.push(number_at(&page, at));
                at + 4
            } else {
                at
            };
            found.records.extend(self.payload(&page, at).and_then(|payload| decode(&payload)));
        }
        Some(found)
    }

    /// The pages of the tree below a root, as far as its inner pages can be read.
    pub(super) fn tree(&self, root: u32) -> HashSet<u32> {
        let (mut seen, mut waiting) = (HashSet::new(), vec![root]);
        while let Some(number) = waiting.pop() {
            if seen.insert(number) {
                waiting.extend(self.records(number).map(|page| page.children).unwrap_or_default());
            }
        }
        seen
    }

    /// The pages that hold nothing any more, as far as their list can be read.
    pub(super) fn free_pages(&self) -> HashSet<u32> {
        let mut free = HashSet::new();
        let mut next = self.page(1).map_or(0, |page| number_at(&page, 32));
        while let Some(page) = self.page(next).filter(|_| free.insert(next)) {
            let leaves = (number_at(&page, 4) as usize).min(self.usable / 4);
            free.extend((0..leaves).map(|leaf| number_at(&page, 8 + 4 * leaf)));
            next = number_at(&page, 0);
        }
        free
    }

    /// The payload of a cell, collected from its overflow pages.
    fn payload(&self, page: &[u8], at: usize) -> Option<Vec<u8>> {
        let (length, at) = varint(page, at)?;
        if length > MAX_PAYLOAD {
            return None;
        }
        let length = usize::try_from(length).ok()?;
        let most = (self.usable - 12) * 64 / 255 - 23;
        let least = (self.usable - 12) * 32 / 255 - 23;
        if length <= most {
            return page.get(at..at + length).map(<[u8]>::to_vec);
        }
        let fit = least + (length - least) % (self.usable - 4);
        let local = if fit <= most { fit } else { least };
        let mut payload = page.get(at..at + local)?.to_vec();
        let mut next = number_at(page.get(at + local..at + local + 4)?, 0);
        while payload.len() < length {
            let more = self.page(next)?;
            next = number_at(&more, 0);
            let wanted = (length - payload.len()).min(self.usable - 4);
            payload.extend_from_slice(&more[4..4 + wanted]);
        }
        Some(payload)
    }
}

/// The values of a record; `None` if it is broken.
fn decode(payload: &[u8]) -> Option<Vec<OwnedValue>> {
    let (header, mut at) = varint(payload, 0)?;
    let header = usize::try_from(header).ok().filter(|header| *header <= payload.len())?;
    let mut body = header;
    let mut values = Vec::new();
    while at < header {
        let (kind, next) = varint(payload, at)?;
        at = next;
        let (value, end) = decode_value(kind, payload, body)?;
        body = end;
        values.push(value);
    }
    (at == header && body == payload.len()).then_some(values)
}

fn decode_value(kind: u64, payload: &[u8], at: usize) -> Option<(OwnedValue, usize)> {
    let take = |length: usize| payload.get(at..at.checked_add(length)?);
    let integer = |length: usize| {
        let bytes = take(length)?;
        let sign = if bytes[0] & 0x80 == 0 { 0 } else { -1 };
        Some((OwnedValue::Int(bytes.iter().fold(sign, |value, byte| value << 8 | i64::from(*byte))), at + length))
    };
    match kind {
        0 => Some((OwnedValue::Null, at)),
        1..=4 => integer(kind as usize),
        5 => integer(6),
        6 => integer(8),
        8 | 9 => Some((OwnedValue::Int(kind as i64 - 8), at)),
        // There are no other numbers in our tables.
        7 | 10 | 11 => None,
        _ => {
            let length = usize::try_from((kind - 12) / 2).ok()?;
            let bytes = take(length)?.to_vec();
            let value = if kind.is_multiple_of(2) {
                OwnedValue::Bytes(bytes)
            } else {
                OwnedValue::Text(String::from_utf8(bytes).ok()?)
            };
            Some((value, at + length))
        }
    }
}

/// A number of one to nine bytes, and where it ends.
fn varint(bytes: &[u8], start: usize) -> Option<(u64, usize)> {
    let mut value = 0;
    for offset in 0..9 {
        let byte = *bytes.get(start + offset)?;
        if offset == 8 {
            return Some((value << 8 | u64::from(byte), start + 9));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, start + offset + 1));
        }
    }
    None
}

fn short_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

fn number_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |four| u32::from_be_bytes([four[0], four[1], four[2], four[3]]))
}
