public import SteadSyncProtocol

/// An edit of this device that others did not let stand, with both sides.
public struct SyncConflict: Hashable, Sendable {
  /// What became of the edit.
  public enum Kind: Hashable, Sendable {
    /// A later edit of another device has the field.
    case overwritten
    /// Another device deleted the object.
    case deleted
    /// The object became one with another that has the same unique values.
    case merged(RecordID?)
    /// A rule of the models did not let it happen; it was taken back.
    case denied
  }

  public let kind: Kind
  /// The object's identity in the zone.
  public let record: RecordID
  /// The name of the object's model.
  public let type: String?
  /// The name of the field on the wire.
  public let field: String?
  /// The value that this device gave it.
  public let mine: SyncValue?
  /// The value that it has; nil where the object is gone.
  public let theirs: SyncValue?

  /// The edit that gives the field this device's value again; nil where there is no such field any more.
  var undoing: Edit? {
    guard kind == .overwritten, let field, let mine else { return nil }
    return .update(id: record, fields: [field: mine])
  }
}
