/// The latest edit of each key, in the order of each key's first edit.
struct PendingEdits {
  private(set) var edits: [DomainEdit] = []
  // By bytes: two strings that are equal to Swift can be two keys.
  private var places: [[UInt8]: Int] = [:]

  var isEmpty: Bool { edits.isEmpty }

  mutating func add(_ edit: DomainEdit) {
    let key = Array(edit.key.utf8)
    if let place = places[key] {
      edits[place].value = edit.value
    } else {
      places[key] = edits.count
      edits.append(edit)
    }
  }
}
