import SwiftSyntax

private let p23 = RuleID(id: "P23", name: "predicate-trap", level: .warning)

extension Rule {
  /// Predicates that compile and can't be translated, and fetches of which only the count is used.
  ///
  /// Forms that are always wrong are found in the syntax of one file. Whether a property is stored
  /// is a question to the model, which the index has.
  static let predicateTrap = Rule(
    p23, isFixable: true,
    summary:
      "A predicate uses something that the store doesn't have, or objects are fetched only to be counted.",
    why: """
      The store has only stored properties. A `#Predicate` with a computed or transient one compiles, but on Apple's \
      systems a fetch with it fails or crashes the program. The same happens with `isEmpty == false` and with a \
      captured object. `fetch(…).count` creates every object only to count them.
      """,
    bad: """
      #Predicate<Note> { $0.tags.isEmpty == false }
      let count = try context.fetch(descriptor).count
      """,
    good: """
      #Predicate<Note> { !$0.tags.isEmpty }
      let count = try context.fetchCount(descriptor)
      """,
    avoids: [
      "Stored properties, relationships and their `persistentModelID`.",
      "Models that aren't in the project, since their properties aren't known.",
      "`fetch(…)` of anything but a context, and a list that is used for more than its count.",
    ],
    inFile: { file in
      file.walk.calls.filter { $0.name == "fetch" }.compactMap { counting($0, in: file) }
        + file.walk.macros.flatMap { emptiness($0, in: file) }
    },
    inProject: { index in
      index.files.flatMap(\.predicates).compactMap { finding(on: $0, in: index) }
    })
}

/// `fetch(…).count` of a context, with the fix that makes it `fetchCount(…)`.
///
/// Only of a context: another type's `fetch` may have no `fetchCount`.
private func counting(_ call: FunctionCallExprSyntax, in file: FileContext) -> Finding? {
  guard call.arguments.count == 1, call.argument(nil) != nil, let receiver = call.receiver,
    receiver.isContext(VariableTypes(file.walk)),
    let name = call.calledExpression.as(MemberAccessExprSyntax.self)?.declName
  else { return nil }
  let whole = call.parent.flatMap { parent -> MemberAccessExprSyntax? in
    if let member = parent.as(MemberAccessExprSyntax.self) { return member }
    // `(try context.fetch(descriptor)).count`
    return nil
  }
  guard let count = whole, count.declName.baseName.text == "count",
    // `.count(where:)` and the like need the objects.
    count.parent?.is(FunctionCallExprSyntax.self) != true
  else { return nil }
  // Both or none: a renamed call with its `.count` wouldn't compile.
  let edits: [Fix.Edit] = [
    .init(offset: name.start, length: name.end - name.start, replacement: "fetchCount"),
    .init(offset: call.end, length: count.end - call.end, replacement: ""),
  ]
  return Finding(
    p23, "This loads every object only to count them; use `fetchCount`.", at: file.place(count),
    fix: Fix("Use fetchCount", edits))
}

/// `isEmpty == false` in a predicate, in its unfolded form: the parser leaves operators in a flat
/// sequence.
private func emptiness(_ macro: MacroExpansionExprSyntax, in file: FileContext) -> [Finding] {
  guard macro.macroName.text == "Predicate" else { return [] }
  return file.walk.assignments.compactMap { sequence in
    guard sequence.start >= macro.start, sequence.end <= macro.end else { return nil }
    let elements = Array(sequence.elements)
    for (index, element) in elements.enumerated().dropFirst() where index + 1 < elements.count {
      let left = elements[index - 1].code
      if element.code == "==", elements[index + 1].code == "false", left.hasSuffix(".isEmpty") {
        return Finding(
          p23, "A fetch with `isEmpty == false` fails; write `!\(left)`.",
          at: file.place(elements[index - 1]))
      }
    }
    return nil
  }
}

/// The finding about a path in a predicate: a property that the store doesn't have, or a captured object.
///
/// Nil for a model that isn't in the project, and for a property that it doesn't declare.
private func finding(on fact: PredicateFact, in index: ProjectIndex) -> Finding? {
  guard let model = index.model(fact.model), let first = fact.path.first,
    // An extension in another file may have the property, which is computed then.
    let property = model.properties.first(where: { $0.name == first })
      ?? index.declarations(of: model.name).flatMap(\.properties).first(where: { $0.name == first })
  else { return nil }
  if property.isComputed || property.attribute("Transient") != nil, !property.isStatic {
    return Finding(
      p23,
      "The store doesn't have `\(model.name).\(first)`, which is \(property.isComputed ? "computed" : "transient"); "
        + "use stored properties.",
      at: fact.place, level: .error)
  }
  // A relationship that is compared with a variable. One with the word `id` in its name is passed
  // over, since the finding asks for an identifier.
  guard fact.path.count == 1, let other = fact.comparedWith, other != "nil",
    property.type?.isListType == false,
    index.destination(of: property, in: model) != nil, other.first?.isLowercase == true,
    !NameWords(other).contains(anyOf: ["id", "identifier"])
  else { return nil }
  return Finding(
    p23,
    "A captured object can't be compared; compare `\(first)?.persistentModelID` with its identifier.",
    at: fact.place)
}
