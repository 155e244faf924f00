import Foundation
import SteadFiles

/// Examines an environment, and opens stores in it.
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

  /// A copy for a program that does or does not allow key files.
  func allowing(keyFile isAllowed: Bool) -> StoreOpener {
    var opener = self
    opener.allowsKeyFile = allowsKeyFile && isAllowed
    return opener
  }

  /// Probes the system for a service without a record; waits for the Secret Service's answer.
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
    return StoreProbe(
      keychain: Self.keychain, secretService: finding,
      vaultKey: needsKey ? try files.keyLocation(allowsKeyFile: allowsKeyFile) : nil)
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

  /// Whether an unreachable service is certainly missing, not just temporarily unavailable.
  private func isCertain(_ reason: SecretError.Unavailability) -> Bool {
    switch reason {
    case .noLibrary, .noService, .notOnThisSystem: true
    // An address that leads nowhere belongs to a session that has ended, or has yet to begin.
    case .noBus: !BusAddress.isGiven(in: environment)
    default: false
    }
  }

  private static func uncertain(_ error: SecretError) -> SecretError {
    var error = error
    error.message +=
      " No location has been chosen for these secrets yet, and the Secret Service may have "
      + "some, so no "
      + "other location is used. To do without it, name one: Secrets(service:in: .vault())."
    return error
  }

  private var portal: SecretPortal { SecretPortal(environment: environment, timeout: timeout) }

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

  /// Whether a vault exists; whether it can be opened isn't checked.
  func hasVault(_ address: StoreAddress) throws(SecretError) -> Bool {
    try VaultFile(url(ofVault: address)).status() != nil
  }

  /// Whether a vault exists at a location, or existed once: one that has disappeared isn't one without secrets.
  func isVaultExpected(at url: URL) throws(SecretError) -> Bool {
    let file = try VaultFile(url)
    return try file.status() != nil
      || VaultPin(vault: file.path, environment: environment).id() != nil
  }

  /// Opens a vault with a key, or with the first default key that opens it.
  func openVault(
    at url: URL, key: VaultKey?, _ opening: Vault.Opening
  ) throws(SecretError) -> Vault {
    var failure: SecretError?
    let keys = if let key { [key] } else { try defaultKeys() }
    for key in keys {
      do throws(SecretError) {
        // A vault that another key opens exists, so only the first key can be a new vault's.
        return try Vault(
          at: url, key: key, opening: failure == nil ? opening : .open, environment: environment)
      } catch  where error.code == .wrongKey || error.code == .notFound {
        failure = failure ?? error
      } catch {
        // Without a vault, the error is the reason why the first key could not create one.
        throw error.code == .notInitialized ? failure ?? error : error
      }
    }
    throw failure ?? SecretFiles.noKey
  }

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
