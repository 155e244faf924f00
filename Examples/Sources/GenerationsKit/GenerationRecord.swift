public import Foundation
public import SwiftData

/// A generation as a record, once the history has outgrown preferences.
@Model public final class GenerationRecord {
  #Index<GenerationRecord>([\.createdAt], [\.style])

  @Attribute(.unique) public var id: UUID
  public var prompt: String
  public var optimizedPrompt: String
  public var model: String
  public var imageURL: URL
  public var createdAt: Date
  public var style: String

  public init(_ generation: Generation) {
    id = generation.id
    prompt = generation.prompt
    optimizedPrompt = generation.optimizedPrompt
    model = generation.model
    imageURL = generation.imageURL
    createdAt = generation.createdAt
    style = generation.style
  }
}
