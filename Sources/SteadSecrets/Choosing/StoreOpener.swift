import Foundation
import SteadFiles

/// Looks at what an environment has, and opens stores there.
struct StoreOpener: Sendable {
  let service: String
  let environment: [String: String]
  /// How long the Secret Service may take to answer.
  let timeout: Duration
  let files: SecretFiles
  /// Whether a vault may have its key in a file beside it.
  var allowsKeyFile = true

  init(
    service: String, environment: [String: String], timeout: Duration
  ) throws(SecretError) {
    self.service = service
    self.environment = environment
    self.timeout = timeout
    files = try SecretFiles(environment: environment)
  }

  /// The same, for a program that allows key files or not.
  func allowing(keyFile isAllowed: Bool) -> StoreOpener {
    var opener = self
    opener.allowsKeyFile = allowsKeyFile && isAllowed
    return opener
  }

  /// What there is for a service without a record; it waits for the Secret Service's answer.
  ///
  /// - Throws: ``SecretError`` when there is a Secret Service, or may be one, and it does not tell its
  ///   state: it may have secrets, which a second place would hide.
  func probe() throws(SecretError) -> StoreProbe {
    if Self.keychain == nil, try isPortalOffered() {
      // What the sandbox lets through of the Secret Service would have the secrets of all apps.
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

  private var portal: SecretPortal { SecretPortal(environment: environment, timeout: timeout) }

  private func isPortalOffered() throws(SecretError) -> Bool {
    guard SecretPortal.isForProcess(environment) else { return false }
    do throws(SecretError) {
      return try portal.isOffered()
    } catch {
      throw Self.uncertain(error)
    }
  }

  /// The store at an address.
  ///
  /// - Parameter isNew: Whether a vault that is not there is made.
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
  /// The service's usual vault.
  var usualVault: URL { files.vault(of: service) }

  func url(ofVault address: StoreAddress) -> URL {
    address.location.map { URL(filePath: $0, directoryHint: .notDirectory) } ?? usualVault
  }

  /// Whether a vault is there; whether it can be opened is not looked at.
  func hasVault(_ address: StoreAddress) throws(SecretError) -> Bool {
    try VaultFile(url(ofVault: address)).status() != nil
  }

  /// Whether a vault is at a place, or was there once: one that is gone is not one without secrets.
  func isVaultExpected(at url: URL) throws(SecretError) -> Bool {
    let file = try VaultFile(url)
    return try file.status() != nil
      || VaultPin(vault: file.path, environment: environment).id() != nil
  }

  /// A vault, by a key, or by the first of the usual ones that opens it.
  func openVault(
    at url: URL, key: VaultKey?, _ opening: Vault.Opening
  ) throws(SecretError) -> Vault {
    var failure: SecretError?
    let keys = if let key { [key] } else { try usualKeys() }
    for key in keys {
      do throws(SecretError) {
        // A vault that another key opens is there, so only the first key can be a new one's.
        return try Vault(
          at: url, key: key, opening: failure == nil ? opening : .open, environment: environment)
      } catch  where error.code == .wrongKey || error.code == .notFound {
        failure = failure ?? error
      } catch {
        // Without a vault, what kept the first key from making one is the reason.
        throw error.code == .notInitialized ? failure ?? error : error
      }
    }
    throw failure ?? SecretFiles.noKey
  }

  private func usualKeys() throws(SecretError) -> [VaultKey] {
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
