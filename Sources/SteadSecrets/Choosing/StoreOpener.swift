import Foundation
import SteadFiles

/// Probes an environment for stores, and opens those at an address.
///
/// The decision between them is ``StoreChoice``, a value without I/O.
struct StoreOpener: Sendable {
  let service: String
  let environment: [String: String]
  /// How long the Secret Service may take to answer.
  let timeout: Duration
  let files: SecretFiles
  /// Whether a vault may have its key in a file next to it.
  var allowsKeyFile = true

  init(
    service: String, environment: [String: String], timeout: Duration
  ) throws(SecretError) {
    self.service = service
    self.environment = environment
    self.timeout = timeout
    files = try SecretFiles(environment: environment)
  }

  /// A copy that allows key files only if the location does, too.
  func allowing(keyFile isAllowed: Bool) -> StoreOpener {
    var opener = self
    opener.allowsKeyFile = allowsKeyFile && isAllowed
    return opener
  }

  /// Probes the system for a service without a record. It waits for the Secret Service's answer, up to the timeout.
  ///
  /// - Throws: ``SecretError`` when a Secret Service exists, or may exist, and does not report its state: it
  ///   may have secrets that a second location would hide.
  func probe() throws(SecretError) -> StoreProbe {
    if Self.keychain == nil, try isPortalOffered() {
      // The part of the Secret Service that the sandbox allows would contain the secrets of all apps.
      return StoreProbe(secretService: .absent(.notOnThisSystem), vaultKey: .secretPortal)
    }
    let finding = try secretServiceFinding()
    let needsKey = Self.keychain == nil && finding.leadsToVault
    // Only if it is needed: a missing key is an error, which must not keep a keyring from being used.
    return StoreProbe(
      keychain: Self.keychain, secretService: finding,
      vaultKey: needsKey ? try files.keyLocation(allowsKeyFile: allowsKeyFile) : nil)
  }

  /// The Secret Service's state, or that it is certainly missing.
  private func secretServiceFinding() throws(SecretError) -> StoreProbe.Finding {
    if Self.keychain != nil { return .absent(.notOnThisSystem) }
    do throws(SecretError) {
      return .state(try secretService(.default).state())
    } catch {
      // Uncertain is not absent: a vault now would hide the secrets that the keyring has once it answers.
      guard let reason = error.unavailability, isCertain(reason) else {
        throw Self.uncertain(error)
      }
      return .absent(reason)
    }
  }

  /// Whether an unreachable service is certainly missing, not just temporarily unavailable.
  private func isCertain(_ reason: SecretError.Unavailability) -> Bool {
    switch reason {
    case .noLibrary, .noService, .notOnThisSystem: true
    // An address that leads nowhere belongs to a session that has ended, or has yet to begin.
    case .noBus: !BusAddress.isGiven(in: environment)
    default: false
    }
  }

  /// Adds to an error why no other location is used.
  private static func uncertain(_ error: SecretError) -> SecretError {
    var error = error
    error.message +=
      " No location has been chosen for these secrets yet, and the Secret Service may have "
      + "some, so no "
      + "other location is used. To do without it, name one: Secrets(service:in: .vault())."
    return error
  }

  private var portal: SecretPortal { SecretPortal(environment: environment, timeout: timeout) }

  /// Whether the process is in a sandbox, and its desktop has the Secret portal. Without a sandbox it costs
  /// no message.
  private func isPortalOffered() throws(SecretError) -> Bool {
    guard SecretPortal.isForProcess(environment) else { return false }
    do throws(SecretError) {
      return try portal.isOffered()
    } catch {
      throw Self.uncertain(error)
    }
  }

  /// Opens the store at an address.
  ///
  /// - Parameter isNew: Whether to create a missing vault.
  func open(_ address: StoreAddress, isNew: Bool) throws(SecretError) -> any SecretStore {
    switch address.kind {
    case .secretService: secretService(address.location.map { .named($0) } ?? .default)
    case .vault:
      try openVault(at: url(ofVault: address), key: nil, isNew ? .openOrCreate : .open)
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

  private static func elsewhere(_ address: StoreAddress) -> SecretError {
    SecretError(
      code: .unavailable,
      message: "The secrets were moved to a store that only the program can open: \(address). Name "
        + "it: Secrets(service:in: .store(...)).",
      unavailability: .notOnThisSystem)
  }
}

extension StoreOpener {
  /// The service's default vault.
  var defaultVault: URL { files.vault(of: service) }

  func url(ofVault address: StoreAddress) -> URL {
    address.location.map { URL(filePath: $0, directoryHint: .notDirectory) } ?? defaultVault
  }

  /// Whether a vault's file exists. It isn't opened.
  func hasVault(_ address: StoreAddress) throws(SecretError) -> Bool {
    try VaultFile(url(ofVault: address)).status() != nil
  }

  /// Whether a vault exists at a location, or existed there once.
  ///
  /// One that has disappeared must not be treated as one without secrets: its file system may not be mounted.
  func isVaultExpected(at url: URL) throws(SecretError) -> Bool {
    let file = try VaultFile(url)
    return try file.status() != nil
      || VaultPin(vault: file.path, environment: environment).id() != nil
  }

  /// Opens a vault with a key, or with the first default key that opens it.
  ///
  /// A new vault gets the first of the default keys, the one that protects it best.
  func openVault(
    at url: URL, key: VaultKey?, _ opening: Vault.Opening
  ) throws(SecretError) -> Vault {
    var failure: SecretError?
    let keys = if let key { [key] } else { try defaultKeys() }
    for key in keys {
      do throws(SecretError) {
        // Only the first key may create a vault. If it fails, a later key may open an existing one, but must not
        // create a vault that is protected less.
        return try Vault(
          at: url, key: key, opening: failure == nil ? opening : .open, environment: environment)
      } catch  where error.code == .wrongKey || error.code == .notFound {
        // The first failure is reported: it is of the key that the vault should have.
        failure = failure ?? error
      } catch {
        // Without a vault, the error is the reason why the first key could not create one.
        throw error.code == .notInitialized ? failure ?? error : error
      }
    }
    throw failure ?? SecretFiles.noKey
  }

  /// The keys of a default vault that the process has, those that protect it best first.
  private func defaultKeys() throws(SecretError) -> [VaultKey] {
    var keys: [VaultKey] = []
    if files.hasCredential { keys.append(.systemdCredential(name: SecretFiles.credentialName)) }
    if try isPortalOffered() {
      keys.append(.secretPortal(timeout: timeout, environment: environment))
    }
    if allowsKeyFile { keys.append(.keyFile(files.keyFile)) }
    return keys
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
