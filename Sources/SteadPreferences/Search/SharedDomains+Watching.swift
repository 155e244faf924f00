import Dispatch
import Foundation

extension SharedDomains {
  /// Follows a domain's files that are not there, and has the search lists made anew when they come, for as
  /// long as the watch is kept.
  func watchForDomain(_ name: String, in directory: URL) -> PathWatch {
    watch(directory.path(percentEncoded: false) + name) {
      PathWatch(directory, names: ["\(name).plist", "\(name).journal"]) { [weak self] in
        self?.renewLists(report: ErrorReports.sharedHandler, isOwn: false)
      }
    }
  }

  /// Follows a property list of others, and takes in what becomes of it.
  func watch(_ layer: PlistLayer) {
    let directory = layer.url.deletingLastPathComponent()
    // Of its own, and not one that a layer before it may have left.
    let watch = PathWatch(directory, names: [layer.url.lastPathComponent]) {
      [weak self, weak layer] in
      if let self, let layer { follow(layer) }
    }
    layer.watch = watch
    watch.start()
  }

  private func follow(_ layer: PlistLayer) {
    do {
      try reload(layer)
    } catch {
      // It may be half written. A second look is soon enough to find that it stays so.
      DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.writingTime) {
        do {
          try self.reload(layer)
        } catch {
          ErrorReports.sharedHandler(PreferencesError(error, domain: nil))
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
}
