#if !canImport(Darwin)
  /// Writes messages to standard error, one line each.
  ///
  /// ```swift
  /// let logger = Logger(subsystem: "com.example.notes", category: "sync")
  /// logger.notice("sent \(count) notes of \(user, privacy: .private(mask: .hash))")
  /// // 2026-03-01T12:00:00.000000Z notes[4711] Notice [com.example.notes:sync] sent 3 notes of <mask…>
  /// ```
  ///
  /// Strings in a message are hidden unless they are public; numbers and booleans are shown. Set
  /// `STEAD_LOG_PRIVATE_DATA=1` in the environment to show private values, and `STEAD_LOG_LEVEL` to `debug`,
  /// `info`, `notice`, `error`, `fault` or `off` for the lowest level that is written: `notice` by default.
  /// Both are read once, at the first message.
  ///
  /// A line is written with one system call and cut at 4,096 bytes, so that lines of several processes do not
  /// interleave; line breaks and control characters in it are escaped. A written message costs some 10
  /// microseconds, a suppressed one a comparison: its values are not even evaluated.
  public struct Logger: Sendable {
    private let log: OSLog

    /// A logger without a subsystem.
    public init() { log = .default }

    /// A logger for a category within a subsystem.
    public init(subsystem: String, category: String) {
      log = OSLog(subsystem: subsystem, category: category)
    }

    /// A logger for the subsystem and category of an `OSLog`.
    public init(_ logObj: OSLog) { log = logObj }

    /// Logs a message at the level `notice`.
    public func log(_ message: @autoclosure () -> OSLogMessage) { log.write(.default, message) }

    /// Logs a message at a level.
    public func log(level: OSLogType, _ message: @autoclosure () -> OSLogMessage) {
      log.write(level, message)
    }

    /// Logs a message at the level `debug`.
    public func trace(_ message: @autoclosure () -> OSLogMessage) { log.write(.debug, message) }

    /// Logs a message that is useful during development.
    public func debug(_ message: @autoclosure () -> OSLogMessage) { log.write(.debug, message) }

    /// Logs a message that is helpful but not essential for troubleshooting.
    public func info(_ message: @autoclosure () -> OSLogMessage) { log.write(.info, message) }

    /// Logs a message that is essential for troubleshooting.
    public func notice(_ message: @autoclosure () -> OSLogMessage) { log.write(.default, message) }

    /// Logs a message at the level `error`.
    public func warning(_ message: @autoclosure () -> OSLogMessage) { log.write(.error, message) }

    /// Logs that an error occurred in the process.
    public func error(_ message: @autoclosure () -> OSLogMessage) { log.write(.error, message) }

    /// Logs a message at the level `fault`.
    public func critical(_ message: @autoclosure () -> OSLogMessage) { log.write(.fault, message) }

    /// Logs that something happened that should never happen.
    public func fault(_ message: @autoclosure () -> OSLogMessage) { log.write(.fault, message) }
  }
#endif
