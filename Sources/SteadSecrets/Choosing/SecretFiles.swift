import Foundation
import SteadFiles

/// The paths of records, default vaults and their key, by the rules of the system.
///
/// It is computed from the environment once, and touches no file except in ``check()`` and
/// ``keyLocation(allowsKeyFile:)``.
struct SecretFiles: Hashable, Sendable {
  /// The name of the systemd credential that opens the default vault.
  static let credentialName = "stead-vault-key"

  /// A record for each service, and its lock.
  let records: URL
  /// The default vaults, one for each service: one app's secrets do not slow down or block another's writes.
  private let vaults: URL
  /// The key of the default vaults, if no better source exists.
  let keyFile: URL
  /// Where systemd puts the service's credentials, if it does.
  let credentials: URL?
  /// What is wrong with the home directory; nil if nothing is, or if no path is below it.
  ///
  /// An error of ``check()``, not of the initializer: named locations do not depend on it.
  private let homeProblem: String?

  /// - Parameters:
  ///   - environment: The process's environment, or a test's substitute.
  ///   - accountHome: The home without `HOME`: the user database's.
  init(
    environment: [String: String], accountHome: URL = HomeDirectory.account
  ) throws(SecretError) {
    let directories: AppDirectories
    do {
      directories = try AppDirectories(id: "stead", environment: environment)
    } catch {
      throw SecretError(
        code: .failed, message: "The user's directories cannot be determined. Set HOME.",
        cause: error)
    }
    records = directories.config.appending(path: "secrets", directoryHint: .isDirectory)
    vaults = directories.data.appending(path: "secrets", directoryHint: .isDirectory)
    keyFile = directories.config.appending(path: "secrets.key", directoryHint: .notDirectory)
    // The key is below the configuration and the vaults are below the data, so that a copy of the data alone opens
    // nothing.
    homeProblem = Self.problem(withHomeIn: environment, or: accountHome.path(percentEncoded: false))
    credentials = environment["CREDENTIALS_DIRECTORY"]
      .flatMap { $0.hasPrefix("/") ? URL(filePath: $0, directoryHint: .isDirectory) : nil }
  }

  /// A service's default vault.
  func vault(of service: String) -> URL {
    vaults.appending(path: StoreRecordFile.stem(service) + ".vault", directoryHint: .notDirectory)
  }

  /// Which key a default vault gets when it is created now.
  ///
  /// - Throws: ``SecretError`` `.notFound` if systemd provides credentials, but not this one, unless a key
  ///   file already exists; and if only a key file is available, which the program does not allow.
  func keyLocation(allowsKeyFile: Bool) throws(SecretError) -> StoreProbe.KeyLocation {
    // First, since a key file protects less (see `StoreProbe.KeyLocation.protection`).
    if hasCredential { return .systemdCredential(name: Self.credentialName) }
    guard allowsKeyFile else { throw Self.noKey }
    // A unit with credentials was meant to have this one, too. A key file would quietly protect less.
    let path = keyFile.path(percentEncoded: false)
    if credentials != nil, access(path, F_OK) != 0 {
      throw SecretError(
        code: .notFound,
        message:
          "CREDENTIALS_DIRECTORY is set, but has no credential \(Self.credentialName) to open the "
          + "vault. Add it to the unit with LoadCredentialEncrypted=, or name the vault and its key: "
          + "Secrets(service:in: .vault(key:)).")
    }
    return .keyFile(path: path)
  }

  /// The error if a vault's key could only be in a file next to it, which the program does not allow.
  static let noKey = SecretError(
    code: .notFound,
    message:
      "The secrets would be in a vault whose only key is a file next to it, which the program does "
      + "not allow. Start a Secret Service, give the process the systemd credential \(credentialName), or name "
      + "a key: Secrets(service:in: .vault(key:)).")

  /// Checks that the directories exist, or can be created, and belong to this user.
  ///
  /// - Throws: ``SecretError``: `.failed` for a missing home directory, since it may not be mounted;
  ///   `.accessDenied` for the superuser in another user's directories, since new files there would lock that
  ///   user out.
  func check() throws(SecretError) {
    if let homeProblem {
      throw SecretError(code: .failed, message: homeProblem)
    }
    guard geteuid() == 0 else { return }
    for url in [records, vaults] {
      // The nearest directory that exists, since the missing ones below it would belong to the superuser.
      guard let (path, owner) = Self.nearest(url), owner != 0 else { continue }
      throw SecretError(
        code: .accessDenied,
        message:
          "This program runs as the superuser, and the secrets would be in \(path), which belongs to "
          + "user \(owner), who could not use them. Run it as that user, or with a home of the "
          + "superuser's (sudo -H).")
    }
  }

  /// The nearest existing directory above a path, in which the first missing one would be created, and its owner.
  private static func nearest(_ url: URL) -> (path: String, owner: uid_t)? {
    var directory = url.deletingLastPathComponent()
    while true {
      let path = directory.path(percentEncoded: false)
      if let status = (try? POSIXDisk().statusFollowingLinks(path)) ?? nil {
        return (path, status.user)
      }
      if path == "/" || path.isEmpty { return nil }
      directory.deleteLastPathComponent()
    }
  }

  /// Why the home directory cannot be used; nil if it can, or if both XDG directories are set, so that nothing is
  /// below it.
  private static func problem(
    withHomeIn environment: [String: String], or accountHome: String
  ) -> String? {
    let bases = ["XDG_CONFIG_HOME", "XDG_DATA_HOME"].map { environment[$0] ?? "" }
    if bases.allSatisfy({ $0.hasPrefix("/") }) { return nil }
    let home = environment["HOME"] ?? accountHome
    // An empty HOME is one that was set, and no reason to look elsewhere.
    guard home.hasPrefix("/") else {
      return
        "HOME isn't a path, so the location of the secrets is unknown. Set HOME."
    }
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: home, isDirectory: &isDirectory),
      isDirectory.boolValue
    else {
      return
        "The home directory \(home) does not exist. Mount or create it, or set HOME to another one."
    }
    return nil
  }

  /// Whether systemd gives the process the credential of the default vaults.
  var hasCredential: Bool {
    guard let credentials else { return false }
    let path = credentials.appending(path: Self.credentialName).path(percentEncoded: false)
    return ((try? POSIXDisk().statusFollowingLinks(path)) ?? nil)?.kind == .file
  }
}
