import Dispatch
import Foundation

extension SharedDomains {
  /// Follows a domain's files that are not there, and has the search lists made anew when they come.
  func watchForDomain(_ name: String, in directory: URL) {
    watch(directory, names: ["\(name).plist", "\(name).journal"]) { shared in
      shared.renewLists(report: ErrorReports.sharedHandler, isOwn: false)
    }
  }

  /// Follows a property list of others, and takes in what becomes of it.
  func watch(_ layer: PlistLayer) {
    let directory = layer.url.deletingLastPathComponent()
    watch(directory, names: [layer.url.lastPathComponent]) { [weak layer] shared in
      guard let layer else { return }
      do {
        try shared.reload(layer)
      } catch {
        // It may be half written. A second look is soon enough to find that it stays so.
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.writingTime) {
          do {
            try shared.reload(layer)
          } catch {
            ErrorReports.sharedHandler(PreferencesError(error, domain: nil))
          }
        }
      }
    }
  }

  /// How long the writer of a property list may take before it counts as damaged.
  private static let writingTime = 0.5

  private func reload(_ layer: PlistLayer) throws {
    let wasThere = layer.store != nil
    try layer.load()
    // A list without the layer has to learn of it; one that has it sees what is in it.
    guard wasThere != (layer.store != nil) else { return }
    renewLists(report: ErrorReports.sharedHandler, isOwn: false)
  }

  private func watch(
    _ directory: URL, names: Set<String>, onChange: @escaping @Sendable (SharedDomains) -> Void
  ) {
    let key = directory.path(percentEncoded: false) + names.sorted().joined(separator: "/")
    let made = PathWatch(directory, names: names) { [weak self] in
      if let self { onChange(self) }
    }
    if keep(made, as: key) { made.start() }
  }
}
