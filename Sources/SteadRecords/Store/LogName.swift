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
///
/// A copy that another program makes through SQLite reads the log, and so has the names that the log has. But it has
/// another version of the tables (`PRAGMA schema_version`), a number that only grows with the changes of one file:
/// `VACUUM INTO` adds one, and `.backup` counts from one. So each name ends with a dot and the version when it was given.
enum LogName {
  /// The key in `stead_metadata`.
  static let key = "log"
  /// The most names of a row. When nothing has emptied the log for that many marks, it keeps the names it has.
  static let limit = 32

  /// A random name.
  ///
  /// - Parameter version: The version of the tables.
  static func random(version: Int64) -> Substring {
    "\(String(UInt64.random(in: .min ... .max), radix: 36)).\(version)"
  }

  /// The version of the tables when the name was given; nil in a name that an earlier version gave.
  static func version(in name: Substring) -> Int64? {
    name.firstIndex(of: ".").flatMap { Int64(name[$0...].dropFirst()) }
  }

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

  /// The version of the tables, which each change of them, and each copying by SQLite, changes.
  func tablesVersion() throws -> Int64 { try integer("PRAGMA schema_version") ?? 0 }

  /// Adds a name, and returns it.
  @discardableResult func addLogName() throws -> String? {
    let names = try logNames()
    guard names.count < LogName.limit else { return names.first.map { String($0) } }
    let name = LogName.random(version: try tablesVersion())
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
  func replaceLogNames() throws {
    try setLogNames([LogName.random(version: tablesVersion())])
  }

  private func setLogNames(_ names: [Substring]) throws {
    try run(
      "INSERT OR REPLACE INTO stead_metadata VALUES (?1, ?2)",
      [.text(LogName.key), .text(names.joined(separator: " "))])
  }
}

/// What a store's file has without its log.
private struct FileAlone: Equatable {
  /// The name of the log; nil before there was one.
  let name: Substring?
  /// The version of the tables.
  let version: Int64

  init(_ connection: StoreConnection) throws {
    name = try connection.logNames().first
    version = try connection.tablesVersion()
  }

  /// Whether the file was never as the store is with the log, or was at an earlier moment.
  ///
  /// - Parameters:
  ///   - names: The names as seen with the log.
  ///   - version: The version of the tables as seen with the log.
  func isForeign(to names: [Substring], _ version: Int64) -> Bool {
    if self.version > version { return true }
    guard let name else { return false }
    guard names.contains(name) else { return true }
    // A copy that took the store's place, and whose tables were prepared since, has a name before this one.
    return name == names.first && self.version < version
      && self.version < LogName.version(in: name) ?? 0
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
    let version = try connection.tablesVersion()
    var last: FileAlone?
    for _ in 0..<Self.readingLimit {
      // A page may be read while a checkpoint writes it, or none may be readable without the log.
      guard let file = try? FileAlone(openAlone()), file.isForeign(to: names, version) else {
        return
      }
      if file == last { break }
      last = file
    }
    let path = configuration.url.path
    throw SwiftDataError(
      .unreadableStore,
      "\(path) and its log, \(path.fileName)-wal, don't belong together: one of the two was replaced, as by a backup that "
        + "was copied over the file while the log of the file before stayed. Both were left untouched. If the file is the "
        + "right one, move the log away, with \(path.fileName)-shm; else put the file back that the log belongs to."
    )
  }

  /// How often the file is read until it has the same twice.
  private static var readingLimit: Int { 10 }
}
