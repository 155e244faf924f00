#if !canImport(Darwin)
  /// Writes messages to standard error, one line each.
  ///
  /// ```swift
  /// let logger = Logger(subsystem: "com.example.notes", category: "sync")
  /// logger.notice("sent \(count) notes of \(user, privacy: .private(mask: .hash))")
  /// // 2026-03-01T12:00:00.000000Z notes[4711] Notice [com.example.notes:sync] sent 3 notes of <mask…>
  /// ```
  ///
  /// Text in a message is hidden unless it is made public; numbers and truth values are shown. Set
  /// `STEAD_LOG_PRIVATE_DATA=1` in the environment to see what is private, and `STEAD_LOG_LEVEL` to
  /// `debug`, `info`, `notice`, `error`, `fault` or `off` for what is written at all: `notice` and
  /// above to begin with. Both are read once, at the first message.
  ///
  /// A line is written with one system call and cut at 4,096 bytes, so that lines of several processes
  /// do not mix; line breaks and control characters in it are escaped. A message that is written costs
  /// some 10 microseconds, one that is not a comparison: its values are not even worked out.
  public struct Logger: Sendable {
    private let log: OSLog

    /// A logger without a subsystem.
    public init() { log = .default }

    /// A logger for a category within a subsystem.
    public init(subsystem: String, category: String) {
      log = OSLog(subsystem: subsystem, category: category)
    }

    /// A logger for messages from where an `OSLog` says.
    public init(_ logObj: OSLog) { log = logObj }

    /// Logs a message at the level `notice`.
    public func log(_ message: @autoclosure () -> OSLogMessage) { log.write(.default, message) }

    /// Logs a message at a level.
    public func log(level: OSLogType, _ message: @autoclosure () -> OSLogMessage) {
      log.write(level, message)
    }

    /// Logs a message at the level `debug`.
    public func trace(_ message: @autoclosure () -> OSLogMessage) { log.write(.debug, message) }

    /// Logs a message of use while programming.
    public func debug(_ message: @autoclosure () -> OSLogMessage) { log.write(.debug, message) }

    /// Logs a message that helps, and is not needed to find out what went wrong.
    public func info(_ message: @autoclosure () -> OSLogMessage) { log.write(.info, message) }

    /// Logs a message that is needed to find out what went wrong.
    public func notice(_ message: @autoclosure () -> OSLogMessage) { log.write(.default, message) }

    /// Logs a message at the level `error`.
    public func warning(_ message: @autoclosure () -> OSLogMessage) { log.write(.error, message) }

    /// Logs that something went wrong in the process.
    public func error(_ message: @autoclosure () -> OSLogMessage) { log.write(.error, message) }

    /// Logs a message at the level `fault`.
    public func critical(_ message: @autoclosure () -> OSLogMessage) { log.write(.fault, message) }

    /// Logs that something happened that must not.
    public func fault(_ message: @autoclosure () -> OSLogMessage) { log.write(.fault, message) }
  }
#endif
