import SteadFiles
import Foundation

extension SharedDomains {
  /// Watches for a domain's missing files, and has the search lists rebuilt when they appear, as long as the
  /// watch is kept.
  func watchForDomain(_ name: String, in directory: URL) -> PathWatch {
    watch(directory.path(percentEncoded: false) + name) {
      PathWatch(directory, names: ["\(name).plist", "\(name).journal"]) { [weak self] in
        self?.renewLists(report: ErrorReports.sharedHandler, isOwn: false)
      }
    }
  }

  /// Watches a property list owned by others, and applies its changes.
  func watch(_ layer: PlistLayer) {
    let directory = layer.url.deletingLastPathComponent()
    // Its own watch, not one that an earlier layer may have left.
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
      // The file may be half written. A second look later shows whether it stays so.
      Self.secondLooks.call(after: Self.writingTime) {
        do {
          try self.reload(layer)
        } catch {
          ErrorReports.sharedHandler(PreferencesError(error, domain: nil))
        }
      }
    }
  }

  /// How long the writer of a property list may take before it counts as damaged.
  private static let writingTime = Duration.milliseconds(500)
  private static let secondLooks = SerialCalls()

  private func reload(_ layer: PlistLayer) throws {
    let wasThere = layer.store != nil
    try layer.load()
    // A list without the layer has to be rebuilt with it; one that has it reads from it.
    guard wasThere != (layer.store != nil) else { return }
    renewLists(report: ErrorReports.sharedHandler, isOwn: false)
  }
}
