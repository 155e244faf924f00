import Foundation

/// The time in milliseconds since 1970, which tests set.
public struct ServerClock: Sendable {
  private let read: @Sendable () -> Int64

  public init(_ read: @escaping @Sendable () -> Int64) { self.read = read }

  /// The system's clock.
  public static let system = ServerClock { Int64(Date().timeIntervalSince1970 * 1000) }

  /// Milliseconds since 1970.
  public var now: Int64 { read() }
}
