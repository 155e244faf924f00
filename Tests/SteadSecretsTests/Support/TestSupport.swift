import Foundation
import SteadSecrets
import Testing

// For all files of this target.
@_exported import SteadTestSupport

/// The ``SecretError`` that a body throws; nil when it throws none.
func secretError<Result>(_ body: () throws -> Result) -> SecretError? {
  do {
    _ = try body()
    return nil
  } catch {
    return checked(error)
  }
}

/// The same of a body that waits.
func secretError<Result>(
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
) async -> SecretError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return checked(error)
  }
}

/// The code of the ``SecretError`` that a body throws; nil when it throws none.
func errorCode<Result>(_ body: () throws -> Result) -> SecretError.Code? { secretError(body)?.code }

/// The same of a body that waits.
func errorCode<Result>(
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
) async -> SecretError.Code? {
  await secretError(body)?.code
}

/// The error, seen to have the details that its code promises, and no others.
private func checked(_ error: any Error) -> SecretError? {
  guard let error = error as? SecretError else { return nil }
  #expect((error.unavailability != nil) == (error.code == .unavailable))
  #expect((error.feature != nil) == (error.code == .unsupported))
  return error
}

// MARK: - Home

/// A user's home directory of a test's own, with a desktop's keyring or without.
struct Home: Sendable {
  static let service = "org.example.Notes"

  /// What a process of this user sees.
  var environment: [String: String]
  /// The keyring, where there is one.
  let session: KeyringSession?
  private let directory: TemporaryDirectory?
  private var keyring: BorrowedKeyring?

  /// A home with no bus, no display and nothing else that desktops have.
  init() throws {
    let directory = try TemporaryDirectory(inMemory: true)
    environment = ["HOME": directory.url.filePath]
    self.directory = directory
    session = nil
  }

  /// A home on a desktop with a real keyring.
  init(_ session: KeyringSession) {
    environment = session.environment
    self.session = session
    directory = nil
  }

  /// A home of its own on a desktop whose keyring other tests have used.
  init(_ keyring: BorrowedKeyring) throws {
    let directory = try TemporaryDirectory(inMemory: true)
    session = keyring.session
    environment = keyring.session.environment
    environment["HOME"] = directory.url.filePath
    (self.directory, self.keyring) = (directory, keyring)
  }

  /// The same home as a process sees it that the desktop did not start.
  var withoutDesktop: Home {
    var home = self
    home.environment = environment.filter { $0.key == "HOME" || $0.key == "PATH" }
    return home
  }

  func secrets(_ place: SecretStoreLocation = .automatic) throws(SecretError) -> Secrets {
    // More than a user would wait, for a machine that runs many tests at once.
    try Secrets(
      service: Self.service, in: place, environment: environment, timeout: .seconds(120))
  }

  func file(_ path: String) -> URL {
    URL(filePath: environment["HOME"] ?? "/nowhere").appending(path: path)
  }

  var record: URL { file(".config/stead/secrets/\(Self.service).json") }
  var vault: URL { file(".local/share/stead/secrets/\(Self.service).vault") }
  var keyFile: URL { file(".config/stead/secrets.key") }

  func has(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.filePath) }
}
