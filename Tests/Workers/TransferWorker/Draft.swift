import Foundation
import SwiftData

@Model final class Draft {
  @Attribute(.unique) var id: UUID
  var content: String
  var created: Date

  init(content: String) {
    id = UUID()
    self.content = content
    created = .now
  }
}
