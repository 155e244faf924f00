import CSteadSQLite
import Foundation

extension SQLiteConnection {
  /// The longest pause between two attempts to change the journal, in microseconds.
  private static let pauseLimit: useconds_t = 20_000

  /// Has the file use a write-ahead log, and returns whether it does.
  ///
  /// Nothing is written if it does so already. The change needs the write lock. SQLite takes that while it reads, and so
  /// asks no busy handler: it fails at once while another connection writes, as when several programs create one file.
  /// This pauses between attempts for as long as the connection is patient. An attempt may itself wait as long, where
  /// another connection keeps it from reading, so that a stopped process which creates the file holds this up for longer.
  ///
  /// - Parameter pause: Sleeps, since nothing tells when a lock is free; called between two attempts with a number of microseconds.
  package func useLog(pause: (useconds_t) -> Void = { usleep($0) }) throws -> Bool {
    var left = Int64(lockPatience) * 1000
    var length: useconds_t = 1000
    while true {
      do {
        return try rows("PRAGMA journal_mode = WAL").first?.first == .text("wal")
      } catch {
        guard sqlite3_errcode(handle) & 0xff == SQLITE_BUSY, left > 0 else { throw error }
      }
      pause(length)
      left -= Int64(length)
      length = min(length * 2, Self.pauseLimit)
    }
  }
}
