import Foundation
import SwiftData

@Model
final class FolderAccess {
  var name: String
  var bookmark: Data
  var contentHash: Data?

  init(name: String, bookmark: Data) {
    self.name = name
    self.bookmark = bookmark
  }
}
