import Foundation

/// An entry of a history that this program cannot read; it is kept as it is.
///
/// ``PayloadHistory/undecodable`` lists them. None is ever overwritten, and none is dropped for the
/// limit; ``PayloadHistory/discardUndecodable(_:)`` removes those that it is given.
public struct UndecodablePayload: Sendable {
  /// Why an entry cannot be read, to compare with.
  public struct Reason: Hashable, Sendable {
    private enum Name { case doesNotDecode, upgradeFailed, newerVersion, unreadable, notAnEntry }
    private let name: Name
    private init(_ name: Name) { self.name = name }

    /// The bytes are not those of a payload: a field is missing or of another type, or they are no JSON.
    public static let doesNotDecode = Reason(.doesNotDecode)
    /// A ``PayloadUpgrade`` threw an error.
    public static let upgradeFailed = Reason(.upgradeFailed)
    /// A newer version of the program wrote it, with fields that this one does not know.
    public static let newerVersion = Reason(.newerVersion)
    /// The file that a large payload was moved to is missing, damaged, or may not be read.
    public static let unreadable = Reason(.unreadable)
    /// Somebody else has put something into the history's domain.
    public static let notAnEntry = Reason(.notAnEntry)
  }

  /// The entry's place among all entries, those that decode included; the newest has 0.
  public let index: Int
  /// The version of the payload's fields that it was written with.
  public let version: Int
  /// What is stored: JSON in nearly all cases, and for ``Reason/notAnEntry`` a property list. Empty when
  /// it is ``Reason/unreadable``.
  public let bytes: Data
  /// Why it cannot be read, to compare with.
  public let reason: Reason
  /// Why it cannot be read, in a sentence for a person; it names fields and holds no value.
  public let message: String
  /// The error underneath, where there was one. Its texts may hold values.
  public let cause: (any Error)?
  /// What it is found by again.
  let sequence: UInt64
  let stored: StoredEntry
}
