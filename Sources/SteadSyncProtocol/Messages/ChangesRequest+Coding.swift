extension ChangesRequest: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(message: syncValue, "request")
    self.init(
      client: try reader.identifier("client"), cursor: try reader.codedIfPresent("cursor"),
      limit: Int(try reader.count("limit")), acknowledged: try reader.count("acknowledged"),
      marks: try reader.codedIfPresent("marks") ?? [],
      round: reader.value("round") == nil ? 0 : try reader.count("round"))
  }

  package var syncValue: SyncValue {
    .message([
      "client": .identifier(client), "cursor": cursor?.syncValue, "limit": .int(Int64(limit)),
      "acknowledged": .int(acknowledged), "marks": marks.isEmpty ? nil : marks.syncValue,
      "round": round == 0 ? nil : .int(round),
    ])
  }

  /// The request as items of a URL's query. Only the client's value needs percent-encoding.
  package var queryItems: [(name: String, value: String)] {
    var items = [("client", client.text)]
    if let cursor { items.append(("cursor", cursor.description)) }
    items += [("limit", String(limit)), ("acknowledged", String(acknowledged))]
    if !marks.isEmpty {
      items.append(("marks", marks.map(\.description).joined(separator: ",")))
    }
    return items
  }

  /// Reads the items of a URL's query, decoded. Throws ``SyncCodingError``.
  package init(query: [String: String]) throws(SyncCodingError) {
    func problem(_ name: String) -> SyncCodingError {
      SyncCodingError(.unexpected, "The item \(name) of the query isn't what it should be.")
    }
    guard let client = query["client"].flatMap({ ClientID($0) }) else { throw problem("client") }
    var cursor: Cursor?
    if let text = query["cursor"] {
      cursor = Cursor(text)
      if cursor == nil { throw problem("cursor") }
    }
    var numbers = ["limit": Int64(ChangesRequest.usualLimit), "acknowledged": 0]
    for name in numbers.keys.sorted() {
      guard let text = query[name] else { continue }
      guard let number = Int64(decimal: text) else { throw problem(name) }
      numbers[name] = number
    }
    let words = (query["marks"] ?? "").split(separator: ",")
    let marks = words.compactMap { Mark(String($0)) }
    guard marks.count == words.count else { throw problem("marks") }
    self.init(
      client: client, cursor: cursor, limit: Int(numbers["limit"] ?? 0),
      acknowledged: numbers["acknowledged"] ?? 0, marks: marks)
  }

  /// The number of records in a page if the client's request gives none.
  package static let usualLimit = 400
}
