import Foundation
import SteadFiles
import SteadFormats
@_exported import SteadTestSupport  // For all files of this target.
import Synchronization
@testable import SteadPreferences

/// A home, a machine and a command line of a test's own.
struct TestHome {
  let directory: TemporaryDirectory

  init(inMemory: Bool = false) throws { directory = try TemporaryDirectory(inMemory: inMemory) }

  var config: URL { directory.file("home/config") }
  var managed: URL { directory.file("managed") }
  var allUsers: URL { directory.file("all users") }

  func environment(
    appID: String = "com.example.app", arguments: [String] = []
  ) -> Preferences.Environment {
    Preferences.Environment(
      appID: appID,
      variables: [
        "HOME": directory.url.filePath, "XDG_CONFIG_HOME": config.filePath,
        "XDG_CONFIG_DIRS": "relative:\(directory.file("none").filePath):\(allUsers.filePath)",
      ],
      arguments: arguments, managedDirectory: managed, host: "host1")
  }

  /// Writes a property list, with the directories on the way.
  func write(_ fields: PropertyList.Fields, to file: URL) throws {
    try write(BinaryPropertyList.encode(fields), to: file)
  }

  func write(_ data: Data, to file: URL) throws {
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: file)
  }

  func removeFile(_ file: URL) throws { try FileManager.default.removeItem(at: file) }
}

/// What `onError` was told.
final class ReportedErrors: Sendable {
  private let errors = ForkSafeLock<[PreferencesError]>([])

  var handler: Preferences.ErrorHandler {
    { [errors] error in errors.withLock { $0.append(error) } }
  }
  /// With what has been found so far by reads, which report it on another thread.
  var codes: [PreferencesError.Code] { all.map(\.code) }
  var messages: [String] { all.map(\.message) }

  private var all: [PreferencesError] {
    let isDelivered = ForkSafeLock(false)
    DomainStore.deliveries.call { isDelivered.withLock { $0 = true } }
    while !isDelivered.withLock({ $0 }) { sched_yield() }
    return errors.withLock { $0 }
  }
}

/// The errors that preferences have reported.
final class ErrorLog: Sendable {
  private let errors = Mutex<[PreferencesError]>([])

  init(_ preferences: Preferences) {
    preferences.onError = { [weak self] error in self?.errors.withLock { $0.append(error) } }
  }

  var codes: [PreferencesError.Code] { errors.withLock { $0.map(\.code) } }
  var keys: [String?] { errors.withLock { $0.map(\.key) } }
  var texts: [String] { errors.withLock { $0.map(\.description) } }
}

/// Counts from any thread.
final class Counter: Sendable {
  private let number = Atomic(0)
  func count() { number.add(1, ordering: .relaxed) }
  var value: Int { number.load(ordering: .relaxed) }
}

extension Preferences {
  /// The keys of the domain that is written.
  var storedKeys: Set<String> { Set((persistentDomain(forName: domain) ?? [:]).keys) }
}

/// Collects the errors that a store reports.
final class DomainProblems: Sendable {
  private let errors = ForkSafeLock<[PreferencesError]>([])

  init(_ store: DomainStore) {
    _ = store.addProblemHandler { [weak self] error in self?.errors.withLock { $0.append(error) } }
  }

  func take() -> [PreferencesError.Code] {
    errors.withLock { errors in
      defer { errors = [] }
      return errors.map(\.code)
    }
  }
}
