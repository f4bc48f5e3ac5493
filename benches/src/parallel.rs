//! Does the same to many things on as many threads as there are cores, and adds up what came of it.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The sum of what `work` gives for each of `items`, which are taken in order.
///
/// # Errors
/// The first error of each thread ends that thread; one of them is given back.
pub fn sum<T: Sync>(items: &[T], work: impl Fn(&T) -> io::Result<u64> + Sync) -> io::Result<u64> {
    let next = AtomicUsize::new(0);
    let take = || -> io::Result<u64> {
        let mut total = 0;
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            total += work(item)?;
        }
        Ok(total)
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(take)).collect();
        let mut total = 0;
        for thread in running {
            total += thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        Ok(total)
    })
}
