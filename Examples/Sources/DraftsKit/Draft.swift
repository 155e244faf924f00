public import SwiftData
import Foundation

/// A post that was begun and not sent.
@Model public final class Draft {
  @Attribute(.unique) public var id: UUID
  public var content: String
  public var creationDate: Date

  public init(content: String, creationDate: Date = Date()) {
    id = UUID()
    self.content = content
    self.creationDate = creationDate
  }
}
