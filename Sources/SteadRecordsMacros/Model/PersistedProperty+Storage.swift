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
    members.append("nonisolated(unsafe) private final var \(proof): SteadRecords._Initialized\(start)")
    if !observers.isEmpty { members.append("\(modifiers) \(guardFlag) = false") }
    return members.map { "\(raw: $0)" }
  }

  /// Whether an observer runs. As in the language, what an observer assigns it does not observe.
  private var guardFlag: String { prefixed("_$isObserving_") }

  func accessors(index: String, model: String) -> [AccessorDeclSyntax] {
    let place = "(self, \(index), \\\(model).\(name))"
    let write = """
      SteadRecords._willWrite\(place)
      \(slot) = .init(newValue)
      old.didReplace(with: newValue, self, \(index))
      SteadRecords._didWrite\(place)
      """
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
      "set {\nlet old = \(raw: slot)\n\(raw: observed(write, index: index))\n}",
    ]
  }

  /// The write between the calls of the observers.
  private func observed(_ write: String, index: String) -> String {
    guard !observers.isEmpty else { return write }
    var functions: [String] = []
    for observer in observers {
      let usual = observer.kind == .willSet ? "newValue" : "oldValue"
      let value = observer.kind == .willSet ? "newValue" : "previous"
      let parameter = observer.parameter.map { "let \($0) = \(value)" } ?? ""
      let binding = observer.kind == .willSet && observer.parameter == usual ? "" : parameter
      // A function of its own, since the body may return.
      functions.append("func \(observer.kind.rawValue)() {\n\(binding)\n\(observer.body)\n}")
    }
    let usesPrevious = observers.contains { $0.kind == .didSet && $0.parameter != nil }
    let calls = { (kind: Observer.Kind) in
      observers.contains { $0.kind == kind } ? ["if isOutermost { \(kind.rawValue)() }"] : []
    }
    let lines =
      (usesPrevious ? ["let previous = old.read(self, \(index))"] : []) + functions + [
        "let isOutermost = !\(guardFlag)", "\(guardFlag) = true",
        "defer { if isOutermost { \(guardFlag) = false } }",
      ] + calls(.willSet) + [write] + calls(.didSet)
    return lines.joined(separator: "\n")
  }
}
