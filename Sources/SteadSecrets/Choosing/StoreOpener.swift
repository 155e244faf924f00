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
  func probe() -> StoreProbe {
    StoreProbe(
      keychain: Self.keychain, secretService: secretServiceState, vaultKey: files.keyPlace)
  }

  private var secretServiceState: StoreProbe.Finding {
    if Self.keychain != nil { return .failure(.unavailable(.notOnThisSystem)) }
    do throws(SecretError) {
      return .state(try secretService(.default).state())
    } catch {
      return .failure(error.code)
    }
  }

  /// The store at a place that was chosen.
  ///
  /// - Parameter isNew: Whether a vault that is not there is made.
  func open(_ place: ChosenPlace, isNew: Bool) throws(SecretError) -> any SecretStore {
    switch place.kind {
    case .secretService: secretService(place.location.map { .named($0) } ?? .default)
    case .vault: try openVault(at: url(ofVault: place), isNew: isNew)
    case .keychain: try openKeychain(place)
    case .elsewhere: throw Self.elsewhere(place)
    }
  }

  func secretService(
    _ collection: SecretService.Collection, prompts: SecretPrompts = .never
  ) -> SecretService {
    SecretService(
      collection: collection, timeout: timeout, prompts: prompts, environment: environment)
  }

  func url(ofVault place: ChosenPlace) -> URL {
    place.location.map { URL(filePath: $0, directoryHint: .notDirectory) } ?? files.vault
  }

  /// Whether a vault is there; whether it can be opened is not looked at.
  func hasVault(_ place: ChosenPlace) throws(SecretError) -> Bool {
    try SecretError.files {
      try POSIXDisk().statusFollowingLinks(url(ofVault: place).checkedPath) != nil
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

  private static func elsewhere(_ place: ChosenPlace) -> SecretError {
    SecretError(
      code: .unavailable(.notOnThisSystem),
      message: "The secrets were moved to a store that only the program can open: \(place). Name "
        + "it: Secrets(service:in: .store(...)).")
  }
}
