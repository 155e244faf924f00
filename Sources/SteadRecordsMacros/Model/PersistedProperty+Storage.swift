import SwiftSyntax

extension PersistedProperty {
  /// The slot, and what lets the compiler see whether an initializer forgot the property.
  ///
  /// The slot starts as a placeholder, so that an object can be made from a row without its
  /// properties' values. By itself that would hide a forgotten property; the second member has
  /// no size and no value until the property has one.
  var storageMembers: [DeclSyntax] {
    let modifiers = "@exclusivity(unchecked) nonisolated(unsafe) private final var"
    var members = ["\(modifiers) \(slot) = \(slotExpression)"]
    let start = hasInitialValue ? " = SteadRecords._Initialized()" : ""
    members.append(
      "nonisolated(unsafe) private final var \(proof): SteadRecords._Initialized\(start)")
    if !observers.isEmpty { members.append("\(modifiers) \(guardFlag) = false") }
    return members.map { "\(raw: $0)" }
  }

  /// Whether an observer runs. As in the language, what an observer assigns it does not observe.
  private var guardFlag: String { prefixed("_$isObserving_") }

  func accessors(index: String, model: String) -> [AccessorDeclSyntax] {
    let place = "(self, \(index), \\\(model).\(name))"
    return [
      """
      @storageRestrictions(accesses: \(raw: slot), initializes: \(raw: proof))
      init(initialValue) {
        \(raw: slot) = .init(initialValue)
        \(raw: proof) = .init()
      }
      """,
      """
      get {
        if _$state.isWatched { SteadRecords._willRead\(raw: place) }
        let slot = \(raw: slot)
        return slot.read(self, \(raw: index))
      }
      """,
      "set {\n\(raw: setter(index: index, place: place))\n}",
    ]
  }

  private func setter(index: String, place: String) -> String {
    let usesPrevious = observers.contains { $0.kind == .didSet && $0.parameter != nil }
    // The storage is copied once the object is sure to have its row's values.
    let write =
      ["SteadRecords._willWrite\(place)", "let old = \(slot)"]
      + (usesPrevious ? ["let previous = old.read(self, \(index))"] : [])
      + [
        "\(slot) = .init(newValue)", "old.didReplace(with: newValue, self, \(index))",
        "SteadRecords._didWrite\(place)",
      ]
    let lines = observers.isEmpty ? write : begin + call(.willSet) + write + call(.didSet)
    return lines.joined(separator: "\n")
  }

  private var begin: [String] {
    [
      "let isOutermost = !\(guardFlag)", "\(guardFlag) = true",
      "defer { if isOutermost { \(guardFlag) = false } }",
    ]
  }

  /// Runs an observer in a function of its own, since its body may return.
  private func call(_ kind: Observer.Kind) -> [String] {
    guard let observer = observers.first(where: { $0.kind == kind }) else { return [] }
    let value = kind == .willSet ? "newValue" : "previous"
    let parameter =
      observer.parameter.flatMap { $0 == value ? nil : "let \($0) = \(value)\n" } ?? ""
    return [
      "func \(kind.rawValue)() {\n\(parameter)\(observer.body)\n}",
      "if isOutermost { \(kind.rawValue)() }",
    ]
  }
}
