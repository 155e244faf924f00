/// What is known of a key that somebody observes.
struct ObservedKey {
  /// The observers of this key, in the order in which they came.
  var observers: [UInt64] = []
  /// What Observation was told to have been read, from the first tracked read on.
  var tracked: TrackedKey?
  /// The layers that `values` are of; 0 before the first look.
  var generation: UInt64 = 0
  /// The values by layer, the first of which counts, as far as events have told.
  ///
  /// A copy of the layers' own, since two layers can be written at once: only what is known from
  /// events comes in an order that all observers agree on.
  private var values: [(layer: Int, value: PropertyList)] = []

  var effective: PropertyList? { values.first?.value }

  var isUnused: Bool { observers.isEmpty && tracked == nil }

  /// Puts values of all layers, in their order, in the place of what was known.
  mutating func learn(_ values: [(layer: Int, value: PropertyList)], generation: UInt64) {
    self.values = values
    self.generation = generation
  }

  /// Takes in what one layer says from now on.
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
