import Foundation
import SteadFiles

/// A credential that systemd gives to a service, as a file that only the service can read.
struct VaultCredential {
  private let name: String
  private let directory: String?

  init(_ name: String, _ environment: [String: String]) throws(SecretError) {
    guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/"), !name.utf8.contains(0) else {
      throw SecretError(
        code: .invalidName,
        message: "A credential's name must not be empty, begin with a dot, or contain a slash or a "
          + "NUL. Choose another.")
    }
    self.name = name
    directory = environment["CREDENTIALS_DIRECTORY"]
  }

  func bytes() throws(SecretError) -> SecretBytes {
    guard let directory, directory.hasPrefix("/") else {
      throw SecretError(
        code: .notFound,
        message:
          "No credentials exist, since CREDENTIALS_DIRECTORY isn't set. Run the program "
          + "as a systemd service with LoadCredentialEncrypted=\(name).")
    }
    let path = directory + "/" + name
    guard let file = try OpenFile(readingIfPresent: path) else {
      throw SecretError(
        code: .notFound,
        message: "The credential \(name) does not exist in \(directory). Add "
          + "LoadCredentialEncrypted=\(name) to the service.")
    }
    try FileSafety.checkCredential(file.status, at: path)
    return try file.secret(limit: VaultKey.maximumSize)
  }
}
