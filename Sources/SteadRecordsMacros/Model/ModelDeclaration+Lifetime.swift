// How an object begins without an initializer, and how it ends.

extension ModelDeclaration {
  /// The members that make an object from a row without evaluating default values; empty if the class has subclasses,
  /// stored properties that the macro cannot fill in, or nothing to gain.
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
    lines += ["_$object._$reload(_$row)", "return _$object"]
    let make = lines.body(
      of: "nonisolated \(access)static func _$make(_ _$row: SteadRecords._RowReader) -> \(name)")
    return [check, make] + (unstored.isEmpty ? [] : [fill(unstored)])
  }

  /// Has the isolation of the class, whatever it is, as the properties have.
  private func fill(_ unstored: [UnstoredProperty]) -> String {
    unstored.map { "SteadRecords._place(\($0.initialValue), in: &_$object.\($0.name))" }
      .body(of: "private static func _$fillUnstored(_ _$object: \(name))")
  }

  /// What hands over the objects that only this one holds, so that they are not released inside it.
  var deinitializer: [String] {
    let links = properties.filter { !$0.isConstant && !$0.isValue && $0.storage == .plain }
    guard !hasDeinitializer, !links.isEmpty else { return [] }
    return [links.map { "SteadRecords._unlink(&\($0.slot))" }.body(of: "deinit")]
  }
}
