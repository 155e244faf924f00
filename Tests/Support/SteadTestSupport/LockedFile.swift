import Glibc

/// Closes a file on which a test holds a lock, as another process would.
///
/// It is unlocked first: a child process that another test is just starting has the file open, too, and closing it here
/// would leave the lock to that child until it runs its own program.
package func unlockAndClose(_ descriptor: Int32) {
  flock(descriptor, LOCK_UN)
  close(descriptor)
}
