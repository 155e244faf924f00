public import Foundation
import SteadFiles

/// Credentials in a file that only its owner may read.
///
/// For servers and command-line programs. On a desktop, keep them in a store of SteadSecrets.
public struct SyncCredentialFile: SyncCredentialStore {
  private let file: AtomicFile

  public init(_ url: URL) { file = AtomicFile(url) }

  public func load() throws -> SyncCredentials? {
    guard let data = try file.readIfPresent() else { return nil }
    return try JSONDecoder().decode(SyncCredentials.self, from: data)
  }

  public func save(_ credentials: SyncCredentials) throws {
    try file.replace(with: try JSONEncoder().encode(credentials), permissions: .ownerOnly)
  }
}
