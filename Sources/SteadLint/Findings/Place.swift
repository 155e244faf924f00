/// A range of a file.
public struct Place: Codable, Hashable, Sendable {
  /// The file's path, relative to the folder that was checked.
  public let path: String
  /// The first line is 1.
  public let line: Int
  /// In bytes of UTF-8, as compilers count; the first is 1.
  public let column: Int
  /// How many bytes it has in its first line; at least 1.
  public let width: Int
  /// The first line's content.
  public let sourceLine: String
  /// Whether it's in a preview, which runs while an app is developed and never for its users.
  let isInPreview: Bool

  /// The first byte, counted from the file's beginning.
  let offset: Int
  let length: Int

  func prefixed(with prefix: String) -> Place {
    Place(
      path: prefix + path, line: line, column: column, width: width, sourceLine: sourceLine,
      isInPreview: isInPreview, offset: offset, length: length)
  }

  /// The order of a report: by path, line, column.
  func precedes(_ other: Place) -> Bool {
    if path != other.path { return path < other.path }
    return offset < other.offset
  }
}
