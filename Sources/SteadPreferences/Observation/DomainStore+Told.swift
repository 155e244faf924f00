import SteadFormats

extension DomainStore {
  /// The value that a key has once the event that is being told now has been told to all.
  ///
  /// What was written after it still waits to be told, and will be.
  func toldValue(forKey key: String) -> PropertyList? {
    state.withLock { state in
      for event in state.mail {
        for change in event.changes where change.key.isSameText(as: key) { return change.old }
      }
      return state.table[key]
    }
  }
}
