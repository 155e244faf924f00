import Foundation
import SteadFiles
import SteadPreferences

@testable import SteadTransfer

/// Two domains with files of their own, and transfers of texts from one to the other.
///
/// Each text goes to a key of its own that no other can have, so that one which is moved twice is there
/// twice.
struct Moving {
  private struct Stop: Error {}

  let home: TemporaryDirectory
  private let destinationHome: TemporaryDirectory
  let source: Preferences
  let destination: Preferences

  init(in directory: TemporaryDirectory? = nil, destination other: TemporaryDirectory? = nil) throws
  {
    let home = try directory ?? TemporaryDirectory(inMemory: true)
    self.home = home
    destinationHome = other ?? home
    source = try Self.open("org.example.old", home)
    destination = try Self.open("org.example.new", destinationHome)
  }

  static func open(
    _ domain: String, _ home: TemporaryDirectory, options: Preferences.Options = .init()
  ) throws -> Preferences {
    try Preferences(
      domain: domain, directory: home.url, options: options,
      environment: Preferences.Environment(appID: domain, variables: ["HOME": home.url.filePath]))
  }

  func transfer(
    _ options: TransferOptions = .init(), from other: Preferences? = nil,
    to another: Preferences? = nil,
    check: @escaping @Sendable (String) throws -> Void = { _ in }
  ) -> Transfer<String, PreferenceEntry> {
    Transfer(
      "drafts", from: .preference("drafts", in: other ?? source),
      to: .preferences(another ?? destination), options: options
    ) { text in
      try check(text)
      return PreferenceEntry(key: "draft.\(UUID().uuidString)", value: .string(text))
    }
  }

  /// Runs, and does something when a phase begins.
  @discardableResult
  func run(
    _ options: TransferOptions = .init(), at phase: TransferProgress.Phase,
    check: @escaping @Sendable (String) throws -> Void = { _ in },
    _ body: @escaping () throws -> Void
  ) throws -> TransferReport {
    var isDone = false
    return try transfer(options, check: check).run { progress in
      guard progress.phase == phase, !isDone else { return }
      isDone = true
      try body()
    }
  }

  /// Runs until so many items have gone through a phase, as if the process had been killed there.
  func run(stoppingAt phase: TransferProgress.Phase, completed: Int = 0) throws {
    do {
      try transfer().run { progress in
        if progress.phase == phase, progress.completed == completed { throw Stop() }
      }
    } catch is Stop {}
  }

  // MARK: What is where

  func put(_ texts: String...) { put(texts) }
  func put(_ texts: [String]) { source.set(texts, forKey: "drafts") }

  /// The texts of the source.
  var left: [String] { source.stringArray(forKey: "drafts") ?? [] }

  /// The texts of the destination, in order, as often as they are there.
  func moved() throws -> [String] {
    destination.keys.filter { $0.hasPrefix("draft.") }
      .compactMap { destination.string(forKey: $0) }.sorted()
  }

  func destinationKey(of text: String) -> String? {
    destination.keys.first { destination.string(forKey: $0) == text }
  }

  func receipt() throws -> TransferReceipt? {
    try PreferencesDestination(destination).receipt(named: "drafts")
  }

  /// What all files hold.
  func files() throws -> [String: Data] {
    let names = try home.names.sorted()
    return Dictionary(
      uniqueKeysWithValues: try names.map { ($0, try Data(contentsOf: home.file($0))) })
  }
}
