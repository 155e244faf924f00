import Foundation
import SwiftData

@Model public class Draft {
  @Attribute(.unique) public var id: UUID
  public var content: String
  public var creationDate: Date

  public init(content: String) {
    self.id = UUID()
    self.content = content
    self.creationDate = Date()
  }
}

/// The list of drafts, and the move of those that an earlier version kept in the preferences.
@MainActor
final class DraftList {
  @Query(sort: \Draft.creationDate, order: .reverse) var drafts: [Draft]

  private let context: ModelContext
  private let defaults: UserDefaults
  static let legacyKey = "draft_posts"

  init(context: ModelContext, defaults: UserDefaults) {
    self.context = context
    self.defaults = defaults
    $drafts.modelContext = context
  }

  func migrateUserPreferencesDrafts() {
    for draft in defaults.stringArray(forKey: Self.legacyKey) ?? [] {
      let newDraft = Draft(content: draft)
      context.insert(newDraft)
    }
    defaults.removeObject(forKey: Self.legacyKey)
  }

  func onDelete(_ indexes: IndexSet) {
    if let index = indexes.first {
      context.delete(drafts[index])
    }
  }
}
