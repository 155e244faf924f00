public import Foundation
public import SteadRecords

/// Bytes that become a file, and the record that gets its path.
public struct RecordFile<Model: PersistentModel> {
  enum Record {
    case stored(PersistentIdentifier)
    case new(Model)
  }

  let data: Data
  let pathExtension: String
  let record: Record

  /// A file of a record that exists.
  ///
  /// - Parameters:
  ///   - data: The file's contents.
  ///   - pathExtension: The file's extension, without the dot.
  ///   - identifier: The record that gets the path.
  public init(
    _ data: Data, extension pathExtension: String = "", of identifier: PersistentIdentifier
  ) {
    self.data = data
    self.pathExtension = pathExtension
    record = .stored(identifier)
  }

  /// A file of a new object, of no context, which is saved with the path.
  ///
  /// - Parameters:
  ///   - data: The file's contents.
  ///   - pathExtension: The file's extension, without the dot.
  ///   - model: The object that gets the path.
  public init(_ data: Data, extension pathExtension: String = "", of model: Model) {
    self.data = data
    self.pathExtension = pathExtension
    record = .new(model)
  }
}
