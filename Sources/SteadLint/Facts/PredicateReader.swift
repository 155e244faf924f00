import SwiftSyntax

/// Finds the properties of models that `#Predicate` closures use.
struct PredicateReader {
  let context: FileContext

  func facts() -> [PredicateFact] {
    context.walk.macros.filter { $0.macroName.text == "Predicate" }.flatMap {
      macro -> [PredicateFact] in
      guard let closure = macro.trailingClosure else { return [] }
      let (parameter, annotated) = parameter(of: closure)
      guard let model = annotated ?? generic(of: macro) ?? descriptor(around: macro) else {
        return []
      }
      return context.walk.members.compactMap { member in
        guard member.start >= closure.start, member.end <= closure.end else { return nil }
        return fact(member, parameter: parameter, model: model)
      }
    }
  }

  private func parameter(of closure: ClosureExprSyntax) -> (String, String?) {
    switch closure.signature?.parameterClause {
    case .simpleInput(let names): return (names.first?.name.text ?? "$0", nil)
    case .parameterClause(let clause):
      guard let first = clause.parameters.first else { return ("$0", nil) }
      return (first.firstName.text, first.type?.trimmedDescription)
    case nil: return ("$0", nil)
    }
  }

  private func generic(of macro: MacroExpansionExprSyntax) -> String? {
    macro.genericArgumentClause?.arguments.first?.argument.trimmedDescription
  }

  /// The model of the `FetchDescriptor` that gets the predicate as an argument.
  private func descriptor(around macro: MacroExpansionExprSyntax) -> String? {
    for node in macro.ancestors {
      if let call = node.as(FunctionCallExprSyntax.self), call.name == "FetchDescriptor" {
        return call.calledExpression.as(GenericSpecializationExprSyntax.self)?
          .genericArgumentClause.arguments.first?.argument.trimmedDescription
      }
      if node.is(CodeBlockItemSyntax.self) { return nil }
    }
    return nil
  }

  private func fact(
    _ member: MemberAccessExprSyntax, parameter: String, model: String
  ) -> PredicateFact? {
    // Only the whole path counts, not its beginnings.
    if let outer = member.parent?.as(MemberAccessExprSyntax.self),
      outer.base?.id == ExprSyntax(member).id
    {
      return nil
    }
    var path = member.code.filter { $0 != "?" && $0 != "!" }.split(separator: ".").map(String.init)
    guard path.first == parameter, path.count > 1, !member.code.contains("(") else { return nil }
    path.removeFirst()
    return PredicateFact(
      model: model, path: path, comparedWith: compared(with: member), place: context.place(member))
  }

  /// The other side of `==` or `!=`; nil unless it is a path of names.
  private func compared(with member: MemberAccessExprSyntax) -> String? {
    let around = member.ancestors.lazy.compactMap { $0.as(SequenceExprSyntax.self) }.first
    guard let elements = around.map({ Array($0.elements) }) else { return nil }
    guard
      let index = elements.firstIndex(where: { $0.start <= member.start && $0.end >= member.end }),
      elements[index].id == ExprSyntax(member).id
    else { return nil }
    for (offset, step) in [(index + 1, 1), (index - 1, -1)] {
      guard elements.indices.contains(offset), elements.indices.contains(offset + step),
        ["==", "!="].contains(elements[offset].code)
      else { continue }
      let text = elements[offset + step].code
      return text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." } ? text : nil
    }
    return nil
  }
}
