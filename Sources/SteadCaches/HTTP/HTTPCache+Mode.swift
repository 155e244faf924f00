extension HTTPCache {
  /// How one request uses the cache, besides what its fields demand.
  public struct Mode: Hashable, Sendable, CustomStringConvertible {
    private enum Name { case standard, reload, revalidate, preferStored, onlyStored, bypass }
    private let name: Name
    private init(_ name: Name) { self.name = name }

    /// The mode's name, for logs and metrics.
    public var description: String { "\(name)" }

    /// As RFC 9111 defines.
    public static let standard = Mode(.standard)
    /// No stored response is used. The new response is stored.
    public static let reload = Mode(.reload)
    /// The server is asked whether the stored response is still valid, even if it is fresh.
    public static let revalidate = Mode(.revalidate)
    /// A stored response is used however old it is; the server is only asked if there is none.
    public static let preferStored = Mode(.preferStored)
    /// A stored response is used however old it is; an error is thrown if there is none, and for a request that no
    /// stored response may answer, such as a POST.
    public static let onlyStored = Mode(.onlyStored)
    /// No stored response is used, and nothing is stored.
    public static let bypass = Mode(.bypass)
  }
}
