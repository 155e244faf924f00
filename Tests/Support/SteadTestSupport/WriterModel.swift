/// What one writer's keys must hold, from what it said before it was killed.
///
/// It says `b NUMBER KEY VALUE` before it sets a key, with `none` for a removal, `e` once that is done,
/// and `s` and `t` around other work that is to be killed, too.
package struct WriterModel {
  private struct Change {
    var key: String
    var value: String?
  }

  package let name: String
  private var done: [String: String] = [:]
  private var begun: Change?
  package private(set) var isSynchronizing = false
  /// Changes that were done and must be found again, so far.
  package private(set) var doneCount = 0

  package init(_ name: String) { self.name = name }

  package var isChanging: Bool { begun != nil }

  /// Takes in a line of the writer's; false when it is not one that belongs there.
  package mutating func take(_ line: String) -> Bool {
    let parts = line.split(separator: " ", maxSplits: 3).map(String.init)
    switch parts.first {
    case "b" where parts.count == 4:
      begun = Change(key: parts[2], value: parts[3] == "none" ? nil : parts[3])
    case "e":
      guard let change = begun else { return false }
      done[change.key] = change.value
      begun = nil
      doneCount += 1
    case "s": isSynchronizing = true
    case "t": isSynchronizing = false
    default: return false
    }
    return true
  }

  /// Compares what is there with what must be: the change that had begun may have been made or not,
  /// and nothing else may differ.
  package mutating func check(_ contents: [String: String]) -> String? {
    isSynchronizing = false
    if contents == done {
      begun = nil
      return nil
    }
    if let change = begun {
      done[change.key] = change.value
      begun = nil
      if contents == done { return nil }
    }
    let keys = Set(contents.keys).union(done.keys).sorted()
    let differences = keys.filter { contents[$0] != done[$0] }.prefix(5).map {
      "\($0) is \(contents[$0] ?? "missing"), not \(done[$0] ?? "gone")"
    }
    return differences.joined(separator: "; ")
  }
}
