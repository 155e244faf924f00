import Foundation
import SteadPreferences
import SteadTransfer

/// A transfer of texts from the domain `old` to another store, all in one directory.
///
/// Each text goes to a place that no other text has, so that one which is moved twice is there twice.
enum Workload: String {
  /// From the elements of an array to keys of the domain `new`.
  case preferences

  func run(
    in directory: URL, _ progress: @escaping TransferProgress.Report
  ) throws -> TransferReport {
    let old = try Self.open("old", directory)
    let source = PreferenceSource<String>("drafts", in: old)
    switch self {
    case .preferences:
      let new = PreferencesDestination(try Self.open("new", directory))
      return try Transfer("drafts", from: source, to: new) { text in
        PreferenceEntry(key: "draft.\(UUID().uuidString)", value: .string(text))
      }.run(progress)
    }
  }

  private static func open(_ domain: String, _ directory: URL) throws -> Preferences {
    try Preferences(
      domain: domain, directory: directory,
      environment: Preferences.Environment(
        appID: domain, variables: ["HOME": directory.path(percentEncoded: false)]))
  }
}
