import Foundation
import SteadSecrets
import SteadSecretsTesting
import Testing

// One suite runs over every store of the package. To add one:
//
// 1. Make a file Stores/TestedStore+NAME.swift, or open the one that is there for it.
// 2. In it, make a `TestedStore`: a name for the test's title, and a closure that prepares an empty
//    place (a directory, a keyring of its own) and returns what opens a store there. The closure is
//    called once for each test; it may be called on several threads at once. What it makes goes when
//    the closure that it returns does, so let that closure hold it.
// 3. Put it into the list of that file, which `all` below takes in. Leave the list empty where the machine
//    lacks what the store needs, and give a test of its own the trait `needs`, so that it is listed as skipped.
//
// Each call of the returned closure must give another store object on the same place, as another
// part of a program would have. Only a store that is its own place returns itself.

/// A kind of store that the suite is run over.
struct TestedStore: Sendable, CustomTestStringConvertible {
  let name: String
  /// What the store's times are whole multiples of, in seconds; nil when it tells none.
  var timeResolution: TimeInterval? = 0.001
  /// Whether items tell when they were made.
  var tellsCreation = true
  /// Prepares an empty place, and returns what opens a store there.
  let prepare: @Sendable () throws -> @Sendable () throws -> any SecretStore

  var testDescription: String { name }

  /// A place of a test's own, with nothing in it, which goes when the last reference to it does.
  func place() throws -> TestedPlace { TestedPlace(open: try prepare()) }

  /// Stores that a program names.
  static let named: [TestedStore] =
    [.inMemory, .plaintext] + TestedStore.secretServices + TestedStore.vaults

  static let all: [TestedStore] = named + automatic
}

/// Where the stores of one test keep their items.
struct TestedPlace {
  /// Another store object on the place.
  let open: @Sendable () throws -> any SecretStore

  /// The secrets of a service, by a store object of their own.
  func secrets(_ service: String = "org.example.Tests") throws -> Secrets {
    try Secrets(service: service, store: open())
  }
}

// MARK: - Stores

extension TestedStore {
  static let inMemory = TestedStore(name: "in memory") {
    let store = InMemorySecretStore()
    return { store }
  }
}

extension TestedStore {
  static let plaintext = TestedStore(name: "plaintext") {
    let directory = try TemporaryDirectory(inMemory: true)
    return { PlaintextTestStore(at: directory.file("secrets.json")) }
  }
}

extension TestedStore {
  static let vaults: [TestedStore] = [
    vault("with a key file") { .keyFile($0.keyFile) },
    vault("with a passphrase") { _ in TestVault.passphrase("correct horse") },
  ]

  private static func vault(
    _ name: String, key: @escaping @Sendable (TestVault) -> VaultKey
  ) -> TestedStore {
    TestedStore(name: "vault \(name)") {
      let place = try TestVault()
      return { try place.open(key(place)) }
    }
  }
}

extension TestedStore {
  // None where no keyring can be started; KeyringSession.missing says why.
  static let secretServices: [TestedStore] =
    KeyringSession.isAvailable
    ? [
      secretService("Secret Service", .default), secretService("Secret Service, session", .session),
    ]
    : []

  private static func secretService(
    _ name: String, _ collection: SecretService.Collection
  ) -> TestedStore {
    TestedStore(name: name, timeResolution: 1) {
      let keyring = try BorrowedKeyring()
      return {
        // More than a user would wait, for a machine that runs many tests at once.
        SecretService(
          collection: collection, timeout: .seconds(120),
          environment: keyring.session.environment)
      }
    }
  }
}

extension TestedStore {
  /// Stores at automatic places, with and without a desktop; each as its service's record leads to it.
  static let automatic: [TestedStore] =
    [automatic("automatic, without a desktop") { try Home() }]
    + (KeyringSession.isAvailable
      ? [
        automatic("automatic, with a keyring", timeResolution: 1) {
          try Home(BorrowedKeyring())
        }
      ] : [])

  private static func automatic(
    _ name: String, timeResolution: Double = 0.001, home: @escaping @Sendable () throws -> Home
  ) -> TestedStore {
    TestedStore(name: name, timeResolution: timeResolution) {
      let home = try home()
      return { try home.secrets().store }
    }
  }
}
