import SwiftSyntax

extension PersistedProperty {
  /// The slot, and the member by which the compiler sees whether an initializer forgot the property.
  ///
  /// The slot starts as a placeholder, so that an object can be made from a row without the properties' values. By
  /// itself that would hide a forgotten property; the second member has no size, and no value until the property has
  /// one.
  ///
  /// Both are `nonisolated(unsafe)`: a class may belong to an actor while its objects are read and saved on the
  /// executor of their context. A model is used on one executor at a time, and the second member holds nothing.
  ///
  /// The slot is declared with `@exclusivity(unchecked)`, since the dynamic check of exclusive access would cost more
  /// than a read.
  ///
  /// For `var name: String` they are
  ///
  /// ```swift
  /// @exclusivity(unchecked) nonisolated(unsafe) private final var _$slot_name = SteadRecords._makeSlot((String).self)
  ///
  /// nonisolated(unsafe) private final var _$proof_name: SteadRecords._Initialized
  /// ```
  var storageMembers: [String] {
    let modifiers = "@exclusivity(unchecked) nonisolated(unsafe) private final var"
    let start = hasInitialValue ? " = SteadRecords._Initialized()" : ""
    var members = [
      "\(modifiers) \(slot) = \(slotExpression)",
      "nonisolated(unsafe) private final var \(proof): SteadRecords._Initialized\(start)",
    ]
    // Stored in the object: an observer may assign the property of another object of the class,
    // whose observers then run.
    if !observers.isEmpty { members.append("\(modifiers) \(observing) = false") }
    return members
  }

  /// The accessors of the property.
  ///
  /// The first property of a class `Trip` gets, besides an `init` accessor,
  ///
  /// ```swift
  /// get {
  ///   if _$state.isWatched { SteadRecords._willRead(self, 0, \Trip.name) }
  ///   let _$slot = _$slot_name
  ///   return _$slot.read(self, 0)
  /// }
  /// set(_$new) {
  ///   SteadRecords._willWrite(self, 0, \Trip.name)
  ///   let _$old = _$slot_name
  ///   _$slot_name = .init(_$new)
  ///   _$old.didReplace(with: _$new, self, 0)
  ///   SteadRecords._didWrite(self, 0, \Trip.name)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - index: The property's index, as generated code spells it.
  ///   - model: The name of its class.
  func accessors(index: String, model: String) -> [String] {
    // The key path is an autoclosure's argument: it is made only if Observation needs it.
    let propertyArguments = "(self, \(index), \(keyPath(of: model)))"
    // The state is a member of the class that begins the hierarchy, where indices are plain numbers.
    let isRoot = Int(index) != nil
    let state = isRoot ? ", _$state" : ""
    let arguments = isRoot ? ", &_$state, \(index), \(model).self" : ""
    return [
      """
      @storageRestrictions(accesses: \(slot)\(state), initializes: \(proof))
      init(initialValue) {
        \(slot) = .init(initialValue\(arguments))
        \(proof) = .init()
      }
      """,
      """
      get {
        if _$state.isWatched { SteadRecords._willRead\(propertyArguments) }
        let _$slot = \(slot)
        return _$slot.read(self, \(index))
      }
      """,
      setter(index: index, propertyArguments: propertyArguments).body(of: "set(_$new)"),
    ] + (isChangedInPlace ? [modifier(index: index, propertyArguments: propertyArguments)] : [])
  }

  /// `_modify`, which lends the program the array itself: an append then need not copy it.
  private func modifier(index: String, propertyArguments: String) -> String {
    """
    _modify {
      if _$state.isWatched { SteadRecords._willRead\(propertyArguments) }
      var _$new = \(slot)._lend(self, \(index))
      defer {
        SteadRecords._willWrite\(propertyArguments)
        SteadRecords._takeBack(_$new, into: SteadRecords._address(of: &\(slot)), self, \(index))
        SteadRecords._didWrite\(propertyArguments)
      }
      yield &_$new
    }
    """
  }

  /// The statements of `set`, with the observers around the change.
  ///
  /// Invariant: `_willWrite` runs before the old value is read, since it loads the row if it has not been read yet.
  private func setter(index: String, propertyArguments: String) -> [String] {
    let usesPrevious = observers.contains { $0.kind == .didSet && $0.parameter != nil }
    // The storage is copied once the object is sure to have its row's values.
    // The old slot is kept until the new one is in place, for the relationship's other side.
    let write =
      ["SteadRecords._willWrite\(propertyArguments)", "let _$old = \(slot)"]
      + (usesPrevious ? ["let _$previous = _$old.read(self, \(index))"] : [])
      + [
        "\(slot) = .init(_$new)", "_$old.didReplace(with: _$new, self, \(index))",
        "SteadRecords._didWrite\(propertyArguments)",
      ]
    // `willSet` before anything else, while the property still has its old value, as in the
    // language.
    return observers.isEmpty ? write : begin + call(.willSet) + write + call(.didSet)
  }

  /// The statements that record whether an observer is running already.
  private var begin: [String] {
    [
      "let _$isOutermost = !\(observing)", "\(observing) = true",
      "defer { if _$isOutermost { \(observing) = false } }",
    ]
  }

  /// The statements that run an observer: in a local function, since its body may return.
  private func call(_ kind: Observer.Kind) -> [String] {
    guard let observer = observers.first(where: { $0.kind == kind }) else { return [] }
    // A prefixed name cannot hide a property that the observer mentions.
    let value = kind == .willSet ? "_$new" : "_$previous"
    let parameter = observer.parameter.map { ["let \($0) = \(value)"] } ?? []
    return [
      (parameter + [observer.body]).body(of: "func _$\(kind.rawValue)()"),
      "if _$isOutermost { _$\(kind.rawValue)() }",
    ]
  }
}

// MARK: - Text as syntax

// A plugin is built without optimization in debug builds. There, parsing and laying out an expansion takes longer than
// the compiler takes to compile it. So expansions are laid out as they are written, and passed on in nodes that only
// hold the source: the compiler parses them anyway.

extension DeclSyntax {
  /// Declarations that only the compiler parses.
  init(text: String) { self.init(MissingDeclSyntax(placeholder: .identifier(text))) }
}

extension ExtensionDeclSyntax {
  /// An empty extension that only the compiler parses.
  init(text: String) {
    self.init(
      extensionKeyword: .identifier(text),
      extendedType: MissingTypeSyntax(placeholder: .identifier("")),
      memberBlock: MemberBlockSyntax(
        leftBrace: .identifier(" {"), members: [], rightBrace: .identifier("}")))
  }
}

extension AttributeSyntax {
  /// An attribute that only the compiler parses.
  init(text: String) {
    self.init(
      atSign: .identifier(text), attributeName: MissingTypeSyntax(placeholder: .identifier("")))
  }
}

extension AccessorDeclSyntax {
  /// An accessor that only the compiler parses, one level inside its braces.
  init(text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    self.init(accessorSpecifier: .identifier("  " + lines.joined(separator: "\n  ")))
  }
}

extension [String] {
  /// A declaration with these lines in its braces.
  func body(of head: String) -> String {
    isEmpty ? "\(head) {}" : "\(head) {\n\(indented)\n}"
  }

  /// The lines, one level further in.
  var indented: String { "  " + joined(separator: "\n  ") }
}
