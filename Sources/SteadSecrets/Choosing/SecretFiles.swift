import Foundation
import SteadFiles

/// Where choosing has its files, by the rules of the system.
struct SecretFiles: Hashable, Sendable {
  /// The name of the systemd credential that opens the usual vault.
  static let credentialName = "stead-vault-key"

  /// A record for each service.
  let records: URL
  /// Held by writers together, and by who makes a service's first record or moves its secrets alone.
  let lock: URL
  /// The usual vault.
  let vault: URL
  /// The key of the usual vault, where systemd gives none.
  let keyFile: URL
  /// Where systemd puts the service's credentials, if it does.
  let credentials: URL?

  init(environment: [String: String]) throws(SecretError) {
    let directories: AppDirectories
    do {
      directories = try AppDirectories(id: "stead", environment: environment)
    } catch {
      throw SecretError(
        code: .failed, message: "The user's directories cannot be told. Set HOME.", cause: error)
    }
    records = directories.config.appending(path: "secrets", directoryHint: .isDirectory)
    lock = records.appending(path: "lock", directoryHint: .notDirectory)
    vault = directories.data.appending(path: "secrets.vault", directoryHint: .notDirectory)
    keyFile = directories.config.appending(path: "secrets.key", directoryHint: .notDirectory)
    credentials = environment["CREDENTIALS_DIRECTORY"]
      .flatMap { $0.hasPrefix("/") ? URL(filePath: $0, directoryHint: .isDirectory) : nil }
  }

  /// Which key the usual vault gets when it is made now.
  var keyLocation: StoreProbe.KeyLocation {
    if hasCredential { return .systemdCredential(name: Self.credentialName) }
    return .keyFile(path: keyFile.path(percentEncoded: false))
  }

  var hasCredential: Bool {
    guard let credentials else { return false }
    let path = credentials.appending(path: Self.credentialName).path(percentEncoded: false)
    return ((try? POSIXDisk().statusFollowingLinks(path)) ?? nil)?.kind == .file
  }
}
