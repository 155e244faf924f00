import SteadFormats

/// A key's new value; nil removes the key.
package struct DomainEdit: Sendable, Hashable {
  package var key: String
  package var value: PropertyList?

  package init(key: String, value: PropertyList?) {
    self.key = key
    self.value = value
  }
}

extension DomainTable {
  /// The edits that turn the contents into `fields`.
  func edits(to fields: PropertyList.Fields) -> [DomainEdit] {
    let gone = self.fields().filter { fields[$0.key] == nil }
    let new = fields.filter { self[$0.key] != $0.value }
    return gone.map { DomainEdit(key: $0.key, value: nil) }
      + new.map { DomainEdit(key: $0.key, value: $0.value) }
  }
}
