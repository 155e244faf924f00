import CSteadFiles
import Foundation

extension Journal {
  /// How long a notice counts that no listener has cleared, in milliseconds.
  private static let noticeLifetime: UInt64 = 1_000

  /// Asks writers in all processes to change the file's date after they have written.
  ///
  /// A process that watches the directory, by inotify for instance, so notices what goes through memory
  /// alone. It costs a writer 2 us, once for all that is written before a listener calls
  /// ``clearNotice()``.
  ///
  /// - Throws: ``FileError``: `.readOnly` for a journal that was opened for reading only.
  package func listen() throws {
    guard !isListening else { return }
    guard access == .readWrite else {
      throw FileError(
        code: .readOnly, message: "Who listens must be able to write the journal.", path: path)
    }
    if file.isInherited { try reattach() }
    // A writer without the lock has told memory all that it wrote; one that comes later sees the word.
    do {
      try lockFile()
    } catch let error as FileError where error.code == .busy {
      // A writer that is at work right now may not wake it; it is told with the next one.
      isListening = true
      return announce()
    }
    defer { unlockFile() }
    isListening = true
    announce()
  }

  /// Takes back ``listen()``.
  package func stopListening() {
    guard isListening else { return }
    isListening = false
    withdraw()
  }

  /// Says that the listener is awake, and wants to be woken for what is written from now on.
  ///
  /// A listener calls it before ``read(_:)``, so that nothing falls in between.
  package func clearNotice() {
    guard file.isWritable else { return }
    _ = stead_exchange(file.base + JournalLayout.notice, 0)
  }

  func announce() { _ = stead_fetch_add(file.base + JournalLayout.listeners, 1) }

  func withdraw() {
    _ = stead_fetch_add(file.base + JournalLayout.listeners, UInt64.max)
  }

  /// Changes the file's date, unless that was done and no listener has awoken since.
  @usableFromInline
  func wakeListeners() {
    let notice = file.base + JournalLayout.notice
    let now = max(stead_clock(), 1)
    // An addition, and not a load, since it is ordered with the listener's clearing: a writer that
    // still finds the notice has written before the listener looks.
    let last = stead_fetch_add(notice, 0)
    // A notice does not count for ever: a writer killed right here would silence all others.
    if last != 0, now &- last < Self.noticeLifetime { return }
    _ = stead_exchange(notice, now)
    _ = stead_file_touch(file.descriptor)
  }
}
