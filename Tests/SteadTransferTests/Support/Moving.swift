import Foundation
import SteadFiles
import SteadPreferences
import SteadTestSupport
import SteadTransfer

/// Two domains with files of their own, and transfers of texts from one to the other.
///
/// Each text goes to a key of its own that no other can have, so that one which is moved twice is there
/// twice.
struct Moving {
  static let key = "drafts"

  let home: TemporaryDirectory
  let source: Preferences
  let destination: Preferences

  init(in directory: TemporaryDirectory? = nil) throws {
    let home = try directory ?? TemporaryDirectory()
    self.home = home
    source = try Self.open("org.example.old", home)
    destination = try Self.open("org.example.new", home)
  }

  static func open(
    _ domain: String, _ home: TemporaryDirectory, options: Preferences.Options = .init()
  ) throws -> Preferences {
    try Preferences(
      domain: domain, directory: home.url, options: options,
      environment: Preferences.Environment(appID: domain, variables: ["HOME": home.url.filePath]))
  }

  func transfer(
    _ options: TransferOptions = .init(),
    check: @escaping @Sendable (String) throws -> Void = { _ in }
  ) -> Transfer<PreferenceSource<String>, PreferencesDestination> {
    Transfer(
      "drafts", from: PreferenceSource<String>(Self.key, in: source),
      to: PreferencesDestination(destination), options: options
    ) { text in
      try check(text)
      return PreferenceEntry(key: "draft.\(UUID().uuidString)", value: .string(text))
    }
  }

  /// The texts of the destination, in order, as often as they are there.
  func moved() throws -> [String] {
    destination.keys.filter { $0.hasPrefix("draft.") }
      .compactMap { destination.string(forKey: $0) }.sorted()
  }

  func receipt() throws -> TransferReceipt? {
    try PreferencesDestination(destination).receipt(named: "drafts")
  }
}
