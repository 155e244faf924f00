public import Foundation

/// Who edits, in which context.
public struct EditingState: Hashable, Identifiable, Sendable {
  public let id: UUID
  public let author: String?
}
