import Foundation
import SteadTestSupport
import SwiftData
import Testing

/// Where a test's store lies. Whatever the store can change is tested in both places.
enum StorePlace: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case memory, file

  var testDescription: String { self == .memory ? "in memory" : "on file" }
}

/// The directory of all stores that the tests make, removed when the process ends.
///
/// Not earlier: a context may outlive the test's reference to its store, and goes on reading.
enum TestFiles {
  private static let root: Result<TemporaryDirectory, any Error> = Result {
    let root = try TemporaryDirectory()
    atexit {
      if let root = try? TestFiles.root.get() { try? FileManager.default.removeItem(at: root.url) }
    }
    return root
  }

  /// A new, empty directory.
  static func directory() throws -> URL {
    let directory = try root.get().url.appending(
      path: UUID().uuidString, directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    return directory
  }
}

/// A store in a directory of its own.
final class TestStore {
  let directory: URL
  let place: StorePlace
  let schema: Schema
  let container: ModelContainer

  var url: URL { directory.appendingPathComponent("test.store") }

  init(_ place: StorePlace, _ types: any PersistentModel.Type...) throws {
    self.place = place
    schema = Schema(types)
    directory = try TestFiles.directory()
    let configuration =
      place == .memory
      ? ModelConfiguration(isStoredInMemoryOnly: true)
      : ModelConfiguration(url: directory.appendingPathComponent("test.store"))
    container = try ModelContainer(for: schema, configurations: configuration)
  }

  /// A new context, which sees only what was saved.
  func context() -> ModelContext { ModelContext(container) }

  /// What another launch of the program would see: a container of its own on the same file, or, in
  /// memory, a new context.
  func reopened() throws -> ModelContext {
    guard place == .file else { return context() }
    return ModelContext(
      try ModelContainer(for: schema, configurations: ModelConfiguration(url: url)))
  }
}

extension ModelContext {
  func all<T: PersistentModel>(_ type: T.Type = T.self) throws -> [T] {
    try fetch(FetchDescriptor<T>())
  }

  func count<T: PersistentModel>(_ type: T.Type) throws -> Int {
    try fetchCount(FetchDescriptor<T>())
  }

  /// The only object of a class.
  func only<T: PersistentModel>(_ type: T.Type = T.self) throws -> T {
    let models = try all(type)
    try #require(models.count == 1)
    return models[0]
  }
}

/// Sets up a value that closures of any isolation may change.
final class Box<Value>: @unchecked Sendable {
  // Sendable: every access takes the lock.
  private let lock = NSLock()
  private var stored: Value

  init(_ value: Value) { stored = value }

  var value: Value {
    get { lock.withLock { stored } }
    set { lock.withLock { stored = newValue } }
  }

  func change(_ body: (inout Value) -> Void) { lock.withLock { body(&stored) } }
}

/// Receives a notification while it lives.
final class NotificationProbe {
  private let token: any NSObjectProtocol
  private let box = Box<[[String: Set<PersistentIdentifier>]]>([])

  /// The sets of identifiers of each notification that came.
  var received: [[String: Set<PersistentIdentifier>]] { box.value }

  init(_ name: Notification.Name, of context: ModelContext) {
    let box = box
    token = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
      notification in
      var sets: [String: Set<PersistentIdentifier>] = [:]
      for (key, value) in notification.userInfo ?? [:] {
        if let key = key as? String { sets[key] = value as? Set<PersistentIdentifier> }
      }
      box.change { $0.append(sets) }
    }
  }

  deinit { NotificationCenter.default.removeObserver(token) }
}
