public import Foundation
public import SteadRecords

/// The bytes that a property of a record holds.
///
/// ```swift
/// { RecordFile($0.data, extension: "jpg", of: $0.identifier) }
/// ```
///
/// A transfer's source reads it (`TransferSource.data(of:in:)`). Bytes that lie in a file of their own are mapped,
/// so that they take memory when they are looked at.
public struct RecordData: Sendable {
  /// The record.
  public let identifier: PersistentIdentifier
  /// The bytes.
  public let data: Data
}
