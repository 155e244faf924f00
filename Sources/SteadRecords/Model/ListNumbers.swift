// In which of several lists an object is: of the relationships that name one to-one property as their
// inverse, each has a number. Where the property leads and this number say together who refers back.

extension PersistentModel {
  /// The number of the list that a to-one property's object is in; nil for the first that it can be in.
  func list(at index: Int) -> Int? { _$statePointer.pointee.extra?.lists[index] }

  func setList(_ number: Int?, at index: Int) {
    let state = _$statePointer
    // What is in a first list needs no memory for it.
    if number == nil, state.pointee.extra == nil { return }
    state.pointee.makeExtra().lists[index] = number
  }
}
