import SteadPreferences
import SteadTransfer
import SwiftData

@Model final class Draft {
  var content: String
  init(content: String) { self.content = content }
}

func moveDrafts(into container: ModelContainer) throws {
  let transfer = Transfer(
    "drafts", from: .preference("draft_posts", of: String.self), to: .records(container)
  ) { content in Draft(content: content) }
  try transfer.run()
}
