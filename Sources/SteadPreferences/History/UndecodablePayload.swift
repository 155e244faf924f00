import Foundation

/// An entry of a history that this program cannot read; it is kept unchanged.
///
/// ``PayloadHistory/undecodable`` lists them. None is ever overwritten or dropped for the limit;
/// ``PayloadHistory/discardUndecodable(_:)`` removes selected ones.
public struct UndecodablePayload: Sendable {
  /// Why an entry cannot be read, for comparison.
  public struct Reason: Hashable, Sendable, CustomStringConvertible {
    private enum Name { case doesNotDecode, upgradeFailed, newerVersion, unreadable, notAnEntry }
    private let name: Name
    private init(_ name: Name) { self.name = name }

    /// The reason's name, for logs and metrics.
    public var description: String { "\(name)" }

    /// The bytes are not a payload's: a field is missing or has another type, or they aren't JSON.
    public static let doesNotDecode = Reason(.doesNotDecode)
    /// A ``PayloadUpgrade`` threw an error.
    public static let upgradeFailed = Reason(.upgradeFailed)
    /// A newer version of the program wrote it, with fields that this one does not know.
    public static let newerVersion = Reason(.newerVersion)
    /// The file of a large payload is missing, damaged, or may not be read.
    public static let unreadable = Reason(.unreadable)
    /// Another program has written to the history's domain.
    public static let notAnEntry = Reason(.notAnEntry)
  }

  /// The entry's position among all entries, including those that decode; the newest has 0.
  public let index: Int
  /// The version of the payload's fields with which it was written.
  public let version: Int
  /// The stored value: JSON in nearly all cases, and for ``Reason/notAnEntry`` a property list. Empty for
  /// ``Reason/unreadable``.
  public let bytes: Data
  /// Why it cannot be read, for comparison.
  public let reason: Reason
  /// Why it cannot be read, in a sentence for a person; it names fields and contains no value.
  public let message: String
  /// The underlying error, if any. Its descriptions may contain values.
  public let cause: (any Error)?
  /// Identifies the entry in the history.
  let sequence: UInt64
  let stored: StoredEntry
}
