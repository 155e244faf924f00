import Foundation
import SteadFiles

@testable import SteadPreferences

/// What an app keeps: one entry of its history.
struct Prompt: Codable, Identifiable, Sendable, Equatable {
  var id: Int
  var text: String
  var date = Date(timeIntervalSinceReferenceDate: 0)
}

/// A domain in a directory of a test's own, its preferences and what they were told.
struct HistoryHome {
  let directory: TemporaryDirectory
  let preferences: Preferences
  let errors = ReportedErrors()

  init(_ directory: TemporaryDirectory? = nil) throws {
    self.directory = try directory ?? TemporaryDirectory(inMemory: true)
    preferences = try Preferences(domain: "domain", directory: self.directory.url)
    preferences.onError = errors.handler
  }

  func history(
    limit: Int = 500, options: PayloadHistoryOptions<Prompt> = .init()
  ) throws -> PayloadHistory<Prompt> {
    try PayloadHistory("prompts", limit: limit, in: preferences, options: options)
  }

  /// A history that shares nothing in memory with the others, as one of another process does.
  func foreign(
    limit: Int = 500, options: PayloadHistoryOptions<Prompt> = .init()
  ) throws -> PayloadHistory<Prompt> {
    // The options of a domain tell its objects apart; the format plays no part here.
    let preferences = try Preferences(
      domain: "domain", directory: directory.url, options: .init(format: .xml))
    preferences.onError = errors.handler
    return try PayloadHistory("prompts", limit: limit, in: preferences, options: options)
  }

  /// The history's own domain.
  var store: DomainStore {
    get throws { try preferences.plan.openHistory("prompts").store }
  }

  /// Puts an array in JSON under the key, as an app has it today.
  func writeArray(_ text: String) throws {
    try preferences.setPropertyList(.data(Data(text.utf8)), forKey: "prompts")
  }

  var hasArray: Bool { preferences.propertyList(forKey: "prompts") != nil }
}

func prompt(_ id: Int) -> Prompt { Prompt(id: id, text: "prompt \(id)") }

extension PayloadHistory where Payload == Prompt {
  var ids: [Int] { items.map(\.id) }

  func prepend(_ ids: Int...) throws {
    for id in ids { try prepend(prompt(id)) }
  }
}
