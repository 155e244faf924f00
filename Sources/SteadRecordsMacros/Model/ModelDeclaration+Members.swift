// Generated members are nonisolated whatever the class is: the engine calls them from its own threads.

// Every name that is visible to the user's expressions starts with `_$`, so that it hides nothing.

extension ModelDeclaration {
  /// The members that `@Model` adds.
  var members: [String] {
    var result: [String] = []
    // One state for each object, in the class that begins the hierarchy.
    if supermodel == nil { result += state }
    if inheritsSomething { result.append(firstIndex) }
    if !constants.isEmpty { result.append(constantOffsets) }
    // Only a subclass calls it, and a final class has none.
    if !isFinal { result.append(keyPaths) }
    return result + [
      supermodelMember, propertyCount, propertyMetadata, schemaMetadata, rowInitializer, reload,
      bind, visit,
    ] + making + deinitializer
  }

  /// The keyword that a member needs below another model.
  private var override: String { supermodel == nil ? "" : "override " }
  /// `static` where nothing can override the member, which makes calls direct, and otherwise `class`.
  private var typeMember: String { isFinal && supermodel == nil ? "static" : "class" }

  /// The object's state, inline in the object, and its address.
  ///
  /// Unchecked, as the properties' slots are: an object is not Sendable and belongs to one context, which one thread
  /// uses at a time. The dynamic check of exclusive access would cost more than a read.
  private var state: [String] {
    [
      """
      @exclusivity(unchecked) nonisolated(unsafe) \
      \(access)final var _$state = SteadRecords._ModelState()
      """,
      """
      nonisolated \(access)final var _$statePointer: \
      UnsafeMutablePointer<SteadRecords._ModelState> {
        SteadRecords._pointer(to: &_$state)
      }
      """,
    ]
  }

  /// The index of the class's first property, after those of the superclass.
  private var firstIndex: String {
    "nonisolated private static var _$first: Int { \(supermodel.map { "\($0)._$propertyCount" } ?? "0") }"
  }

  // MARK: - Description

  /// The class above this one in the hierarchy of models; nil for the first one.
  private var supermodelMember: String {
    """
    nonisolated \(override)\(access)\(typeMember) var _$supermodel: \
    (any SteadRecords.PersistentModel.Type)? { \(supermodel.map { "\($0).self" } ?? "nil") }
    """
  }

  /// The number of properties, inherited ones included.
  private var propertyCount: String {
    // Computed at run time: the macro does not see how many properties the superclass has.
    let inherited = supermodel.map { "\($0)._$propertyCount + " } ?? ""
    return """
      nonisolated \(override)\(access)\(typeMember) var _$propertyCount: Int \
      { \(inherited)\(properties.count) }
      """
  }

  /// The description of the properties: names, key paths, default values and options.
  ///
  /// A key path or a default value of a class on a global actor exists on that actor only. So this member has the
  /// isolation of the class, whatever it is, and `schemaMetadata` calls it regardless.
  private var propertyMetadata: String {
    let entries = properties.map(entry) + constraintEntries + inheritedEntries
    let list = entries.isEmpty ? ["[]"] : ["["] + entries.map { "  " + $0 } + ["]"]
    return list.body(
      of: "private static func _$propertyMetadata() -> [SteadRecords.Schema.PropertyMetadata]")
  }

  /// The requirement of `PersistentModel`, which anything may call on any thread.
  private var schemaMetadata: String {
    """
    nonisolated \(override)\(access)\(typeMember) var schemaMetadata: \
    [SteadRecords.Schema.PropertyMetadata] {
      SteadRecords._describe(\(name)._$propertyMetadata)
    }
    """
  }

  /// The description of one property.
  private func entry(_ property: PersistedProperty) -> String {
    let path = property.keyPath(of: name)
    var arguments = [
      "name: \"\(property.plainName)\"",
      "keypath: \(path.hasPrefix("\\.") ? "\(path) as PartialKeyPath<\(name)>" : path)",
    ]
    // A relationship's initial value is objects, which a description must not make. `nil` says no
    // more than no value.
    if let value = property.initialValue, !property.isRelationship, value != "nil" {
      // The type gives `[]`, `.now` and the like a meaning where `Any?` is expected.
      arguments.append(
        "defaultValue: \(property.usableType.map { "(\(value)) as \($0)" } ?? value)")
    }
    if let metadata = property.metadata {
      arguments.append("metadata: SteadRecords.Schema.\(metadata)")
    }
    return ".init(\(arguments.joined(separator: ", "))),"
  }

  /// The constraints, as entries with names of their own.
  private var constraintEntries: [String] {
    let unique = constraints.filter { $0.kind == .unique }.enumerated()
    let index = constraints.filter { $0.kind == .index }.enumerated()
    // Names that no property can have, since one that begins with `_$` is refused.
    return unique.map { entry($1, named: "_$unique\($0)") }
      + index.map { entry($1, named: "_$index\($0)") }
  }

