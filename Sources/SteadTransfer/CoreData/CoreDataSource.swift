import Foundation
import SteadFiles
import SteadRecords
import Synchronization

/// The rows of a store that Core Data or SwiftData wrote.
///
/// Each reading is of a copy that is made for it; the original is never written to, nor is a file beside it.
package final class CoreDataSource: TransferSource {
  private let path: String
  private let schema: Schema
  private let mapping: CoreDataMapping
  private let latest = Mutex<CoreDataReport?>(nil)

  /// - Parameters:
  ///   - url: The store, the file that has the `-wal` beside it.
  ///   - schema: The classes that are to take the rows.
  package init(_ url: URL, schema: Schema, mapping: CoreDataMapping = CoreDataMapping()) throws {
    do {
      path = try POSIXDisk().resolveLinks(url.checkedPath)
    } catch let error as FileError {
      throw Self.failure(error)
    }
    self.schema = schema
    self.mapping = mapping
  }

  package var name: String { "the store \(path)" }
  package var isRemovable: Bool { false }

  /// What the latest reading has found.
  var report: CoreDataReport? { latest.withLock { $0 } }

  package func read(_ progress: TransferProgress.Report) throws -> [TransferItem<StoredRow>] {
    do {
      let snapshot = try CoreDataSnapshot(of: path)
      let store = try ForeignStore(copy: snapshot.store)
      var reader = try CoreDataReader(store, schema, mapping, files: CoreDataFiles(besides: path))
      defer { latest.withLock { [report = reader.report] in $0 = report } }
      let items = try reader.read(progress)
      return try withExtendedLifetime(snapshot) { items }
    } catch let error as SwiftDataError {
      throw TransferError(
        code: .unreadable,
        message: "\(path) is not a SQLite database, or is damaged. It was left as it is; import a "
          + "backup of it.", cause: error)
    } catch let error as FileError {
      throw Self.failure(error)
    }
  }

  /// A store of another program is left as it is.
  package func remove(_ entries: [TransferReceipt.Entry]) throws {}

  private static func failure(_ error: FileError) -> TransferError {
    TransferError(code: .failed, message: error.message, cause: error)
  }

  /// The store's identifier.
  package func identifier() throws -> String {
    let snapshot = try CoreDataSnapshot(of: path)
    return try withExtendedLifetime(snapshot) {
      try CoreDataCatalog(ForeignStore(copy: snapshot.store)).identifier
    }
  }
}
