import Foundation
import SteadPreferences
import SteadTransfer
import SwiftData

struct Prompt: Codable, Identifiable, Sendable {
  var id: UUID
  var text: String
}

@Model final class PromptRecord {
  @Attribute(.unique) var id: UUID
  var text: String
  init(_ prompt: Prompt) { (id, text) = (prompt.id, prompt.text) }
}

func movePrompts(into container: ModelContainer) throws {
  let history = try PayloadHistory<Prompt>("prompts", limit: 500)
  let transfer = Transfer("prompts", from: .history(history), to: .records(container)) {
    PromptRecord($0)
  }
  try transfer.run()
}
