import SteadSQLite

/// The name of the log's beginning, by which a log is known to belong to its file.
///
/// SQLite applies a log to whatever file it finds beside it: to one of yesterday that was put in the store's place, or
/// to another store. Then pages of two states are mixed. So each mark (see ``LogMark``) has a name, a random one, in a row of
/// `stead_metadata`:
///
/// 1. The commit that sets the mark puts a new name before the names that the row has.
/// 2. The commit that removes the mark writes the row again, so that it is in the log. If a checkpoint has moved all of
///    the first commit into the file, it leaves only the names from the new one on.
///
/// So the row as seen with the log has the first name of the row in the file alone, at every moment: older names are
/// removed only once the file has the new one. A file that was replaced has another one.
///
/// A backup gets a name of its own: the log that was there when it was made would otherwise take it for its file.
enum LogName {
  /// The key in `stead_metadata`.
  static let key = "log"
  /// The most names of a row. When nothing has emptied the log for that many marks, it keeps the names it has.
  static let limit = 32

  static func random() -> Substring { String(UInt64.random(in: .min ... .max), radix: 36)[...] }

  static func names(in value: SQLValue?) -> [Substring] {
    guard case .text(let text)? = value else { return [] }
    return text.split(separator: " ")
  }
}

extension StoreConnection {
  /// The names of the log, newest first; none in a store of an earlier version.
  func logNames() throws -> [Substring] {
    LogName.names(
      in: try rows("SELECT value FROM stead_metadata WHERE key = ?1", [.text(LogName.key)])
        .first?.first)
  }

  /// Adds a name, and returns it.
  func addLogName() throws -> String? {
    let names = try logNames()
    guard names.count < LogName.limit else { return names.first.map { String($0) } }
    let name = LogName.random()
    try setLogNames([name] + names)
    return String(name)
  }

  /// Writes the names into the log, whether they change or not: what a log lacks is read from whatever file it is
  /// beside.
  ///
  /// - Parameter name: The oldest name to keep; nil for all.
  func writeLogNames(from name: String?) throws {
    let names = try logNames()
    if names.isEmpty { return }
    let oldest = name.flatMap { names.firstIndex(of: $0[...]) } ?? names.count - 1
    try setLogNames(Array(names[...oldest]))
  }

  /// Gives a copy of a store a name that no log has.
  func replaceLogNames() throws { try setLogNames([LogName.random()]) }

  private func setLogNames(_ names: [Substring]) throws {
    try run(
      "INSERT OR REPLACE INTO stead_metadata VALUES (?1, ?2)",
      [.text(LogName.key), .text(names.joined(separator: " "))])
  }
}

extension StoreFile {
  /// Throws if the log is not that of the file.
  func checkLogName() throws {
    let connection = try open(writable: false)
    try connection.begin()
    defer { try? connection.execute("ROLLBACK") }
    // While this snapshot is open, a checkpoint moves no commit into the file that the snapshot lacks.
    guard let names = try? connection.logNames(), !names.isEmpty else { return }
    var own: Substring?
    for _ in 0..<Self.readingLimit {
      // A page may be read while a checkpoint writes it.
      guard let name = nameInFile(), !names.contains(name) else { return }
      if name == own { break }
      own = name
    }
    let path = configuration.url.path
    throw SwiftDataError(
      .unreadableStore,
      "\(path) and its log, \(path.fileName)-wal, don't belong together: one of the two was replaced, as by a backup that "
        + "was copied over the file while the log of the file before stayed. Both were left untouched. If the file is the "
        + "right one, move the log away, with \(path.fileName)-shm; else put the file back that the log belongs to."
    )
  }

  /// How often the file is read until it has the same name twice.
  private static var readingLimit: Int { 10 }

  /// The name that the file has without its log; nil if it has none, or can't be read without its log.
  private func nameInFile() -> Substring? {
    guard let connection = try? openAlone() else { return nil }
    return try? connection.logNames().first
  }
}
