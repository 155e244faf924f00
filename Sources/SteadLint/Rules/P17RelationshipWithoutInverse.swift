private let flaw = RuleID(id: "P17", name: "relationship-without-inverse", level: .warning)

extension Rule {
  static let relationshipWithoutInverse = Rule(
    flaw, isFixable: true,
    summary: "A list of models has no inverse, or both sides name one.",
    why: """
      Without an inverse an object doesn't know which lists it is in, and CloudKit refuses the model. If several \
      properties of the other model could be the inverse, it isn't defined which one is used. If both sides name it, \
      the macro expands in a circle and the file doesn't compile.
      """,
    bad: """
      @Model final class Folder { var notes: [Note] = [] }
      @Model final class Note { var title = "" }
      """,
    good: """
      @Model final class Folder { @Relationship(inverse: \\Note.folder) var notes: [Note] = [] }
      @Model final class Note { var title = ""; var folder: Folder? }
      """,
    avoids: [
      "An inverse that the other side names, or that is found because only one property leads back.",
      "Lists of values that aren't models.",
      "Copies of models in earlier schemas, which must stay as they were.",
      "Models that are `Codable`, as copies of server data are, unless the app syncs with CloudKit: a note.",
    ],
    inProject: { index in
      index.models.filter { !index.isFrozen($0) }.flatMap { model in
        model.properties.filter(\.isStored).compactMap { finding(on: $0, of: model, in: index) }
      }
    })
}

/// Whether a model is decoded, so that it is probably a copy of data from elsewhere.
private func isCopy(_ model: TypeFact) -> Bool {
  !Set(model.inherited).isDisjoint(with: ["Codable", "Decodable"])
}

private func finding(on property: PropertyFact, of model: TypeFact, in index: ProjectIndex)
  -> Finding?
{
  guard let destination = index.destination(of: property, in: model) else { return nil }
  let back = destination.properties.filter {
    $0.isStored && index.destination(of: $0, in: destination)?.name == model.name
      && !(destination.name == model.name && $0.name == property.name)
  }
  let named = property.attribute("Relationship")?.arguments["inverse"]
  let namedBack = back.filter {
    $0.attribute("Relationship")?.arguments["inverse"]?.lastComponent == property.name
  }
  if let named, let other = namedBack.first, named.lastComponent == other.name {
    // Only one side is reported: the one whose names come later in the alphabet.
    guard (model.name, property.name) > (destination.name, other.name) else { return nil }
    return Finding(
      flaw, "Both sides name the inverse, which doesn't compile; remove it from one.",
      at: property.place,
      fix: property.attribute("Relationship")?.removals["inverse"].map {
        Fix("Leave the inverse out", [$0])
      })
  }
  guard property.type?.isListType == true, named == nil, namedBack.isEmpty else { return nil }
  // A property that is the inverse of another one isn't a candidate.
  let candidates = back.filter { candidate in
    candidate.attribute("Relationship")?.arguments["inverse"] == nil
      && !model.properties.contains {
        $0.name != property.name
          && $0.attribute("Relationship")?.arguments["inverse"]?.lastComponent == candidate.name
      }
  }
  if candidates.isEmpty {
    return Finding(
      flaw,
      "`\(destination.name)` has no property that leads back; add an optional one, and name it as the inverse.",
      at: property.place, level: isCopy(model) && index.cloudModels == nil ? .note : nil)
  }
  guard candidates.count > 1 else { return nil }
  let names = candidates.map { "`\($0.name)`" }.joined(separator: ", ")
  return Finding(
    flaw, "Several properties could be the inverse (\(names)); name it.", at: property.place)
}
