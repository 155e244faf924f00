import Foundation
import SwiftData

/// What is synced: five properties of the usual kinds.
@Model final class Reading {
  var number: Int
  var title: String
  var weight: Double
  var isDone: Bool
  var taken: Date

  /// - Parameter weight: Any number; the delays put the time of the edit there.
  init(number: Int, weight: Double = 1.5) {
    self.number = number
    title = "reading \(number) of a sensor in the hall"
    self.weight = weight
    isDone = false
    taken = Date(timeIntervalSinceReferenceDate: Double(number))
  }
}

enum ReadingStore {
  static let zone = "0123456789abcdef0123456789abcdef"

  static func open(_ url: URL, isSynced: Bool = true) throws -> ModelContainer {
    try ModelContainer(
      for: Reading.self,
      configurations: ModelConfiguration(url: url, sync: isSynced ? .zone(zone) : .none))
  }
}
