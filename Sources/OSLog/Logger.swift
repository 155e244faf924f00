#if !canImport(Darwin)
  // As on Apple's systems, where importing OSLog also imports Foundation.
  @_exported public import Foundation

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
  ///
  /// It may be used on any thread and copied freely. A failed write is dropped: logging throws
  /// nothing and waits for nothing but the write itself.
  public struct Logger: Sendable {
    /// Where the messages come from.
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

    /// Logs a message at a level that is decided at run time. An unknown level counts as `notice`.
    public func log(level: OSLogType, _ message: @autoclosure () -> OSLogMessage) {
      log.write(level, message)
    }

    /// Logs a message at the level `debug`: as on Apple's systems, a trace has no level of its own.
    public func trace(_ message: @autoclosure () -> OSLogMessage) { log.write(.debug, message) }

    /// Logs a message that is useful during development. Hidden unless `STEAD_LOG_LEVEL` is
    /// `debug`.
    public func debug(_ message: @autoclosure () -> OSLogMessage) { log.write(.debug, message) }

    /// Logs a message that is helpful but not essential for troubleshooting. Hidden unless
    /// `STEAD_LOG_LEVEL` is `info` or `debug`.
    public func info(_ message: @autoclosure () -> OSLogMessage) { log.write(.info, message) }

    /// Logs a message that is essential for troubleshooting. It is the lowest level that is written
    /// by default.
    public func notice(_ message: @autoclosure () -> OSLogMessage) { log.write(.default, message) }

    /// Logs a message at the level `error`: as on Apple's systems, a warning has no level of its
    /// own.
    public func warning(_ message: @autoclosure () -> OSLogMessage) { log.write(.error, message) }

    /// Logs that an error occurred in the process.
    public func error(_ message: @autoclosure () -> OSLogMessage) { log.write(.error, message) }

    /// Logs a message at the level `fault`.
    public func critical(_ message: @autoclosure () -> OSLogMessage) { log.write(.fault, message) }

    /// Logs that something happened that should never happen.
    public func fault(_ message: @autoclosure () -> OSLogMessage) { log.write(.fault, message) }
  }

  // As on Apple's systems, where importing OSLog also imports Foundation.

  /// The origin of messages: a subsystem and a category in it.
  ///
  /// Use ``Logger``; this class is for code that passes one to ``Logger/init(_:)`` or `os_log`.
  public final class OSLog: Sendable {
    /// A reversed domain, such as `com.example.notes`; empty for none.
    let subsystem: String
    /// A part of the subsystem, such as `sync`; empty for none.
    let category: String
    /// Whether no message is ever written, whatever the settings are.
    let isDisabled: Bool

    private init(subsystem: String, category: String, isDisabled: Bool) {
      self.subsystem = subsystem
      self.category = category
      self.isDisabled = isDisabled
    }

    /// Messages of a category within a subsystem, such as `com.example.notes` and `sync`.
    public convenience init(subsystem: String, category: String) {
      self.init(subsystem: subsystem, category: category, isDisabled: false)
    }

    /// Messages without a subsystem.
    public static let `default` = OSLog(subsystem: "", category: "")
    /// Messages that are never written.
    public static let disabled = OSLog(subsystem: "", category: "", isDisabled: true)

    /// Whether messages of a level are written.
    ///
    /// The values in a message need no such check, since they are evaluated only if it is written. It
    /// saves what is computed before the call:
    ///
    /// ```swift
    /// if log.isEnabled(type: .debug) {
    ///   let summary = graph.summary()
    ///   logger.debug("\(summary.nodeCount) nodes, \(summary.edgeCount) edges")
    /// }
    /// ```
    public func isEnabled(type: OSLogType) -> Bool {
      !isDisabled && type.weight >= LogSettings.current.leastWeight
    }

    /// Writes a message if its level is enabled. Costs the evaluation of its values, formatting and
    /// one system call.
    func write(_ type: OSLogType, _ message: () -> OSLogMessage) {
      // Before the message is evaluated: a suppressed one costs a comparison.
      guard isEnabled(type: type) else { return }
      let text = message().text(showingPrivateData: LogSettings.current.showsPrivateData)
      var now = timespec()
      // The wall clock, since lines of several processes and machines are put in order by it.
      clock_gettime(CLOCK_REALTIME, &now)
      LogLine(text, level: type, subsystem: subsystem, category: category, at: now).write()
    }
  }

  /// Logs a message, for code that does not use ``Logger``.
  ///
  /// The form with a format string and arguments requires the Objective-C runtime and is unavailable.
  public func os_log(
    _ message: @autoclosure () -> OSLogMessage, log: OSLog = .default, type: OSLogType = .default
  ) {
    log.write(type, message)
  }

  /// Logs a message at a level, for code that does not use ``Logger``.
  public func os_log(
    _ type: OSLogType, log: OSLog = .default, _ message: @autoclosure () -> OSLogMessage
  ) {
    log.write(type, message)
  }

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

    /// The severity as a number that can be compared. The raw values can't: Apple's `default` is 0, below `debug`.
    var weight: Int {
      switch self {
      case .debug: 0
      case .info: 1
      case .error: 3
      case .fault: 4
      default: 2
      }
    }

    /// The level as it is in a line. An unknown one is a notice, as its weight says.
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

  /// The logging settings in the environment, read once, at the first message.
  ///
  /// | variable | values | without it |
  /// | --- | --- | --- |
  /// | `STEAD_LOG_LEVEL` | `debug`, `info`, `notice`, `error`, `fault`, `off` | `notice` |
  /// | `STEAD_LOG_PRIVATE_DATA` | `1` shows private values, though not sensitive ones | hidden |
  struct LogSettings: Sendable {
    /// The settings of this process. A later change of the environment has no effect.
    static let current = LogSettings(ProcessInfo.processInfo.environment)

    /// The lowest severity that is written.
    let leastWeight: Int
    /// Whether private values are written. Sensitive ones never are.
    let showsPrivateData: Bool

    /// Reads the settings from variables.
    init(_ environment: [String: String]) {
      let weights = ["debug": 0, "info": 1, "notice": 2, "default": 2, "error": 3, "fault": 4]
      let level = environment["STEAD_LOG_LEVEL"]?.lowercased() ?? "notice"
      // A level that nobody knows counts as the default one: a typing error must not silence errors.
      leastWeight = level == "off" ? .max : weights[level] ?? OSLogType.default.weight
      showsPrivateData = environment["STEAD_LOG_PRIVATE_DATA"] == "1"
    }
  }

  /// A message as one line of standard error.
  struct LogLine {
    /// The largest write that a pipe keeps in one piece on every system (`PIPE_BUF` on Linux): longer lines
    /// are cut, since those of two processes that write to one pipe would interleave.
    static let byteLimit = 4096

    /// The line in UTF-8 with its line feed, at most ``byteLimit`` bytes.
    let bytes: [UInt8]

    /// Makes a line: time, process, level, origin and text.
    ///
    /// Invariant: the only line feed is at the end, and the bytes are whole characters.
    init(_ text: String, level: OSLogType, subsystem: String, category: String, at time: timespec) {
      // Empty brackets would look like an origin.
      let source = subsystem.isEmpty && category.isEmpty ? "" : " [\(subsystem):\(category)]"
      let head = "\(Self.stamp(time)) \(Self.process) \(level.name)\(source) "
      // The head as well: a process can have any name, and so can a subsystem.
      var bytes = Array((head + text).utf8.lazy.flatMap(Self.escaped))
      // At the limit there is no room for the line feed any more.
      if bytes.count >= Self.byteLimit {
        let ending = Array("…\n".utf8)
        bytes.removeLast(bytes.count - (Self.byteLimit - ending.count))
        // Not in the middle of a character: cut before the last byte that isn't a continuation.
        while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() }
        // The lead byte of what was cut off. A whole character at the end goes as well, since
        // nothing tells them apart here.
        if let last = bytes.last, last >= 0xC0 { bytes.removeLast() }
        self.bytes = bytes + ending
      } else {
        self.bytes = bytes + [UInt8(ascii: "\n")]
      }
    }

    /// A value with a line break could forge a separate message, and one with an escape sequence could
    /// control the terminal.
    private static func escaped(_ byte: UInt8) -> [UInt8] {
      switch byte {
      case UInt8(ascii: "\n"): return Array("\\n".utf8)
      // A tab can neither forge a line nor control a terminal.
      case UInt8(ascii: "\t"): return [byte]
      case 0..<0x20, 0x7F:
        return Array("\\x".utf8) + Array((byte < 16 ? "0" : "").utf8)
          + Array(String(byte, radix: 16).utf8)
      default: return [byte]
      }
    }

    /// The time in UTC with microseconds, formatted by hand since a date formatter costs more than everything else.
    private static func stamp(_ time: timespec) -> String {
      var seconds = time.tv_sec
      var parts = tm()
      // The reentrant form: `gmtime` returns one buffer that all threads share.
      gmtime_r(&seconds, &parts)
      /// A number with leading zeros.
      func padded(_ number: some BinaryInteger, _ count: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
      }
      let date = "\(parts.tm_year + 1900)-\(padded(parts.tm_mon + 1))-\(padded(parts.tm_mday))"
      let clock = "\(padded(parts.tm_hour)):\(padded(parts.tm_min)):\(padded(parts.tm_sec))"
      return "\(date)T\(clock).\(padded(time.tv_nsec / 1000, 6))Z"
    }

    /// The name and the identifier. The latter is asked for each line, since a forked process has
    /// another one.
    private static var process: String { "\(programName)[\(getpid())]" }
    private static let programName = ProcessInfo.processInfo.processName

    /// Writes the line in one call, so that lines of several threads and processes do not interleave.
    func write() {
      // A log that cannot be written must not stop the program, and must not be retried forever.
      while Foundation.write(STDERR_FILENO, bytes, bytes.count) < 0, errno == EINTR {}
    }
  }
#endif
