import SwiftSyntax

/// Finds versioned schemas, migration plans with their stages, and containers.
///
/// Names stay as the source writes them: whether `V1` and `Schema.V1` are one schema is for
/// ``ProjectIndex`` to decide, by their last parts.
struct SchemaReader {
  let context: FileContext

  /// The versioned schemas that the file declares. A list of models that isn't in the declaration counts as empty.
  ///
  /// P19 asks whether an earlier schema lists models that aren't its own, and needs a place for
  /// each.
  func schemas() -> [SchemaFact] {
    groups(inheriting: "VersionedSchema").map { node, group, name in
      let models = member("models", of: group).map { references(in: $0) } ?? []
      return SchemaFact(
        name: name, version: member("versionIdentifier", of: group).flatMap(version),
        models: models.map { .init(name: $0.base?.code ?? "", place: context.place($0)) },
        place: context.place(group.introducer))
    }
  }

  /// The migration plans that the file declares, each with its schemas in their order.
  ///
  /// A plan that makes its list elsewhere isn't complete, and P20 says nothing about it.
  func plans() -> [PlanFact] {
    groups(inheriting: "SchemaMigrationPlan").map { node, group, name in
      let schemas = member("schemas", of: group)
      return PlanFact(
        name: name, schemas: schemas.map { references(in: $0).map { $0.base?.code ?? "" } } ?? [],
        isComplete: schemas != nil, place: context.place(group.introducer))
    }
  }

  /// The stages that the file makes, wherever they are: a plan often has them as static properties or in an
  /// extension.
  ///
  /// `lightweight` and `custom` are common names, so both labels have to be there.
  func stages() -> [StageFact] {
    context.walk.calls.compactMap { call in
      guard call.name == "lightweight" || call.name == "custom",
        let from = call.argument("fromVersion")?.code,
        let to = call.argument("toVersion")?.code
      else { return nil }
      return StageFact(plan: call.enclosingType, from: withoutSelf(from), to: withoutSelf(to))
    }
  }

  /// The calls that make containers, configurations and schemas, and the modifier `modelContainer(for:)`.
  ///
  /// Schemas are among them because they have the models of a container that names none itself.
  func containers() -> [ContainerFact] {
    context.walk.calls.compactMap { call in
      // Inside a view the modifier may be called without a receiver.
      let isModifier = call.receiver != nil || call.argument("for") != nil
      switch call.name {
      case "ModelContainer": return container(call, .container)
      case "modelContainer" where isModifier && call.argument("for") != nil:
        return container(call, .container)
      case "ModelConfiguration": return container(call, .configuration)
      case "Schema" where call.receiver == nil: return container(call, .schema)
      default: return nil
      }
    }
  }

  /// The fact of a call. The models are the types in its arguments, except in those of the
  /// migration plan.
  ///
  /// A schema or an array that is passed by name contributes none. If no call in the project names
  /// a model, ``ProjectIndex/cloudModels`` takes all of them.
  private func container(_ call: FunctionCallExprSyntax, _ kind: ContainerFact.Kind)
    -> ContainerFact
  {
    let memory = call.argument("isStoredInMemoryOnly") ?? call.argument("inMemory")
    let models = references(in: Syntax(call.arguments)).compactMap { reference -> String? in
      guard let base = reference.base?.code, base.lastComponent.first?.isUppercase == true else {
        return nil
      }
      // Of the call's own arguments: a nested call has labels, too.
      let label = reference.ancestors.lazy.compactMap { $0.as(LabeledExprSyntax.self) }
        .first { $0.parent?.id == call.arguments.id }?.label?.text
      // `migrationPlan: Plan.self` is a type in the arguments, too, and no model.
      return label == "migrationPlan" ? nil : base
    }
    return ContainerFact(
      kind: kind, models: models, plan: call.argument("migrationPlan")?.code,
      // Anything but a literal false counts as in memory, such as a flag that tests and previews
      // set.
      isInMemory: memory.map { $0.code != "false" } ?? (kind == .container && isInMemory(call)),
      // A configuration's first argument without a label is its name, or a model:
      // `ModelConfiguration("Tasks")`.
      namesStore: ["url", "groupContainer"].contains { call.argument($0) != nil }
        || (kind == .configuration && call.arguments.first?.label == nil
          && call.arguments.first?.expression.code.hasSuffix(".self") == false),
      cloudKit: call.argument("cloudKitDatabase")?.code,
      scope: call.scope.start, place: context.place(call))
  }

  /// Whether all configurations that the function around a container makes are in memory.
  ///
  /// Which of several configurations a container gets isn't followed, so one on disk is enough for
  /// false.
  private func isInMemory(_ call: FunctionCallExprSyntax) -> Bool {
    if call.code.contains("isStoredInMemoryOnly:true") { return true }
    let scope = call.scope.start
    let made = context.walk.calls.filter {
      $0.name == "ModelConfiguration" && $0.scope.start == scope
    }
    return !made.isEmpty
      && made.allSatisfy { $0.argument("isStoredInMemoryOnly").map { $0.code != "false" } ?? false }
  }

