import Foundation
import SteadTransfer
import SwiftData

struct Bookmark: Codable, Sendable {
  var title: String
  var address: URL
}

@Model final class BookmarkRecord {
  var title: String
  var address: URL
  init(_ bookmark: Bookmark) { (title, address) = (bookmark.title, bookmark.address) }
}

func moveBookmarks(in file: URL, into container: ModelContainer) throws {
  let transfer = Transfer(
    "bookmarks", from: .json(file, of: Bookmark.self, removesItems: true), to: .records(container)
  ) { BookmarkRecord($0) }
  try transfer.run()
}
