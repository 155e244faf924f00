/// Finds entries by identity: usually one each, but nothing enforces that.
struct HistoryIndex<ID: Hashable> {
  private var newest: [ID: UInt64] = [:]
  /// The older entries of identities that several have, oldest first.
  private var older: [ID: [UInt64]] = [:]

  /// The newest entry with an identity.
  subscript(id: ID) -> UInt64? { newest[id] }

  /// All entries with an identity, newest first.
  func all(_ id: ID) -> [UInt64] {
    guard let first = newest[id] else { return [] }
    return [first] + (older[id] ?? []).reversed()
  }

  mutating func insert(_ sequence: UInt64, _ id: ID) {
    guard let known = newest.updateValue(sequence, forKey: id) else { return }
    if known < sequence {
      older[id, default: []].append(known)
      return
    }
    newest[id] = known
    var rest = older[id] ?? []
    rest.insert(sequence, at: rest.firstIndex { $0 > sequence } ?? rest.count)
    older[id] = rest
  }

  mutating func remove(_ sequence: UInt64, _ id: ID) {
    // Most identities are not in `older`, and are looked up only once.
    guard !older.isEmpty, var rest = older.removeValue(forKey: id) else {
      newest[id] = nil
      return
    }
    if newest[id] == sequence {
      newest[id] = rest.removeLast()
    } else if let index = rest.firstIndex(of: sequence) {
      rest.remove(at: index)
    }
    if !rest.isEmpty { older[id] = rest }
  }
}
