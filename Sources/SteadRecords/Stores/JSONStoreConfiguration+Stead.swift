public import Foundation

/// Describes a store that keeps its objects in a JSON file.
///
/// ```swift
/// let container = try ModelContainer(
///   for: Trip.self, configurations: JSONStoreConfiguration(url: url))
/// ```
public struct JSONStoreConfiguration: DataStoreConfiguration, Sendable {
  public typealias Store = JSONStore

  public let name: String
  public var schema: Schema?
  /// The file, in an existing directory.
  public let url: URL

  public init(_ name: String? = nil, schema: Schema? = nil, url: URL) {
    self.name = name ?? url.deletingPathExtension().lastPathComponent
    self.schema = schema
    self.url = url
  }
}
