import SteadEncoding

/// The identity of a link, the record of a many-to-many relationship between two records.
///
/// Both sides make the same one, so that two devices that link the same records make one link. To-many relationships
/// are derived from the references of the other side and are never sent.
package enum LinkID {
  /// `link-` and the first 32 digits of the SHA-256 of `relation`, a line feed, `first`, a line feed, `second`.
  package static func make(relation: String, first: RecordID, second: RecordID) -> RecordID {
    let text = "\(relation)\n\(first.text)\n\(second.text)"
    return RecordID(trusted: "link-" + SHA256.hexadecimal(text.utf8).prefix(32))
  }

  /// The rules of a link's type, whose two references have these wire names: they cascade, and a pair is unique. So
  /// deleting either record deletes the link, and links of merged records become one.
  package static func rules(first: String, second: String) -> EntityRules {
    EntityRules(
      fields: [first: .reference(.cascade), second: .reference(.cascade)],
      unique: [UniqueRule("pair", fields: [first, second])])
  }
}
