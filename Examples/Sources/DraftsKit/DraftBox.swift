public import Foundation
import SteadPreferences
public import SteadTransfer
import SwiftData
import Synchronization

/// The drafts of the app, in records; those of its first version come from preferences.
public struct DraftBox {
  /// The app's domain, and the name of its property list.
  public static let domain = "com.example.drafts"
  /// Where the first version kept its drafts, as texts, the newest last.
  public static let key = "draft_posts"

  private let preferences: Preferences
  private let container: ModelContainer

  /// The drafts of a directory, where the first version's property list may be, too.
  public init(directory: URL) throws {
    preferences = try Preferences(domain: Self.domain, directory: directory)
    container = try ModelContainer(
      for: Draft.self,
      configurations: ModelConfiguration(url: directory.appending(path: "drafts.store")))
  }

  /// Moves the first version's drafts into records; called at each start, it does nothing when that is
  /// done.
  public func takeOver() throws -> TransferReport {
    let clock = DraftClock()
    return try Transfer(
      "drafts-to-records",
      from: .preference(Self.key, of: String.self, in: preferences),
      to: .records(container)
    ) { text in
      Draft(content: text, creationDate: clock.next())
    }.run()
  }

  /// All drafts, the newest first.
  public func newestFirst() throws -> [String] {
    try drafts(ModelContext(container)).map(\.content)
  }

  public func add(_ content: String) throws {
    let context = ModelContext(container)
    context.insert(Draft(content: content))
    try context.save()
  }

  /// Deletes the draft at a place of ``newestFirst()``, and says whether there was one.
  public func delete(at index: Int) throws -> Bool {
    let context = ModelContext(container)
    let drafts = try drafts(context)
    guard drafts.indices.contains(index) else { return false }
    context.delete(drafts[index])
    try context.save()
    return true
  }

  private func drafts(_ context: ModelContext) throws -> [Draft] {
    try context.fetch(
      FetchDescriptor<Draft>(sortBy: [SortDescriptor(\.creationDate, order: .reverse)]))
  }
}

/// Gives each draft a date of its own, so that their order outlives the move.
private final class DraftClock: Sendable {
  private let last = Mutex(Date())

  func next() -> Date {
    last.withLock { last in
      last += 0.001
      return last
    }
  }
}
