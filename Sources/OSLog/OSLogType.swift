#if !canImport(Darwin)
  /// How much a message matters.
  public struct OSLogType: RawRepresentable, Hashable, Sendable {
    /// The level's number, as on Apple's systems.
    public var rawValue: UInt8

    /// The level of a number.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The level of a number.
    public init(_ rawValue: UInt8) { self.rawValue = rawValue }

    /// Of use while programming.
    public static let debug = OSLogType(2)
    /// Helpful, and not needed to find out what went wrong.
    public static let info = OSLogType(1)
    /// Needed to find out what went wrong.
    public static let `default` = OSLogType(0)
    /// Something went wrong in the process.
    public static let error = OSLogType(16)
    /// Something went wrong that must not happen at all.
    public static let fault = OSLogType(17)

    /// Levels in the order of their weight, which their numbers are not.
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
