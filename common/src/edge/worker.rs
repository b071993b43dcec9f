//! A thread that is started before its job is known.

use crossbeam_channel::{Receiver, Sender, bounded};
use std::io;
use std::thread;

/// A thread that waits for its job. Starting a thread can fail where processes are scarce, and giving it the job cannot. A
/// caller that starts all its threads first never has only half of its jobs running.
#[derive(Debug)]
pub struct Worker(Sender<Job>);

type Job = Box<dyn FnOnce() + Send>;

impl Worker {
    /// Starts the thread. It ends when its job is done, or when this value is dropped without one.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn spawn() -> io::Result<Worker> {
        let (send, jobs) = bounded::<Job>(1);
        thread::Builder::new().spawn(move || {
            if let Ok(job) = jobs.recv() {
                job();
            }
        })?;
        Ok(Worker(send))
    }

    /// Gives the thread its job. The result arrives on the channel.
    pub fn run<T: Send + 'static>(self, job: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
        let (send, result) = bounded(1);
        let job = move || {
            // The receiver may be gone.
            let _ = send.send(job());
        };
        // The thread waits for exactly this.
        let _ = self.0.send(Box::new(job));
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_job_is_done_and_its_result_arrives() {
        assert_eq!(Worker::spawn().unwrap().run(|| 6 * 7).recv(), Ok(42));
        drop(Worker::spawn().unwrap());
    }
}
