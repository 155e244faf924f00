/// A server's answer to a request for changes.
package enum ChangesAnswer: Hashable, Sendable {
  case page(Page)
  /// Changes that the client lacks have been purged: it must fetch from the start.
  case expired
  /// The server has forgotten something that the client has seen, after the common mark. Without a mark, the client
  /// should ask again with its marks.
  case rollback(common: Mark?)
}

extension ChangesAnswer: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(message: syncValue, "answer")
    switch try reader.string("answer") {
    case "page": self = .page(try Page(reader))
    case "expired": self = .expired
    case "rollback": self = .rollback(common: try reader.codedIfPresent("common"))
    default: throw reader.problem("answer", "an answer that is known")
    }
  }

  package var syncValue: SyncValue {
    switch self {
    case .page(let page): page.syncValue
    case .expired: .message(["answer": "expired"])
    case .rollback(let common):
      .message(["answer": "rollback", "common": common?.syncValue])
    }
  }

  /// The bytes of ``syncValue``, which isn't made for a page. Costs time in proportion to its size.
  package func encoded() -> [UInt8] {
    guard case .page(let page) = self else { return JSONWriter.bytes(syncValue) }
    var writer = JSONWriter()
    page.write(to: &writer)
    return writer.bytes
  }

  /// The status of the answer in HTTP.
  package var status: Int {
    if case .page = self { 200 } else { 410 }
  }
}
