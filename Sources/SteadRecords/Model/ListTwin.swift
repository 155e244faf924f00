// `parent.children.append(child)` changes the array in place only if nothing else holds it. But the engine needs the
// array as it was, to see what changed, and for readers in the meantime. So a list that is changed often has two arrays
// of the same objects: the relationship keeps one and lends the other to the program. The program's changes are then
// applied to the first.

/// The array that is lent to the program, and the set of its members.
struct ListTwin {
  /// Shorter lists are copied for each change.
  static let smallestCount = 32

  /// nil while the program has it.
  fileprivate var list: [AnyObject]?
  /// Made when it is first asked for.
  fileprivate var members: Set<ObjectIdentifier>?
}

extension _Targets {
  /// The array for the program to change, held by nothing else if possible.
  func lend() -> [AnyObject]? {
    guard let loaded else { return nil }
    guard let list = delta?.twin?.list else { return loaded }
    delta?.twin?.list = nil
    return list
  }

  /// Takes back an array that the program left as it was.
  func keep(_ list: [AnyObject]) { delta?.twin?.list = list }

  /// Whether the list has an object.
  func contains(_ object: AnyObject) -> Bool {
    guard let loaded else { return false }
    guard let delta, delta.twin != nil else { return loaded.contains { $0 === object } }
    if delta.twin?.members == nil {
      delta.twin?.members = Set(loaded.lazy.map(ObjectIdentifier.init))
    }
    return delta.twin?.members?.contains(ObjectIdentifier(object)) ?? false
  }

  // MARK: The engine's own changes

  mutating func remove(_ object: AnyObject) {
    guard let place = loaded?.lastIndex(where: { $0 === object }) else { return }
    loaded?.remove(at: place)
  }

  /// Takes the place of another content of the same relationship.
  mutating func replace(with other: _Targets) {
    self = other
    delta?.twin = nil
  }

  /// Changes the content; the twin of another list than this one is dropped.
  mutating func update(_ body: (inout _Targets) -> Void) {
    guard delta?.twin != nil else { return body(&self) }
    let before = address
    body(&self)
    if address != before { delta?.twin = nil }
  }

  /// Where the list lies and where it ends; the engine's own changes always change one of these.
  private var address: Range<UInt>? {
    loaded?.withUnsafeBytes {
      let start = UInt(bitPattern: $0.baseAddress)
      return start..<start + UInt($0.count)
    }
  }
}

extension ToManyDelta {
  /// Has a twin from now on, where that is worth its memory.
  func setTwin(_ list: [AnyObject], added: [AnyObject], removed: [AnyObject]) {
    guard list.count >= ListTwin.smallestCount else { return twin = nil }
    if twin == nil { twin = ListTwin() }
    twin?.list = list
    if twin?.members == nil { return }
    for object in removed { twin?.members?.remove(ObjectIdentifier(object)) }
    for object in added { twin?.members?.insert(ObjectIdentifier(object)) }
  }
}
