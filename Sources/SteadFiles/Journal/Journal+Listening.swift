import CSteadFiles
import Foundation

extension Journal {
  /// How long, in milliseconds, a notice counts that no listener has cleared.
  private static let noticeLifetime: UInt64 = 1_000

  /// Asks writers in all processes to change the file's date after they have written.
  ///
  /// A process that watches the directory, by inotify for instance, thereby notices writes that go through
  /// memory alone. It costs a writer 2 us, once for everything that is written before a listener calls
  /// ``clearNotice()``.
  ///
  /// - Throws: ``FileError``: `.readOnly` for a journal that was opened read-only.
  package func listen() throws {
    stead_admit_bus_errors()
    guard !isListening else { return }
    guard access == .readWrite else {
      throw FileError(
        code: .readOnly, message: "Listening requires a journal opened for writing.", path: path)
    }
    if file.isInherited { try reattach() }
    // A writer that has freed the lock has made all its records visible; a later one sees the word.
    do {
      try lockFile()
    } catch let error as FileError where error.code == .busy {
      // A writer that is at work right now may not wake the listener, which is then woken by the next one.
      isListening = true
      return announce()
    }
    defer { unlockFile() }
    isListening = true
    announce()
  }

  /// Reverts ``listen()``.
  package func stopListening() {
    stead_admit_bus_errors()
    guard isListening else { return }
    isListening = false
    withdraw()
  }

  /// Notes that the listener is awake, and has to be woken for everything written from now on.
  ///
  /// A listener calls it before ``read(_:)``, so that it misses nothing in between.
  package func clearNotice() {
    stead_admit_bus_errors()
    guard file.isWritable else { return }
    _ = stead_exchange(file.base + JournalLayout.notice, 0)
  }

  func announce() { _ = stead_fetch_add(file.base + JournalLayout.listeners, 1) }

  func withdraw() {
    _ = stead_fetch_add(file.base + JournalLayout.listeners, UInt64.max)
  }

  /// Changes the file's date, unless that was already done and no listener has woken since.
  @usableFromInline
  func wakeListeners() {
    let notice = file.base + JournalLayout.notice
    let now = max(stead_clock(), 1)
    // An addition, not a load, because it is ordered with the listener's clearing: a writer that still finds
    // the notice has written before the listener looks.
    let last = stead_fetch_add(notice, 0)
    // A notice does not count forever: a writer killed right here would silence all others.
    if last != 0, now &- last < Self.noticeLifetime { return }
    _ = stead_exchange(notice, now)
    _ = stead_file_touch(file.descriptor)
  }
}
