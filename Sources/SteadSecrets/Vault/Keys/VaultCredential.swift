import Foundation
import SteadFiles

/// A credential that systemd gives to a service, as a file that the service alone can read.
struct VaultCredential {
  private let name: String
  private let directory: String?

  init(_ name: String, _ environment: [String: String]) throws(SecretError) {
    guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/"), !name.utf8.contains(0) else {
      throw SecretError(
        code: .invalidName,
        message: "A credential's name is not empty, does not begin with a dot, and has no slash. "
          + "Choose another.")
    }
    self.name = name
    directory = environment["CREDENTIALS_DIRECTORY"]
  }

  func bytes() throws(SecretError) -> SecretBytes {
    guard let directory, directory.hasPrefix("/") else {
      throw SecretError(
        code: .notFound,
        message:
          "There are no credentials, since CREDENTIALS_DIRECTORY is not set. Run the program "
          + "as a service of systemd with LoadCredentialEncrypted=\(name).")
    }
    let path = directory + "/" + name
    guard let file = try OpenFile(readingIfPresent: path) else {
      throw SecretError(
        code: .notFound,
        message: "There is no credential \(name) in \(directory). Add "
          + "LoadCredentialEncrypted=\(name) to the service.")
    }
    try FileSafety.checkCredential(file.status, at: path)
    return try file.secret(limit: VaultKey.maximumSize)
  }
}
