import SteadRecords

/// The rows that a placement names, `Draft/12`, or `Draft/12+Tag/3` where others came along.
struct RowPlaces {
  typealias Place = (entity: String, number: Int64)

  let places: [Place]

  init(_ places: [Place]) { self.places = places }

  init?(_ text: String) {
    places = text.split(separator: "+").compactMap { part in
      StoredRow.Key(part).map { ($0.root, $0.number) }
    }
    guard !places.isEmpty, self.text == text else { return nil }
  }

  var text: String { places.map { "\($0.entity)/\($0.number)" }.joined(separator: "+") }

  /// What the rows hold now; nil when one is gone.
  ///
  /// - Parameter checksFiles: Whether a row whose external file is gone or damaged counts as gone.
  func digest(in rows: RowTransaction, checksFiles: Bool) throws -> String? {
    var digests: [String] = []
    for place in places {
      guard let shape = rows.rows.shapes[place.entity],
        let values = try rows.values(of: shape, place.number)
      else { return nil }
      if checksFiles, !shape.hasReadableFiles(values, rows) { return nil }
      let pairs = try shape.pairs(of: place.number, in: rows)
      digests.append(shape.digest(values, pairs))
    }
    return Self.joined(digests)
  }

  static func joined(_ digests: [String]) -> String {
    if digests.count == 1 { return digests[0] }
    var digest = RowDigest()
    for text in digests { digest.add(text: text) }
    return digest.hexadecimal
  }
}

extension RowShape {
  /// The pairs of a row, relationship by relationship: target, and the places from both sides.
  func pairs(of number: Int64, in rows: RowTransaction) throws -> [[[SQLValue]]] {
    try ownedPairs.map { try rows.select($0.selection, [.integer(number)]) }
  }

  /// The digest of a row's columns and pairs.
  func digest(_ values: [SQLValue], _ pairs: [[[SQLValue]]]) -> String {
    var digest = RowDigest()
    for (column, value) in zip(columns, values) { digest.add(column, value) }
    for (relationship, pairs) in zip(ownedPairs, pairs) where !pairs.isEmpty {
      digest.add(relationship.name, .integer(Int64(pairs.count)))
      for value in pairs.joined() { digest.add(value) }
    }
    return digest.hexadecimal
  }

  func hasReadableFiles(_ values: [SQLValue], _ rows: RowTransaction) -> Bool {
    attributes.allSatisfy { attribute in
      guard attribute.isExternal, let place = columns.firstIndex(of: attribute.name) else {
        return true
      }
      return (try? rows.bytes(ofExternal: values[place])) != nil
    }
  }
}
