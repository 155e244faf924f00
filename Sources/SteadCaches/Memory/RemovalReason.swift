/// Why a value left a memory cache.
///
/// Later versions may add reasons, so a `switch` needs a `default`.
public struct RemovalReason: Hashable, Sendable, CustomStringConvertible {
  private enum Name { case replaced, removed, expired, evicted, pressure }

  private let name: Name
  private init(_ name: Name) { self.name = name }

  /// Another value was set for its key.
  public static let replaced = RemovalReason(.replaced)
  /// The program removed it, or all values.
  public static let removed = RemovalReason(.removed)
  /// Its time to live was over.
  public static let expired = RemovalReason(.expired)
  /// A limit had no room for it.
  public static let evicted = RemovalReason(.evicted)
  /// The system was short of memory.
  public static let pressure = RemovalReason(.pressure)

  /// The reason's name, for logs and metrics.
  public var description: String { "\(name)" }
}