  /// The types that conform to a protocol, in their declaration or in an extension.
  ///
  /// Each comes with its full name, in which the types around it are included.
  private func groups(inheriting name: String) -> [(Syntax, any DeclGroupSyntax, String)] {
    context.walk.types.compactMap { node in
      guard let group = node.asProtocol(DeclGroupSyntax.self), let own = node.declaredName,
        group.inheritanceClause?.inheritedTypes.contains(where: {
          $0.type.code.lastComponent == name
        }) == true
      else { return nil }
      let outer = node.enclosingType
      return (node, group, outer.isEmpty ? own : outer + "." + own)
    }
  }

  /// The value or the getter of a static property.
  ///
  /// Nil if the group hasn't the property, or declares it without a value.
  private func member(_ name: String, of group: any DeclGroupSyntax) -> Syntax? {
    for member in group.memberBlock.members {
      for binding in member.decl.as(VariableDeclSyntax.self)?.bindings ?? []
      where binding.pattern.trimmedDescription == name {
        return binding.initializer.map { Syntax($0.value) }
          ?? binding.accessorBlock.map { Syntax($0) }
      }
    }
    return nil
  }

  /// The expressions `Type.self` in a node, in order.
  ///
  /// Filters the file's members by their offsets, which costs a pass over all of them.
  private func references(in node: Syntax) -> [MemberAccessExprSyntax] {
    context.walk.members.filter { member in
      member.declName.baseName.text == "self" && member.start >= node.start
        && member.end <= node.end
    }
  }

  /// The three numbers of `Schema.Version(1, 0, 0)`; nil for anything else.
  ///
  /// Any three literals count, so it doesn't matter whether they are in a getter or after `.init`.
  private func version(_ node: Syntax) -> [Int]? {
    let numbers = node.tokens(viewMode: .sourceAccurate).compactMap { token -> Int? in
      guard case .integerLiteral(let text) = token.tokenKind else { return nil }
      return Int(text.filter { $0 != "_" })
    }
    return numbers.count == 3 ? numbers : nil
  }

  /// The name of a type in an expression such as `SchemaV1.self`.
  private func withoutSelf(_ type: String) -> String {
    type.hasSuffix(".self") ? String(type.dropLast(5)) : type
  }
}

// MARK: - Predicates

/// Finds the properties of models that `#Predicate` closures use.
///
/// P23 compares them with the model's declaration, which the index has. A plain closure for
/// `filter` isn't read: no store evaluates it.
struct PredicateReader {
  let context: FileContext

  /// The paths of all predicates whose model the source shows.
  ///
  /// Without a model nothing can be said about a property, so a predicate whose model is inferred
  /// is left out.
  func facts() -> [PredicateFact] {
    context.walk.macros.filter { $0.macroName.text == "Predicate" }.flatMap {
      macro -> [PredicateFact] in
      // A predicate in parentheses isn't read.
      guard let closure = macro.trailingClosure else { return [] }
      let (parameter, annotated) = parameter(of: closure)
      // In the order of certainty: what is written at the closure holds, whatever is around it.
      guard let model = annotated ?? generic(of: macro) ?? descriptor(around: macro) else {
        return []
      }
      return context.walk.members.compactMap { member in
        guard member.start >= closure.start, member.end <= closure.end else { return nil }
        return fact(member, parameter: parameter, model: model)
      }
    }
  }

  /// The name of a predicate's parameter, and its type if it is written.
  ///
  /// `$0` if the closure names none.
  private func parameter(of closure: ClosureExprSyntax) -> (String, String?) {
    switch closure.signature?.parameterClause {
    case .simpleInput(let names): return (names.first?.name.text ?? "$0", nil)
    case .parameterClause(let clause):
      guard let first = clause.parameters.first else { return ("$0", nil) }
      return (first.firstName.text, first.type?.trimmedDescription)
    case nil: return ("$0", nil)
    }
  }

  /// The model of `#Predicate<Model>`.
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

  /// The fact of a member that begins with the predicate's parameter; nil for any other, and for a call.
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
    // A path through a call, such as `$0.tags.filter { … }.count`, ends in something that isn't the
    // model's.
    guard path.first == parameter, path.count > 1, !member.code.contains("(") else { return nil }
    path.removeFirst()
    return PredicateFact(
      model: model, path: path, comparedWith: compared(with: member), place: context.place(member))
  }

  /// The other side of `==` or `!=`; nil unless it is a path of names.
  ///
  /// The operators are in a flat sequence, so the other side is two elements away, on the right or
  /// on the left.
  private func compared(with member: MemberAccessExprSyntax) -> String? {
    let around = member.ancestors.lazy.compactMap { $0.as(SequenceExprSyntax.self) }.first
    guard let elements = around.map({ Array($0.elements) }) else { return nil }
    guard
      let index = elements.firstIndex(where: { $0.start <= member.start && $0.end >= member.end }),
      // Only the member itself is compared: in `$0.owner.map { … } == name` it is a part of
      // something else.
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
