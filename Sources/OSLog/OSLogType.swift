#if !canImport(Darwin)
  /// The severity of a message.
  public struct OSLogType: RawRepresentable, Hashable, Sendable {
    /// The level's number, as on Apple's systems.
    public var rawValue: UInt8

    /// The level of a number.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The level of a number.
    public init(_ rawValue: UInt8) { self.rawValue = rawValue }

    /// Useful during development.
    public static let debug = OSLogType(2)
    /// Helpful, but not essential for troubleshooting.
    public static let info = OSLogType(1)
    /// Essential for troubleshooting.
    public static let `default` = OSLogType(0)
    /// An error occurred in the process.
    public static let error = OSLogType(16)
    /// Something happened that should never happen.
    public static let fault = OSLogType(17)

    /// Levels in the order of their severity, which their numbers are not.
    var weight: Int {
      switch self {
      case .debug: 0
      case .info: 1
      case .error: 3
      case .fault: 4
      default: 2
      }
    }

    var name: String {
      switch self {
      case .debug: "Debug"
      case .info: "Info"
      case .error: "Error"
      case .fault: "Fault"
      default: "Notice"
      }
    }
  }
#endif
