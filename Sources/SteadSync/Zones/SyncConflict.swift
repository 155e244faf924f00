public import SteadSyncProtocol

/// An edit of this device that another device overruled, with both values.
public struct SyncConflict: Hashable, Sendable {
  /// What happened to the edit.
  public enum Kind: Hashable, Sendable {
    /// Another device has set the field later.
    case overwritten
    /// Another device deleted the object.
    case deleted
    /// The object was merged into another one with the same unique values.
    case merged(RecordID?)
    /// A rule of the models forbids it, or its record is larger than the server takes, and it was undone.
    case denied
  }

  public let kind: Kind
  /// The object's identity in the zone.
  public let record: RecordID
  /// The name of the object's model.
  public let type: String?
  /// The name of the field on the wire.
  public let field: String?
  /// The value that this device set.
  public let mine: SyncValue?
  /// The present value; nil if the object no longer exists.
  public let theirs: SyncValue?

  /// The edit that sets the field to this device's value again; nil if the field no longer exists.
  var undoing: Edit? {
    guard kind == .overwritten, let field, let mine else { return nil }
    return .update(id: record, fields: [field: mine])
  }
}
