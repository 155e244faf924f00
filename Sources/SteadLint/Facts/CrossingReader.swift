import SwiftSyntax

/// Finds contexts that a closure takes from one actor to another. Rule P25 reports them: a
/// `ModelContext` belongs to the actor that made it.
///
/// Only closures that certainly run elsewhere count: those of `Task.detached` and of a global
/// queue. A plain `Task` inherits the actor.
struct CrossingReader {
  let context: FileContext
  let variables: VariableTypes

  /// A use, in a closure that runs elsewhere, of a context from outside that closure.
  struct Crossing {
    /// The context's name, at which the rule reports.
    let name: DeclReferenceExprSyntax
    /// What runs the closure, such as `Task.detached`, for the message.
    let call: String
  }

  /// The first crossing of each closure: one finding says what to change for all of them.
  ///
  /// Costs a pass over the file's calls for each such closure, of which files have few.
  func crossings() -> [Crossing] {
    context.walk.calls.compactMap { call in
      guard let caller = backgroundCall(call), let closure = closure(of: call), !isIsolated(closure)
      else { return nil }
      return contextUse(in: closure).map { Crossing(name: $0, call: caller) }
    }
  }

  /// The name of a call that runs its closure on another thread; nil for any other call.
  private func backgroundCall(_ call: FunctionCallExprSyntax) -> String? {
    let receiver = call.receiver?.code ?? ""
    if call.name == "detached", receiver == "Task" { return "Task.detached" }
    // A queue in a variable may be the main queue, so only one that is named here counts.
    if call.name == "async", receiver.hasPrefix("DispatchQueue.global(") {
      return "DispatchQueue.global"
    }
    return nil
  }

  /// The closure that a call gets, after its parentheses or as its last argument.
  private func closure(of call: FunctionCallExprSyntax) -> ClosureExprSyntax? {
    call.trailingClosure ?? call.arguments.last?.expression.as(ClosureExprSyntax.self)
  }

  /// Whether a closure is marked with the main actor.
  ///
  /// `Task.detached { @MainActor in … }` runs where the context of a view belongs.
  private func isIsolated(_ closure: ClosureExprSyntax) -> Bool {
    closure.signature?.attributes.contains { $0.trimmedDescription.hasPrefix("@MainActor") }
      ?? false
  }

  /// The first context from outside of a closure on which the closure calls a method.
  private func contextUse(in closure: ClosureExprSyntax) -> DeclReferenceExprSyntax? {
    let own = declaredNames(in: closure)
    return context.walk.calls.lazy.compactMap { call -> DeclReferenceExprSyntax? in
      // By offsets, since the list has the calls of the whole file and not a tree of them.
      guard call.start >= closure.statements.start, call.end <= closure.end,
        let receiver = call.receiver,
        let name = lastName(of: receiver), !own.contains(name.baseName.text), isContext(name),
        !returnsToMainActor(call, within: closure)
      else { return nil }
      return name
    }.first
  }

  /// The name of a receiver such as `context` or `self.context`; nil for a member of anything else.
  ///
  /// A context that is reached through another object may be made by that object, on the closure's
  /// side.
  private func lastName(of receiver: ExprSyntax) -> DeclReferenceExprSyntax? {
    if let name = receiver.as(DeclReferenceExprSyntax.self) { return name }
    guard let member = receiver.as(MemberAccessExprSyntax.self), member.base?.code == "self" else {
      return nil
    }
    return member.declName
  }

  /// Whether a name is a context, by its type or as a property from a view's environment. A name alone isn't enough
  /// here: the finding is a warning about a race.
  private func isContext(_ name: DeclReferenceExprSyntax) -> Bool {
    let text = name.baseName.text
    if let type = variables.type(of: text, at: name) { return type.elementType == "ModelContext" }
    return context.environmentContexts.contains(text)
  }

  /// The names of a closure's variables and parameters.
  ///
  /// A context that the closure makes itself, or gets as a parameter, belongs to it.
  private func declaredNames(in closure: ClosureExprSyntax) -> Set<String> {
    let made = context.walk.variables.filter { $0.start >= closure.start && $0.end <= closure.end }
    var names = Set(made.flatMap(\.bindings).map(\.pattern.trimmedDescription))
    if let clause = closure.signature?.parameterClause {
      // All tokens of the parameters, types included: a type's name is never a context's, so it
      // does no harm.
      names.formUnion(clause.tokens(viewMode: .sourceAccurate).map(\.text))
    }
    return names
  }

  /// Whether the call is in an inner closure that runs on the main actor, or in a `perform` or the like.
  private func returnsToMainActor(_ call: FunctionCallExprSyntax, within closure: ClosureExprSyntax)
    -> Bool
  {
    for node in call.ancestors {
      if node.id == closure.id { return false }
      guard let inner = node.as(ClosureExprSyntax.self) else { continue }
      // The innermost closure that names an actor decides where the call runs.
      if isIsolated(inner) { return true }
      let caller = inner.ancestors.dropFirst().lazy.compactMap {
        $0.as(FunctionCallExprSyntax.self)
      }.first
      // `MainActor.run`, `context.perform` and `DispatchQueue.main.async` all take the call to
      // another place, which is most likely the right one.
      if ["run", "perform", "performAndWait", "async", "sync"].contains(caller?.name ?? "") {
        return true
      }
    }
    return false
  }
}

extension FileContext {
  /// The properties that get a context from a view's environment.
  ///
  /// Such a property shows no type: `@Environment(\.modelContext) private var modelContext`.
  var environmentContexts: Set<String> {
    let found = walk.variables.filter { variable in
      variable.attributes.contains { $0.trimmedDescription.contains("\\.modelContext") }
    }
    return Set(found.flatMap(\.bindings).map(\.pattern.trimmedDescription))
  }
}
