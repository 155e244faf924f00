public import Foundation

/// The context that edits, and its author.
public struct EditingState: Hashable, Identifiable, Sendable {
  public let id: UUID
  public let author: String?
}
