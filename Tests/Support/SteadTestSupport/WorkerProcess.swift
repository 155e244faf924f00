import Foundation

/// Another process, which a test talks to by lines, and kills.
///
/// Started by posix_spawn, since a thousand of them are started and killed. It ends at the latest with
/// the last reference to it.
package final class WorkerProcess {
  package private(set) var isRunning = true
  package let id: pid_t
  private let output: Int32
  private var input: Int32
  private var unread: [UInt8] = []
  private var position = 0
  private var status: Int32 = 0

  /// - Parameters:
  ///   - command: A program, looked up in PATH unless it is a path, and its arguments.
  ///   - environment: What to change in this process's environment.
  package init(_ command: [String], environment: [String: String] = [:]) throws {
    Self.ignoreBrokenPipes
    // No other worker may start between a pipe's making and its marking, and hold it open for ever.
    Self.starting.lock()
    defer { Self.starting.unlock() }
    let (output, input) = (try Ends(), try Ends())
    defer {
      close(output.write)
      close(input.read)
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input.read, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, output.write, STDOUT_FILENO)
    // The thread that starts it may be one that blocks signals, such as its own alarm.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var blocked = sigset_t()
    sigemptyset(&blocked)
    posix_spawnattr_setsigmask(&attributes, &blocked)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let program = command[0]
    let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    var id: pid_t = 0
    let error = Self.withCStrings(command) { command in
      Self.withCStrings(variables.map { "\($0)=\($1)" }) { variables in
        posix_spawnp(&id, program, &actions, &attributes, command, variables)
      }
    }
    guard error == 0 else { throw POSIXError(POSIXErrorCode(rawValue: error) ?? .EIO) }
    self.id = id
    self.output = output.read
    self.input = input.write
  }

  deinit {
    end()
    close(output)
    close(input)
  }

  // MARK: What it says

  /// The next line that the worker prints; nil once it has ended.
  package func line() -> String? {
    while true {
      if let end = unread[position...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { position = end + 1 }
        return String(decoding: unread[position..<end], as: UTF8.self)
      }
      if !readMore() { return nil }
    }
  }

  /// The lines that are there already.
  package func linesAtHand() -> [String] {
    var question = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    while poll(&question, 1, 0) == 1, readMore() {}
    var result: [String] = []
    while unread[position...].contains(UInt8(ascii: "\n")), let line = line() {
      result.append(line)
    }
    return result
  }

  /// All lines until the end.
  package func rest() -> [String] {
    var result: [String] = []
    while let line = line() { result.append(line) }
    return result
  }

  /// The lines before a full stop as keys and values; nil when the worker ends before that.
  package func dump() -> [String: String]? {
    var result: [String: String] = [:]
    while let line = line() {
      if line == "." { return result }
      let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { return nil }
      result[String(parts[0])] = String(parts[1])
    }
    return nil
  }

  private func readMore() -> Bool {
    unread.removeFirst(position)
    position = 0
    let size = 65_536
    let more = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      var result = read(output, buffer.baseAddress, size)
      while result < 0, errno == EINTR { result = read(output, buffer.baseAddress, size) }
      count = max(0, result)
    }
    unread += more
    // While a process that has ended is not waited for, the thread that watches exit tests never sleeps.
    if more.isEmpty { finish() }
    return !more.isEmpty
  }

  // MARK: What it is told

  /// Sends a line; false when the process has ended, or has closed its input.
  package func tell(_ line: String) -> Bool {
    let bytes = Array("\(line)\n".utf8)
    return write(input, bytes, bytes.count) == bytes.count
  }

  package func endInput() {
    close(input)
    input = -1
  }

  /// Waits until it has ended: the exit status, or minus the number of the signal that ended it.
  @discardableResult
  package func finish() -> Int32 {
    if isRunning {
      while waitpid(id, &status, 0) == -1, errno == EINTR {}
      isRunning = false
    }
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : -signal
  }

  /// Waits until it has stopped, as by SIGSTOP, or has ended.
  package func waitUntilStopped() {
    while waitpid(id, &status, WUNTRACED) == -1, errno == EINTR {}
    // Stopped is what the lower byte says with 0x7F.
    isRunning = status & 0xFF == 0x7F
  }

  /// Lets it go on after it has stopped.
  package func resume() { kill(id, SIGCONT) }

  /// kill -9, unless it has ended already and its number may be another's.
  package func end() {
    if isRunning { kill(id, SIGKILL) }
    finish()
  }
}

extension WorkerProcess {
  static let starting = NSLock()

  private struct Ends {
    let read: Int32
    let write: Int32

    init() throws {
      var ends: [Int32] = [0, 0]
      guard pipe(&ends) == 0 else {
        throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
      }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      (read, write) = (ends[0], ends[1])
    }
  }

  /// A worker that has been killed must not take the tests with it.
  private static let ignoreBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

  /// The path of a program beside the tests' own executable.
  package static func program(_ name: String) throws -> String {
    guard let tests = Bundle.main.executableURL else { throw CocoaError(.fileNoSuchFile) }
    return tests.deletingLastPathComponent().appending(path: name).filePath
  }

  private static func withCStrings<Value>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Value
  ) -> Value {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
  }
}
