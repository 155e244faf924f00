import SwiftData
import Testing

/// Saves an object in a new container and hands over its twin, read by a second context.
func reread<Model: PersistentModel>(
  _ model: Model, alongside others: any PersistentModel.Type...,
  compare: (Model) throws -> Void
) throws {
  let schema = Schema([Model.self] + others)
  let container = try ModelContainer(
    for: schema, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  let context = ModelContext(container)
  context.insert(model)
  try context.save()
  let reader = ModelContext(container)
  let twin = try #require(try reader.fetch(FetchDescriptor<Model>()).first)
  #expect(twin !== model)
  #expect(twin.persistentModelID == model.persistentModelID)
  try compare(twin)
}
