#if !canImport(Darwin)
  // As on Apple's systems, where importing OSLog also imports Foundation.
  @_exported public import Foundation

  /// The origin of messages: a subsystem and a category in it.
  ///
  /// Use ``Logger``; this class is for code that passes one to ``Logger/init(_:)`` or `os_log`.
  public final class OSLog: Sendable {
    let subsystem: String
    let category: String
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
    public func isEnabled(type: OSLogType) -> Bool {
      !isDisabled && type.weight >= LogSettings.current.leastWeight
    }

    func write(_ type: OSLogType, _ message: () -> OSLogMessage) {
      guard isEnabled(type: type) else { return }
      let text = message().text(showingPrivateData: LogSettings.current.showsPrivateData)
      var now = timespec()
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
#endif
