import Observation

/// The parts of a model's state that few objects need.
@usableFromInline final class ModelExtra {
  /// The probe by which a read of the object was first seen to be tracked, for its registrar.
  var probe: TrackingProbe? { didSet { isObserved = probe != nil } }
  @usableFromInline private(set) var isObserved = false
  @usableFromInline var registrar: ObservationRegistrar? { probe?.registrar }
  /// The further words of `_ModelState.changes`.
  var furtherChanges: [UInt64] = []
  /// The properties that a partial fetch read.
  var loaded = PropertySet()
  /// The object that took over the row of this one.
  var successor: (any PersistentModel)?
  /// The lists that the object is in by its to-one properties, except the first of each.
  var lists: [Int: Int] = [:]
  /// The property that a probe saw being read.
  var probed: Int?
  /// The links that initializers gave from or to this object, in that order.
  var firstLinks = FirstLinks()
  /// The object itself, where its own initializer gave it links.
  var firstOwner: UnsafeMutableRawPointer?
}

// Which of several lists an object is in: the relationships that name one to-one property as their inverse are
// numbered. The property's destination and this number together determine who refers back.

extension PersistentModel {
  /// The number of the list that a to-one property's object is in; nil for the first that it can be in.
  func list(at index: Int) -> Int? { _$statePointer.pointee.extra?.lists[index] }

  func setList(_ number: Int?, at index: Int) {
    let state = _$statePointer
    // Being in a first list needs no memory.
    if number == nil, state.pointee.extra == nil { return }
    state.pointee.makeExtra().lists[index] = number
  }
}
