import Foundation
import SteadSync
import SwiftData

/// A device's folder: its store and its credentials.
struct SyncDevice {
  let container: ModelContainer
  let engine: SyncEngine

  /// Makes the folder of a device that the server knows.
  static func folder(_ name: String, in directory: URL, at server: SyncServerProcess) async throws
    -> URL
  {
    let folder = directory.appending(path: name)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try await server.enrol(credentials(in: folder))
    return folder
  }

  init(in folder: URL) throws {
    container = try ReadingStore.open(folder.appending(path: "readings.store"))
    engine = try SyncEngine(
      container, transport: try HTTPSyncTransport(credentials: Self.credentials(in: folder)))
  }

  private static func credentials(in folder: URL) -> SyncCredentialFile {
    SyncCredentialFile(folder.appending(path: "account.json"))
  }
}