  /// The description of one constraint.
  private func entry(_ constraint: Constraint, named entryName: String) -> String {
    """
    .init(name: "\(entryName)", keypath: \\\(name).persistentModelID, \
    metadata: SteadRecords.Schema.\(constraint.kind.rawValue)<\(name)>(\(constraint.arguments))),
    """
  }

  /// The key paths of this class to inherited properties. A superclass's key path equals none of a subclass, so the
  /// superclass makes them for the subclass.
  private var inheritedEntries: [String] {
    guard let supermodel else { return [] }
    return [
      """
      .init(name: "_$inherited", keypath: \\\(name).persistentModelID, \
      defaultValue: \(supermodel)._$keyPaths(of: \(name).self)),
      """
    ]
  }

  /// The key paths of a subclass to the properties that it inherits, in the order of the properties.
  ///
  /// Isolated as the class is, like ``propertyMetadata``, which alone calls it.
  private var keyPaths: String {
    // The superclass makes them: its private properties have no names anywhere else.
    let inherited = supermodel.map { "\($0)._$keyPaths(of: _$Model.self) + " } ?? ""
    let paths = properties.map { $0.keyPath(of: "_$Model") }
    return """
      \(access)static func _$keyPaths<_$Model: \(name)>(of _: _$Model.Type) -> \
      [PartialKeyPath<_$Model>] {
        \(inherited)[\(paths.joined(separator: ", "))]
      }
      """
  }

  /// The properties that are a `let`, in the order of their indices.
  private var constants: [PersistedProperty] { properties.filter(\.isConstant) }

  /// The offsets of the constants in an object. Loading a row writes to them, since a `let` has no setter.
  private var constantOffsets: String {
    let names = constants.map { "\"\($0.plainName)\"" }.joined(separator: ", ")
    return """
      nonisolated private static let _$constantOffsets = \
      SteadRecords._constantOffsets(in: \(name).self, [\(names)])
      """
  }

  // MARK: - Rows

  /// `init(_row:)`, which makes an object from a row.
  ///
  /// Default values are evaluated here, as in any initializer, and then replaced by the row's. ``making`` is for the
  /// classes where that would cost too much.
  ///
  /// ```swift
  /// nonisolated required init(_row _$row: SteadRecords._RowReader) {
  ///   _$proof_name = .init()
  ///   _$slot_name._load(_$row, 0)
  /// }
  /// ```
  private var rowInitializer: String {
    var lines: [String] = properties.enumerated().compactMap { position, property in
      if property.hasInitialValue { return nil }
      if !property.isConstant { return "\(property.proof) = .init()" }
      return "self.\(property.name) = SteadRecords._loadConstant"
        + "(\(property.slotExpression), _$row, \(index(position)))"
    }
    // Constants are initialized before this call, as the language demands; properties with slots are loaded after it.
    if supermodel != nil { lines.append("super.init(_row: _$row)") }
    // A constant with an initial value was set by that, and gets the row's value by its address.
    lines += loads { !$0.isConstant || $0.hasInitialValue }
    return function("\(access)required init(_row _$row: SteadRecords._RowReader)", lines)
  }

  /// `_$reload`, which sets all properties of an existing object from a row.
  private var reload: String {
    // The superclass loads its own properties: their slots are private to it.
    let lines = (supermodel == nil ? [] : ["super._$reload(_$row)"]) + loads { _ in true }
    return function("\(override)\(access)func _$reload(_ _$row: SteadRecords._RowReader)", lines)
  }

  /// The statements that load properties from a row.
  private func loads(where isWanted: (PersistedProperty) -> Bool) -> [String] {
    // Offsets are listed for constants alone.
    var offset = -1
    return properties.enumerated().compactMap { position, property in
      if property.isConstant { offset += 1 }
      guard isWanted(property) else { return nil }
      guard property.isConstant else { return "\(property.slot)._load(_$row, \(index(position)))" }
      return """
        SteadRecords._reloadConstant\
        (self, \(name)._$constantOffsets[\(offset)], \(property.slotExpression), _$row, \(index(position)))
        """
    }
  }

  /// `_$bind`, which writes all properties to a statement.
  private var bind: String {
    let lines =
      (supermodel == nil ? [] : ["super._$bind(_$row)"])
      + properties.enumerated().map { position, property in
        property.isConstant
          ? "SteadRecords._fill(\(property.slotExpression), self.\(property.name))"
            + "._bind(_$row, \(index(position)))"
          : "\(property.slot)._bind(_$row, \(index(position)))"
      }
    return function("\(override)\(access)func _$bind(_ _$row: SteadRecords._RowWriter)", lines)
  }

