import SteadFiles
import SteadSQLite

/// Turns SQLite's errors into this library's, with messages that name the remedy.
enum StoreErrors {
  /// The error that a caller gets for one of SQLite's.
  ///
  /// Each message says what has become of the work, and what to do next.
  ///
  /// | SQLite | this library |
  /// | --- | --- |
  /// | a full disk | `storageFull` |
  /// | damaged, or not opened | `unreadableStore` |
  /// | locked for too long | `storeLocked` |
  /// | read-only | `readOnlyStore` |
  /// | another error of the disk | `storageFailure` |
  /// | a broken constraint | `modelValidationFailure` |
  /// | interrupted | `storeFailure` |
  /// | malformed JSON | `unreadableValue` |
  /// | a missing table or column | `unknownSchema` |
  /// | a view | `unreadableStore` |
  /// | anything else | `storeFailure` |
  static func error(_ error: SQLiteError) -> SwiftDataError {
    switch error.kind {
    case .full: .ofFullDisk()
    case .damaged:
      .init(
        .unreadableStore,
        "The file is not a store, or is damaged (\(error.message)). It was left untouched; open a "
          + "backup, or move the file away to start afresh.")
    case .locked:
      .init(
        .storeLocked,
        "Another process has kept the store locked for \(RecordStore.lockTimeout) seconds. "
          + "Find out what holds it, then try again.")
    case .readOnly: .ofReadOnlyFile()
    // This code has many causes; too few descriptors is the one with another remedy.
    case .notOpened where POSIXDisk.lacksDescriptors:
      .init(
        .unreadableStore,
        "The store cannot be opened: this process, or the system, has too many files open. Close some, or raise the limit "
          + "with ulimit -n.")
    case .notOpened:
      .init(
        .unreadableStore,
        "The store cannot be opened (\(error.message)). Check that its directory exists, and that this user may "
          + "write the directory and the store's files.")
    case .disk:
      .init(
        .storageFailure,
        "The disk failed (\(error.message)), and nothing was written. Check the disk, and try again.",
        ofSave:
          "The disk failed (\(error.message)). Nothing was saved and the changes are still pending; "
          + "check the disk and save again.")
    case .constraint:
      .init(
        .modelValidationFailure,
        "The store refused a row: \(error.message). Nothing was saved; change the object's value, or "
          + "remove the constraint if another program added it.")
    case .interrupted:
      .init(
        .storeFailure,
        "The work was stopped before it finished, and nothing was changed. Start it again.")
    case .view: view(error.message)
    // The code of the rest is SQLITE_ERROR alone, so SQLite's message tells them apart.
    case .other where error.message == "malformed JSON":
      .init(
        .unreadableValue,
        "A value that the statement reads should be JSON, and isn't: another program has written it. Fetch without a predicate or "
          + "order of that property: the error then names the row. Repair that, or open a backup.")
    case .other where error.message.hasPrefix("no such column"),
      .other where error.message.hasPrefix("no such table"):
      .init(
        .unknownSchema,
        "The store's tables do not match the models: \(error.message). Another program may have migrated the store "
          + "in the meantime; open a new container. One with allowsSave: false migrates nothing: if the store is older than "
          + "the models, open it for writing first.")
    case .other: other(error)
    }
  }

  /// An error of SQLite that has no case here.
  private static func other(_ error: SQLiteError) -> SwiftDataError {
    let statement = error.sql.isEmpty ? "" : " The statement: \(error.sql)"
    return SwiftDataError(
      .storeFailure,
      "SQLite refused to work on the store (error \(error.code): \(error.message)). Try again; if it fails again, "
        + "check the store with ModelContainer.check(), and report this message.\(statement)")
  }

  /// A view where the store has a table.
  static func view(_ detail: String) -> SwiftDataError {
    .init(
      .unreadableStore,
      "Another program has put a view where the store has a table, and views are not read "
        + "(\(detail)). Open a backup of the store, or make the view a table again.")
  }
}
