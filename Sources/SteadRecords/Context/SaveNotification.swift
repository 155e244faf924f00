import Foundation
import Synchronization

/// A notification that a save posts if the program may observe it.
///
/// The notification centre does not reveal whether it has observers, and posting without any costs as much as a third
/// of saving a row. But an observer has read the notification's name before.
final class SaveNotification: Sendable {
  static let willSave = SaveNotification("SwiftData.ModelContext.willSave")
  static let didSave = SaveNotification("SwiftData.ModelContext.didSave")

  private let name: Notification.Name
  private let isKnown = Atomic<Bool>(false)

  private init(_ name: String) { self.name = Notification.Name(name) }

  /// The name, for the program.
  var nameForObservers: Notification.Name {
    isKnown.store(true, ordering: .releasing)
    return name
  }

  /// Whether the program has asked for the name.
  var mayHaveObservers: Bool { isKnown.load(ordering: .acquiring) }

  func post(_ context: ModelContext?, _ summary: SaveSummary? = nil) {
    guard mayHaveObservers, let context else { return }
    NotificationCenter.default.post(name: name, object: context, userInfo: summary?.userInfo)
  }

}
