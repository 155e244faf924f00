/// Changes of preferences that a consumer has not yet taken, one a key.
///
/// A key that changes again keeps its place: the consumer then gets one change from the value that it last
/// saw to the newest, or none if these are equal. So no more changes wait than there are observed keys, and
/// the last state is never lost.
struct PendingPreferenceChanges: PendingChanges {
  typealias Change = PreferenceChange<PropertyList?>

  /// The changed keys, in the order of their first change; those before `first` are done.
  private var keys: [ExactKey] = []
  private var first = 0
  /// The waiting changes; nil for a key that is back at the value that the consumer saw.
  private var changes: [ExactKey: Change?] = [:]

  mutating func add(_ change: Change) {
    let key = ExactKey(change.key)
    guard let place = changes.index(forKey: key) else {
      keys.append(key)
      changes.updateValue(change, forKey: key)
      return
    }
    guard let earlier = changes.values[place] else {
      changes.values[place] = change
      return
    }
    let merged = Change(
      key: change.key, old: earlier.old, new: change.new, isOwn: earlier.isOwn && change.isOwn)
    changes.values[place] = merged.old == merged.new ? nil : merged
  }

  mutating func take() -> Change? {
    while first < keys.count {
      let change = changes.removeValue(forKey: keys[first])
      first += 1
      if first * 2 > keys.count {
        keys.removeFirst(first)
        first = 0
      }
      if case .some(.some(let change)) = change { return change }
    }
    return nil
  }
}
