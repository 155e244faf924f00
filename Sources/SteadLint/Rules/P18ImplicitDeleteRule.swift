private let flaw = RuleID(id: "P18", name: "implicit-delete-rule", level: .warning)

extension Rule {
  static let implicitDeleteRule = Rule(
    flaw,
    summary:
      "Deleting an object clears a property that isn't optional, or leaves references to nothing.",
    why: """
      Without a delete rule, a deletion clears the other side. If that side isn't optional, the save fails or the \
      next read crashes the program. `.noAction` leaves references to an object that is gone. A list without a \
      delete rule can also leave orphans that nobody wanted, so it gets a note: the code should state what is meant.
      """,
    bad: """
      @Model final class Order { var lines: [Line] = [] }
      @Model final class Line { var order: Order; init(order: Order) { self.order = order } }
      """,
    good: """
      @Model final class Order {
        @Relationship(deleteRule: .cascade, inverse: \\Line.order) var lines: [Line] = []
      }
      """,
    avoids: [
      "Lists with `.cascade` or `.deny`, and with `.nullify` where it clears an optional property.",
      "Relationships to one object, unless they have `.noAction`, and lists of values.",
      "Copies of models in earlier schemas, which must stay as they were.",
    ],
    inProject: { index in
      index.models.filter { !index.isFrozen($0) }.flatMap { model in
        model.properties.filter(\.isStored).compactMap { finding(on: $0, of: model, in: index) }
      }
    })
}

private func finding(on property: PropertyFact, of model: TypeFact, in index: ProjectIndex)
  -> Finding?
{
  guard let destination = index.destination(of: property, in: model) else { return nil }
  let rule = property.attribute("Relationship")?.arguments["deleteRule"]?.lastComponent
  if rule == "noAction" {
    return Finding(
      flaw, "`.noAction` leaves references to deleted objects; choose `.cascade` or `.nullify`.",
      at: property.place)
  }
  guard property.type?.isListType == true, rule == nil || rule == "nullify" else { return nil }
  let inverse = property.attribute("Relationship")?.arguments["inverse"]?.lastComponent
  let back = destination.properties.filter { candidate in
    candidate.isStored && candidate.type?.isListType == false
      && index.destination(of: candidate, in: destination)?.name == model.name
      && (inverse == nil || inverse == candidate.name)
  }
  if let required = back.first, back.count == 1, required.type?.isOptionalType == false {
    return Finding(
      flaw,
      "Deleting `\(model.name)` objects clears `\(destination.name).\(required.name)`, which isn't optional; "
        + "use `.cascade` or make it optional.",
      at: property.place)
  }
  guard rule == nil else { return nil }
  return Finding(
    flaw,
    "Deleting this leaves its `\(destination.name)` objects behind; state that with `deleteRule: .nullify`, or use `.cascade`.",
    at: property.place, level: .note)
}
