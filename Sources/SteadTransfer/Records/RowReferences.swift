import SteadRecords

/// The rows that a placement names, `Draft/12`, or `Draft/12+Tag/3` where others came along.
struct RowReferences {
  typealias Reference = (entity: String, number: Int64)

  let references: [Reference]

  init(_ references: [Reference]) { self.references = references }

  init?(_ text: String) {
    references = text.split(separator: "+").compactMap { part in
      StoredRow.Key(part).map { ($0.root, $0.number) }
    }
    guard !references.isEmpty, self.text == text else { return nil }
  }

  var text: String { references.map { "\($0.entity)/\($0.number)" }.joined(separator: "+") }

  /// What the rows hold now; nil when one is gone.
  ///
  /// - Parameter checksFiles: Whether a row whose external file is gone or damaged counts as gone.
  func digest(in rows: RowTransaction, checksFiles: Bool) throws -> String? {
    var digests: [String] = []
    for reference in references {
      guard let shape = rows.rows.shapes[reference.entity],
        let content = try rows.content(of: shape, reference.number)
      else { return nil }
      if checksFiles, !content.hasReadableFiles(rows) { return nil }
      digests.append(content.digest)
    }
    return Self.joined(digests)
  }

  static func joined(_ digests: [String]) -> String {
    if digests.count == 1 { return digests[0] }
    var digest = RowDigest()
    for text in digests { digest.add(text: text) }
    return digest.text
  }
}

extension RowContent {
  /// The digest of the row's columns and pairs.
  var digest: String {
    var digest = RowDigest()
    for (column, value) in zip(shape.columns, values) { digest.add(column, value) }
    for (relationship, pairs) in zip(shape.ownedPairs, pairs) where !pairs.isEmpty {
      digest.add(relationship.name, .integer(Int64(pairs.count)))
      for pair in pairs {
        digest.add(.integer(pair.target))
        digest.add(pair.ownerOrder.map { .integer($0) } ?? .null)
        digest.add(pair.targetOrder.map { .integer($0) } ?? .null)
      }
    }
    return digest.text
  }

  fileprivate func hasReadableFiles(_ rows: RowTransaction) -> Bool {
    zip(shape.columns, values).allSatisfy { column, value in
      guard shape.attributes.contains(where: { $0.isExternal && $0.name == column }) else {
        return true
      }
      return (try? rows.bytes(ofExternal: value)) != nil
    }
  }
}
