import Foundation
import SteadFiles

/// Looks at what an environment has, and opens stores there.
struct StoreOpener: Sendable {
  let environment: [String: String]
  /// How long the Secret Service may take to answer.
  let timeout: Duration
  let files: SecretFiles

  init(environment: [String: String], timeout: Duration) throws(SecretError) {
    self.environment = environment
    self.timeout = timeout
    files = try SecretFiles(environment: environment)
  }

  /// What there is for a service without a record; it waits for the Secret Service's answer.
  ///
  /// - Throws: ``SecretError`` when there is a Secret Service, or may be one, and it does not tell its
  ///   state: it may have secrets, which a second place would hide.
  func probe() throws(SecretError) -> StoreProbe {
    let finding = try secretServiceFinding()
    return StoreProbe(
      keychain: Self.keychain, secretService: finding, vaultKey: try files.keyLocation)
  }

  private func secretServiceFinding() throws(SecretError) -> StoreProbe.Finding {
    if Self.keychain != nil { return .absent(.notOnThisSystem) }
    do throws(SecretError) {
      return .state(try secretService(.default).state())
    } catch {
      guard let reason = error.unavailability, isCertain(reason) else {
        throw Self.uncertain(error)
      }
      return .absent(reason)
    }
  }

  /// Whether a service that cannot be reached is none, and not one that is away for now.
  private func isCertain(_ reason: SecretError.Unavailability) -> Bool {
    switch reason {
    case .noLibrary, .noService, .notOnThisSystem: true
    // An address that leads nowhere is a session's that has ended, or one that has still to begin.
    case .noBus: !BusAddress.isGiven(in: environment)
    default: false
    }
  }

  private static func uncertain(_ error: SecretError) -> SecretError {
    var error = error
    error.message +=
      " No place has been chosen for these secrets yet, and the Secret Service may have some, so that no "
      + "other place is used. Name one to do without: Secrets(service:in: .vault())."
    return error
  }

  /// The store at an address.
  ///
  /// - Parameter isNew: Whether a vault that is not there is made.
  func open(_ address: StoreAddress, isNew: Bool) throws(SecretError) -> any SecretStore {
    switch address.kind {
    case .secretService: secretService(address.location.map { .named($0) } ?? .default)
    case .vault: try openVault(address, isNew: isNew)
    case .keychain: try openKeychain(address)
    case .elsewhere: throw Self.elsewhere(address)
    }
  }

  func secretService(
    _ collection: SecretService.Collection, prompts: SecretService.PromptPolicy = .never
  ) -> SecretService {
    SecretService(
      collection: collection, timeout: timeout, prompts: prompts, environment: environment)
  }

  func url(ofVault address: StoreAddress) -> URL {
    address.location.map { URL(filePath: $0, directoryHint: .notDirectory) } ?? files.vault
  }

  /// Whether a vault is there; whether it can be opened is not looked at.
  func hasVault(_ address: StoreAddress) throws(SecretError) -> Bool {
    try SecretError.files {
      try POSIXDisk().statusFollowingLinks(url(ofVault: address).checkedPath) != nil
    }
  }

  /// A vault that services share. One at a time makes it, and its key.
  private func openVault(_ address: StoreAddress, isNew: Bool) throws(SecretError) -> Vault {
    let url = url(ofVault: address)
    guard isNew else { return try openVault(at: url, isNew: false) }
    return try SecretError.files {
      try POSIXDisk().makeDirectories(files.records.checkedPath)
      return try FileLock(files.lock).hold(for: FileLock.writerLimit) {
        try openVault(at: url, isNew: true)
      }
    }
  }

  /// A vault, by the first key of the usual ones that opens it.
  func openVault(at url: URL, isNew: Bool) throws(SecretError) -> Vault {
    var keys = [VaultKey.keyFile(files.keyFile)]
    if files.hasCredential {
      keys.insert(.systemdCredential(name: SecretFiles.credentialName), at: 0)
    }
    var failure: SecretError?
    for key in keys {
      do throws(SecretError) {
        // A vault that another key opens is there, so only the first key can be a new one's.
        let opening = isNew && failure == nil ? Vault.Opening.openOrCreate : .open
        return try Vault(at: url, key: key, opening: opening, environment: environment)
      } catch  where error.code == .wrongKey || error.code == .notFound {
        failure = failure ?? error
      }
    }
    throw failure
      ?? SecretError(code: .wrongKey, message: "There is no key to open the vault with.")
  }

  private static func elsewhere(_ address: StoreAddress) -> SecretError {
    SecretError(
      code: .unavailable,
      message: "The secrets were moved to a store that only the program can open: \(address). Name "
        + "it: Secrets(service:in: .store(...)).",
      unavailability: .notOnThisSystem)
  }
}

#if !canImport(Security)
  extension StoreOpener {
    static let keychain: StoreAddress? = nil

    func openKeychain(_ address: StoreAddress) throws(SecretError) -> any SecretStore {
      throw SecretError(
        code: .unavailable, message: "This system has no Keychain.",
        unavailability: .notOnThisSystem)
    }
  }
#endif
