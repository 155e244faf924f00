/// The state of a key that somebody observes.
struct ObservedKey {
  /// The observers of this key, in the order of registration.
  var observers: [UInt64] = []
  /// The object reported to Observation as read, from the first tracked read on.
  var tracked: TrackedKey?
  /// The generation of layers that `values` belong to; 0 before the first look.
  var generation: UInt64 = 0
  /// The values by layer, the first of which is effective, as far as events have reported.
  ///
  /// A copy of the layers' own, since two layers can be written at once: only events come in an order on
  /// which all observers agree.
  private var values: [(layer: Int, value: PropertyList)] = []

  var effective: PropertyList? { values.first?.value }

  var isUnused: Bool { observers.isEmpty && tracked == nil }

  /// Replaces what was known with values of all layers, in their order.
  mutating func learn(_ values: [(layer: Int, value: PropertyList)], generation: UInt64) {
    self.values = values
    self.generation = generation
  }

  /// Applies a layer's new value.
  mutating func set(_ value: PropertyList?, layer: Int) {
    let index = values.firstIndex { $0.layer >= layer } ?? values.count
    let isThere = index < values.count && values[index].layer == layer
    switch (isThere, value) {
    case (true, let value?): values[index].value = value
    case (true, nil): values.remove(at: index)
    case (false, let value?): values.insert((layer, value), at: index)
    case (false, nil): break
    }
  }
}
