#if canImport(Darwin)
  // Not run on this project's machines.
  import os

  extension Stead.Problem {
    /// Writes the problem to the unified log.
    func writeToLog() {
      // Public, since a problem never contains a stored value.
      Logger(subsystem: "stead", category: "\(product)").error("\(self, privacy: .public)")
    }
  }
#else
  import Foundation

  extension Stead.Problem {
    /// The largest write that a pipe keeps in one piece on every system (`PIPE_BUF` on Linux): longer lines
    /// of two processes that write to one pipe would interleave.
    static let lineLimit = 4096

    /// Writes the problem to standard error, as one line.
    func writeToLog() {
      let line = line(at: Date())
      // A log that cannot be written must not stop the program, and must not be retried forever.
      while write(STDERR_FILENO, line, line.count) < 0, errno == EINTR {}
    }

    /// The line, in the form of SteadOSLog's `Logger`, which writes to the same stream.
    func line(at date: Date) -> [UInt8] {
      let process = ProcessInfo.processInfo
      let source = "\(process.processName)[\(process.processIdentifier)]"
      let text = "\(Self.stamp(date)) \(source) Error [stead:\(product)] \(self)"
      // A line break in a path could otherwise forge a separate line.
      let escaped = text.unicodeScalars.flatMap { scalar -> [Unicode.Scalar] in
        let isControl = scalar.value < 0x20 || scalar.value == 0x7F
        return isControl ? Array(scalar.escaped(asASCII: true).unicodeScalars) : [scalar]
      }
      var line = String(String.UnicodeScalarView(escaped))
      if line.utf8.count >= Self.lineLimit {
        while line.utf8.count > Self.lineLimit - "…\n".utf8.count { line.removeLast() }
        line += "…"
      }
      return Array((line + "\n").utf8)
    }

    private static func stamp(_ date: Date) -> String {
      // Rounded down, as `Logger` does.
      let seconds = date.timeIntervalSince1970.rounded(.down)
      let microseconds = (date.timeIntervalSince1970 - seconds) * 1_000_000
      let whole = Date(timeIntervalSince1970: seconds).formatted(.iso8601).dropLast()
      return "\(whole).\(String(format: "%06d", Int(microseconds)))Z"
    }
  }
#endif
