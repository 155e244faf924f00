private let flaw = RuleID(id: "P16", name: "cloudkit-needs-default", level: .error)

extension Rule {
  static let cloudKitNeedsDefault = Rule(
    flaw, isFixable: true,
    summary:
      "A model that syncs with CloudKit has a required property without a default, or something else that CloudKit refuses.",
    why: """
      Records arrive from other devices in parts, so CloudKit requires that each property has a default or is \
      optional, that relationships are optional, and that none has the delete rule `.deny`. Otherwise the container \
      fails to load.
      """,
    bad: """
      @Model final class Note {
        var title: String
        init(title: String) { self.title = title }
      }
      let container = try ModelContainer(
        for: Note.self, configurations: ModelConfiguration(cloudKitDatabase: .automatic))
      """,
    good: """
      @Model final class Note {
        var title: String = ""
        init(title: String) { self.title = title }
      }
      """,
    avoids: [
      "Optional, transient and computed properties.",
      "Models of containers without CloudKit.",
    ],
    inProject: { index in
      guard let (models, reason) = index.cloudModels else { return [] }
      return models.flatMap { model in
        model.properties.filter(\.isStored).flatMap {
          findings(on: $0, of: model, in: index, reason: reason)
        }
      }
    })
}

private func findings(
  on property: PropertyFact, of model: TypeFact, in index: ProjectIndex, reason: String
) -> [Finding] {
  var findings: [Finding] = []
  let isRelationship = index.destination(of: property, in: model) != nil
  if property.attribute("Relationship")?.text.contains(".deny") == true {
    findings.append(
      Finding(
        flaw, "CloudKit refuses the delete rule `.deny` (\(reason)); choose another one.",
        at: property.place))
  }
  guard let type = property.type, !type.isOptionalType else { return findings }
  if isRelationship {
    findings.append(
      Finding(
        flaw, "CloudKit requires an optional relationship: `\(type)?` (\(reason)).",
        at: property.place))
  } else if property.defaultValue == nil {
    findings.append(
      Finding(
        flaw, "CloudKit requires a default value or an optional (\(reason)).", at: property.place,
        fix: fix(property, type: type)))
  }
  return findings
}

private let defaults = [
  "String": "\"\"", "Bool": "false", "Int": "0", "Int64": "0", "Int32": "0", "Int16": "0",
  "Double": "0", "Float": "0",
  "CGFloat": "0", "Decimal": "0", "Date": "Date.now", "UUID": "UUID()", "Data": "Data()",
  "TimeInterval": "0",
]

private func fix(_ property: PropertyFact, type: String) -> Fix? {
  let value = defaults[type] ?? (type.hasPrefix("[") ? (type.contains(":") ? "[:]" : "[]") : nil)
  return value.map {
    Fix(
      "Give it a default value", [.init(offset: property.end, length: 0, replacement: " = \($0)")])
  }
}
