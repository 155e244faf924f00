public import Foundation
public import SteadPreferences
public import SteadTransfer
import SwiftData

/// The generations of the app: a history in preferences, and records when it has outgrown these.
public struct GenerationLog: Sendable {
  /// The app's domain, and the name of its property list.
  public static let domain = "com.example.generations"
  /// Where the app's first version kept an array as JSON.
  public static let key = "generation_history"
  /// How many generations the history keeps.
  public static let limit = 5_000

  public let history: PayloadHistory<Generation>
  private let container: ModelContainer

  /// The generations of a directory. What the first version has left there is taken over.
  public init(directory: URL) throws {
    let preferences = try Preferences(domain: Self.domain, directory: directory)
    history = try PayloadHistory(
      Self.key, limit: Self.limit, in: preferences,
      options: .init(
        version: 2,
        upgrades: [PayloadUpgrade(from: 1) { json in json["style"] = "none" }]))
    container = try ModelContainer(
      for: GenerationRecord.self,
      configurations: ModelConfiguration(url: directory.appending(path: "generations.store")))
  }

  /// Adds a generation for each prompt, the last one in front.
  public func add(_ prompts: [String], style: String) throws {
    let now = Date()
    let generations = zip(0..., prompts).map { number, prompt in
      // A moment each, so that records can be sorted by it.
      Generation(prompt: prompt, style: style, createdAt: now + Double(number) / 1_000)
    }
    try history.prepend(contentsOf: generations.reversed())
  }

  /// Moves the history into records, without what does not decode.
  public func moveToRecords() throws -> TransferReport {
    try Transfer(
      "history-to-records", from: .history(history),
      to: .records(container),
      options: TransferOptions(acceptsPartial: true)
    ) { generation in GenerationRecord(generation) }.run()
  }

  /// The newest records' prompts, and how many records there are.
  public func records(limit: Int) throws -> (prompts: [String], count: Int) {
    let context = ModelContext(container)
    var newest = FetchDescriptor<GenerationRecord>(
      sortBy: [SortDescriptor(\.createdAt, order: .reverse)])
    newest.fetchLimit = limit
    return (
      try context.fetch(newest).map(\.prompt),
      try context.fetchCount(FetchDescriptor<GenerationRecord>())
    )
  }
}
