import Foundation
import SteadFiles
import SteadSQLite

extension ExternalData {
  /// The bytes; empty, with a report, when the file is gone or damaged.
  ///
  /// Another process keeps no file for objects of this one. If it has replaced the value since, the newest one is
  /// returned, which may be nil.
  func data<Owner: PersistentModel>(for owner: Owner, _ index: Int) -> Data? {
    do {
      do {
        return try blobs.read(reference)
      } catch let error as FileError where error.code == .notFound {
        switch try owner._$statePointer.pointee.home?.newestColumn(of: owner, index) {
        case .null: return nil
        case .blob(let data): return data
        case .text(let other) where other != reference: return try blobs.read(other)
        default: throw error
        }
      }
    } catch {
      Report.problem(
        .externalFileFailed, subject: "property \(index) of \(owner.persistentModelID)",
        message: "The file cannot be read. Restore the store's directory from a backup.",
        cause: error)
      return Data()
    }
  }
}
