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

  var guardFlag: String { "_$isObserving_\(plainName)" }

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
      """
      set {
        let old = \(raw: slot)
        SteadRecords._willWrite\(raw: place)
        \(raw: slot) = .init(newValue)
        old.didReplace(with: newValue, self, \(raw: index))
        SteadRecords._didWrite\(raw: place)
      }
      """,
    ]
  }
}
