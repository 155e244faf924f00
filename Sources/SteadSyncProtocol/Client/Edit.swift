/// A program's change to a record.
package enum Edit: Hashable, Sendable {
  /// Makes a record. Where one with this identity lives, its fields are edited.
  case insert(id: RecordID, type: String, fields: [String: SyncValue])
  /// Edits fields of a live record.
  case update(id: RecordID, fields: [String: SyncValue])
  /// Deletes a live record, applying its delete rules.
  case delete(id: RecordID)
}

/// The result of a local commit.
package enum CommitAnswer: Hashable, Sendable {
  /// It is in the outbox, under this number.
  case committed(number: Int64)
  /// Nothing was changed: an edited record does not exist.
  case unknown(RecordID)
  /// Nothing was changed: a rule forbids it.
  case refused(Refusal.Reason)
  /// Nothing was changed: a transaction of this size could never be sent.
  case tooLarge
}
