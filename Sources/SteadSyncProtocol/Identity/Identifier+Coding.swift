// Identifiers are strings.
extension MemberReader {
  func identifier<Subject>(_ name: String) throws(SyncCodingError) -> Identifier<Subject> {
    guard let id = Identifier<Subject>(try string(name)) else {
      throw problem(name, "an identifier")
    }
    return id
  }

  /// Identifiers; none where the member is absent.
  func identifiers<Subject>(_ name: String) throws(SyncCodingError) -> [Identifier<Subject>] {
    guard let value = value(name) else { return [] }
    guard let values = value.array else { throw problem(name, "an array") }
    var ids: [Identifier<Subject>] = []
    for value in values {
      guard let id = value.string.flatMap({ Identifier<Subject>($0) }) else {
        throw problem(name, "a list of identifiers")
      }
      ids.append(id)
    }
    return ids
  }
}

extension SyncValue {
  /// Identifiers as strings; nil for none.
  static func identifiers<Subject>(_ ids: [Identifier<Subject>]) -> SyncValue? {
    ids.isEmpty ? nil : .array(ids.map { .string($0.text) })
  }

  /// An identifier as a string.
  static func identifier<Subject>(_ id: Identifier<Subject>?) -> SyncValue? {
    id.map { .string($0.text) }
  }
}