  /// `_$visit`, which passes the slot of a property to a visitor whose type it does not know.
  ///
  /// ```swift
  /// switch _$index {
  /// case 0: _$visitor.visit(&_$slot_name, _$index)
  /// default: break
  /// }
  /// ```
  private var visit: String {
    // Cases count from 0 in each class; a superclass's properties are passed up.
    var lines = ["switch _$index\(supermodel == nil ? "" : " - \(name)._$first") {"]
    var offset = -1
    lines += properties.enumerated().map { position, property in
      guard property.isConstant else {
        return "case \(position): _$visitor.visit(&\(property.slot), _$index)"
      }
      offset += 1
      // A constant has no slot: visitors get a copy, and what they write to that is written back.
      return """
        case \(position):
          var _$slot = SteadRecords._fill(\(property.slotExpression), self.\(property.name))
          _$visitor.visit(&_$slot, _$index)
          SteadRecords._writeBack(_$slot, self, \(name)._$constantOffsets[\(offset)], _$index, _$visitor)
        """
    }
    lines += [
      "default: \(supermodel == nil ? "break" : "super._$visit(_$index, &_$visitor)")", "}",
    ]
    return function(
      """
      \(override)\(access)func _$visit<_$Visitor: SteadRecords._SlotVisitor>(\
      _ _$index: Int, _ _$visitor: inout _$Visitor)
      """, lines)
  }

  /// A nonisolated function of some statements.
  private func function(_ head: String, _ lines: [String]) -> String {
    lines.body(of: "nonisolated \(head)")
  }
}

// MARK: - Making and ending objects

// How an object begins without an initializer, and how it ends.

extension ModelDeclaration {
  /// The members that make an object from a row without evaluating default values, which for `UUID()` alone takes
  /// longer than reading a row.
  ///
  /// Empty if the class can have subclasses, has stored properties that the macro cannot initialize, or has nothing
  /// to gain. At run time ``_canMake`` checks the number of stored properties, since another macro may have added
  /// one.
  ///
  /// For a class with `var id: UUID = UUID()` the body of `_$make` is
  ///
  /// ```swift
  /// guard _$isMakeable else { return Trip(_row: _$row) }
  /// let _$object = SteadRecords._allocate(Trip.self)
  /// SteadRecords._place(SteadRecords._ModelState(), in: &_$object._$state)
  /// SteadRecords._place(SteadRecords._makeSlot((UUID).self), in: &_$object._$slot_id)
  /// _$object._$reload(_$row)
  /// return _$object
  /// ```
  var making: [String] {
    guard isFinal, supermodel == nil, let unstored, properties.contains(where: \.evaluates),
      !properties.contains(where: \.isConstant)
    else { return [] }
    // The state, a slot and a proof for each property, and what observers need.
    let fields =
      1 + properties.count * 2 + properties.count { !$0.observers.isEmpty } + unstored.count
    let check = """
      nonisolated private static let _$isMakeable = SteadRecords._canMake(\(name).self, fields: \(fields))
      """
    var lines = [
      "guard _$isMakeable else { return \(name)(_row: _$row) }",
      "let _$object = SteadRecords._allocate(\(name).self)",
      "SteadRecords._place(SteadRecords._ModelState(), in: &_$object._$state)",
    ]
    for property in properties {
      lines.append(
        "SteadRecords._place(\(property.slotExpression), in: &_$object.\(property.slot))")
      if !property.observers.isEmpty {
        lines.append("SteadRecords._place(false, in: &_$object.\(property.observing))")
      }
    }
    if !unstored.isEmpty {
      lines.append("SteadRecords._fillUnstored(_$object, with: \(name)._$fillUnstored)")
    }
    // The row comes last, over the placeholders: by then every stored property is initialized, so
    // that an object whose row cannot be read is released as any other.
    lines += ["_$object._$reload(_$row)", "return _$object"]
    let make = lines.body(
      of: "nonisolated \(access)static func _$make(_ _$row: SteadRecords._RowReader) -> \(name)")
    return [check, make] + (unstored.isEmpty ? [] : [fill(unstored)])
  }

  /// The function that initializes stored properties without a column. It has the isolation of the class, as the
  /// initial values have.
  private func fill(_ unstored: [UnstoredProperty]) -> String {
    unstored.map { "SteadRecords._place(\($0.initialValue), in: &_$object.\($0.name))" }
      .body(of: "private static func _$fillUnstored(_ _$object: \(name))")
  }

  /// A `deinit` that hands over the objects which only this one holds. Released inside each other, a long chain of
  /// them would overflow the stack.
  var deinitializer: [String] {
    // Only what can be a relationship: attributes hold no objects.
    let links = properties.filter { !$0.isConstant && !$0.isValue && $0.storage == .plain }
    // A class has one `deinit`. With the app's own, a very long chain of such objects may still
    // overflow the stack.
    guard !hasDeinitializer, !links.isEmpty else { return [] }
    return [links.map { "SteadRecords._unlink(&\($0.slot))" }.body(of: "deinit")]
  }
}
