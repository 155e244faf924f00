#if !canImport(Darwin)
  /// A message as one line of standard error.
  struct LogLine {
    /// The largest write that a pipe keeps in one piece on every system (`PIPE_BUF` on Linux): longer lines
    /// are cut, since those of two processes that write to one pipe would interleave.
    static let byteLimit = 4096

    let bytes: [UInt8]

    init(_ text: String, level: OSLogType, subsystem: String, category: String, at time: timespec) {
      let source = subsystem.isEmpty && category.isEmpty ? "" : " [\(subsystem):\(category)]"
      let head = "\(Self.stamp(time)) \(Self.process) \(level.name)\(source) "
      var bytes = Array((head + text).utf8.lazy.flatMap(Self.escaped))
      if bytes.count >= Self.byteLimit {
        let ending = Array("…\n".utf8)
        bytes.removeLast(bytes.count - (Self.byteLimit - ending.count))
        // Not in the middle of a character: cut before the last byte that isn't a continuation.
        while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() }
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
      gmtime_r(&seconds, &parts)
      func padded(_ number: some BinaryInteger, _ count: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
      }
      let date = "\(parts.tm_year + 1900)-\(padded(parts.tm_mon + 1))-\(padded(parts.tm_mday))"
      let clock = "\(padded(parts.tm_hour)):\(padded(parts.tm_min)):\(padded(parts.tm_sec))"
      return "\(date)T\(clock).\(padded(time.tv_nsec / 1000, 6))Z"
    }

    private static var process: String { "\(programName)[\(getpid())]" }
    private static let programName = ProcessInfo.processInfo.processName

    /// Writes the line in one call, so that lines of several threads and processes do not interleave.
    func write() {
      // A log that cannot be written must not stop the program, and must not be retried forever.
      while Foundation.write(STDERR_FILENO, bytes, bytes.count) < 0, errno == EINTR {}
    }
  }
#endif
