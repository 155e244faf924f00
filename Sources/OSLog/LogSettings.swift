#if !canImport(Darwin)
  /// The logging settings in the environment, read once, at the first message.
  ///
  /// | variable | values | without it |
  /// | --- | --- | --- |
  /// | `STEAD_LOG_LEVEL` | `debug`, `info`, `notice`, `error`, `fault`, `off` | `notice` |
  /// | `STEAD_LOG_PRIVATE_DATA` | `1` shows private values, though not sensitive ones | hidden |
  struct LogSettings: Sendable {
    static let current = LogSettings(ProcessInfo.processInfo.environment)

    /// The lowest severity that is written.
    let leastWeight: Int
    let showsPrivateData: Bool

    init(_ environment: [String: String]) {
      let weights = ["debug": 0, "info": 1, "notice": 2, "default": 2, "error": 3, "fault": 4]
      let level = environment["STEAD_LOG_LEVEL"]?.lowercased() ?? "notice"
      leastWeight = level == "off" ? .max : weights[level] ?? OSLogType.default.weight
      showsPrivateData = environment["STEAD_LOG_PRIVATE_DATA"] == "1"
    }
  }
#endif
