import Foundation
import SteadFiles

extension CacheDatabase {
  /// Removes files of values that no entry has, and drafts whose writers are gone.
  ///
  /// Runs in a transaction, while no other process can give a file to an entry. Costs a listing of the files.
  func sweep(_ transaction: CacheTransaction, _ open: OpenDatabase) throws {
    for name in try directory.disk.names(in: directory.values) {
      if name.hasPrefix(ValueFileDraft.prefix) {
        ValueFileDraft.sweep(directory.path(ofValue: name), disk: directory.disk)
      } else if try !isOfAnEntry(name, transaction, open) {
        removeFile(name)
      }
    }
  }

  private func isOfAnEntry(
    _ name: String, _ transaction: CacheTransaction, _ open: OpenDatabase
  ) throws -> Bool {
    guard let digits = name.split(separator: "-").last, let id = Int64(digits),
      open.name(ofValue: id) == name
    else { return false }
    let found = try transaction.connection.integer(
      "SELECT id FROM contents WHERE id = ?", [.integer(id)])
    return found != nil
  }
}
