//! Runs a function for many items on one thread per core and sums the results.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Sum of `work` over all `items`. Items are started in order.
///
/// # Errors
/// The first error of a thread ends that thread; one of these errors is returned.
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
