private let flaw = RuleID(id: "P02", name: "secret-in-model", level: .warning)

extension Rule {
  static let secretInModel = Rule(
    flaw,
    summary: "A string or data property of a `@Model` class has the name of a secret.",
    why: """
      A store is an unencrypted SQLite file, and its rows go to backups and to every device that syncs. A deleted \
      secret stays in free pages and in logs.
      """,
    bad: """
      @Model final class Account {
        var name = ""
        var password = ""
      }
      """,
    good: """
      @Model final class Account {
        var name = ""
        /// The password's name in the keychain.
        var passwordReference = UUID()
      }
      """,
    avoids: [
      "References to secrets, and their hashes, counts and dates.",
      "Properties that are encrypted, transformed, transient or computed.",
      "Copies of models in earlier schemas, which must stay as they were.",
    ],
    inProject: { index in
      index.models.filter { !index.isFrozen($0) }.flatMap { model in
        model.properties.filter(isSecret).map { property in
          Finding(
            flaw,
            "`\(property.name)` keeps a secret in the store, which isn't encrypted; keep the secret in a keychain, and its name here.",
            at: property.place)
        }
      }
    })
}

private func isSecret(_ property: PropertyFact) -> Bool {
  guard property.isStored, let type = property.type?.elementType, type == "String" || type == "Data"
  else { return false }
  let attribute = property.attribute("Attribute")?.text ?? ""
  return !attribute.contains("transformable") && !attribute.contains("ncrypt")
    && !attribute.contains("ephemeral")
    && NameWords(property.name).nameSecret
}
