private let flaw = RuleID(id: "P15", name: "unique-with-cloudkit", level: .error)

extension Rule {
  static let uniqueWithCloudKit = Rule(
    flaw,
    summary: "A model that syncs with CloudKit has a unique attribute.",
    why: """
      CloudKit can't keep values unique across devices, so a container with such a model fails to load. The app \
      starts without its data.
      """,
    bad: """
      @Model final class Note {
        @Attribute(.unique) var id = UUID()
      }
      let container = try ModelContainer(
        for: Note.self, configurations: ModelConfiguration(cloudKitDatabase: .automatic))
      """,
    good: """
      @Model final class Note {
        var id = UUID()  // The app merges notes with the same ID after each sync.
      }
      """,
    avoids: [
      "Models of containers without CloudKit: `cloudKitDatabase: .none`, no entitlement, or an entitlement without a container.",
      "Containers in memory, and those of tests and previews.",
    ],
    inProject: { index in
      guard let (models, reason) = index.cloudModels else { return [] }
      return models.flatMap { model in
        let attributes = model.properties.filter {
          $0.attribute("Attribute")?.text.contains(".unique") == true
        }
        let macro = model.macros.contains { $0.hasPrefix("#Unique") }
        return attributes.map { property in
          Finding(
            flaw,
            "CloudKit refuses a unique attribute (\(reason)); remove it, and merge duplicates in code.",
            at: property.place)
        }
          + (macro
            ? [
              Finding(
                flaw, "CloudKit refuses `#Unique` (\(reason)); merge duplicates in code.",
                at: model.place)
            ] : [])
      }
    })
}
