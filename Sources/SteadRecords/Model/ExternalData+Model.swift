import Foundation
import SteadFiles

extension ExternalData {
  /// The bytes; empty, with a report, when the file is gone or damaged.
  func data<Owner: PersistentModel>(for owner: Owner, _ index: Int) -> Data {
    do {
      return try blobs.read(reference)
    } catch {
      Report.problem(
        .externalFileFailed, subject: "property \(index) of \(owner.persistentModelID)",
        message: "The file cannot be read. Restore the store's directory from a backup.",
        cause: error)
      return Data()
    }
  }
}
