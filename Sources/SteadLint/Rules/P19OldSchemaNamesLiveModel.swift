private let flaw = RuleID(id: "P19", name: "old-schema-names-live-model", level: .warning)

extension Rule {
  static let oldSchemaNamesLiveModel = Rule(
    flaw,
    summary: "An earlier `VersionedSchema` lists models that aren't its own: the newest ones.",
    why: """
      The list of an earlier version describes existing stores. If it contains the live class, each change of the \
      class also changes the earlier version. Its stores then have an unknown version, and the container fails to \
      open them.
      """,
    bad: """
      enum SchemaV1: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Note.self] }
      }
      enum SchemaV2: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Note.self] }
      }
      enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [SchemaV1.self, SchemaV2.self] }
        static var stages: [MigrationStage] {
          [.lightweight(fromVersion: SchemaV1.self, toVersion: SchemaV2.self)]
        }
      }
      @Model final class Note { var title = ""; var date = Date.now }
      """,
    good: """
      enum SchemaV1: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Note.self] }
        @Model final class Note { var title = "" }
      }
      """,
    avoids: [
      "The newest schema, and a single schema.",
      "Models nested in the schema, in an extension of it, or in an earlier schema.",
      "Models that the newest schema doesn't list.",
      "Schemas of a cache, by their names: a note.",
    ],
    inProject: { index in
      index.olderSchemas.compactMap { older, newest in
        let live = older.models.filter { isLive($0.name, in: older, newest: newest, index: index) }
        guard let first = live.first else { return nil }
        let names = live.map { "`\($0.name)`" }.joined(separator: ", ")
        return Finding(
          flaw,
          "The earlier schema `\(older.name)` lists live models (\(names)); nest a copy that nobody changes.",
          at: first.place,
          level: NameWords(older.name).contains(anyOf: ["cache", "cached"]) ? .note : nil)
      }
    })
}

/// Whether a name stands for a model outside of the earlier schemas.
private func isLive(_ name: String, in schema: SchemaFact, newest: SchemaFact, index: ProjectIndex)
  -> Bool
{
  let found = index.declarations(of: name, in: schema.name)
  guard let model = found.first(where: \.isModel) ?? found.first else {
    // The name may be an alias for the newest schema's model.
    return !name.contains(".") && index.model(newest.name + "." + name) != nil
  }
  if model.name.hasPrefix(newest.name + ".") { return true }
  // A model outside of the schemas is frozen, too, if the newest schema doesn't list it.
  let live = newest.models.compactMap { index.model($0.name, in: newest.name)?.name }
  guard live.isEmpty || live.contains(model.name) else { return false }
  return !index.schemas.contains { model.name.hasPrefix($0.name + ".") }
    && index.isShipped(model.place)
}
