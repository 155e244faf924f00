package import SteadSyncProtocol

/// An edit of this device that another device overruled, with both values.
public struct SyncConflict: Hashable, Sendable {
  /// What happened to the edit.
  public enum Kind: Hashable, Sendable {
    /// Another device has set the field later.
    case overwritten
    /// Another device deleted the object.
    case deleted
    /// The object was merged into another one with the same unique values, whose identity in the zone this is.
    case merged(String?)
    /// A rule of the models forbids it, or its record is larger than the server takes, and it was undone.
    case denied
  }

  /// A value of a field on the wire, as in JSON. Dates, data and references are numbers or strings.
  public indirect enum Value: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case array([Value])
    case object([String: Value])

    /// The string, if it is one.
    public var string: String? { if case .string(let text) = self { text } else { nil } }
  }

  public let kind: Kind
  package let id: RecordID
  /// The name of the object's model.
  public let type: String?
  /// The name of the field on the wire.
  public let field: String?
  package let sent: SyncValue?
  package let present: SyncValue?

  package init(
    kind: Kind, id: RecordID, type: String?, field: String?, sent: SyncValue?, present: SyncValue?
  ) {
    self.kind = kind
    self.id = id
    self.type = type
    self.field = field
    self.sent = sent
    self.present = present
  }

  /// The object's identity in the zone.
  public var record: String { id.text }
  /// The value that this device set.
  public var mine: Value? { sent.map(Value.init) }
  /// The present value; nil if the object no longer exists.
  public var theirs: Value? { present.map(Value.init) }

  /// The edit that sets the field to this device's value again; nil if the field no longer exists.
  var undoing: Edit? {
    guard kind == .overwritten, let field, let sent else { return nil }
    return .update(id: id, fields: [field: sent])
  }
}

extension SyncConflict.Value {
  fileprivate init(_ value: SyncValue) {
    self =
      switch value {
      case .null: .null
      case .bool(let flag): .bool(flag)
      case .int(let number): .integer(number)
      case .double(let number): .real(number)
      case .string(let text): .string(text)
      case .array(let values): .array(values.map(Self.init))
      case .object(let members): .object(members.mapValues(Self.init))
      }
  }
}
