import Foundation

/// A message bus of a test's own: a real dbus-daemon, with nothing of the user's.
package final class PrivateBus: Sendable {
  /// Why no bus can be had here, nil when one can.
  package static var missing: String? {
    ["dbus-daemon", "dbus-send"].first { !ToolRun.exists($0) }
      .map { "There is no \($0). Install dbus and dbus-bin." }
  }

  package let directory: TemporaryDirectory
  package let address: String
  package let processID: pid_t
  // The bus ends when this end of a pipe is closed, which the death of the test does, too.
  private let lifeline: Pipe
  private let process: Process

  /// What programs on this bus are to see: nothing of the user's own, and no display.
  package var environment: [String: String] {
    [
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
      "HOME": directory.file("home").filePath, "XDG_RUNTIME_DIR": directory.file("run").filePath,
      "TMPDIR": directory.file("run").filePath, "DBUS_SESSION_BUS_ADDRESS": address,
    ]
  }

  /// - Parameters:
  ///   - services: The programs that the bus starts when their names are called.
  ///   - denied: The names of those that nobody may call.
  package init(
    services: [String: String] = [:], denying denied: [String] = [],
    in directory: TemporaryDirectory? = nil
  ) throws {
    let directory = try directory ?? TemporaryDirectory()
    self.directory = directory
    let socket = directory.file("bus").filePath
    address = "unix:path=\(socket)"
    for name in ["home", "run", "services"] {
      try FileManager.default.createDirectory(
        at: directory.file(name), withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    }
    for (name, command) in services {
      try Data("[D-BUS Service]\nName=\(name)\nExec=\(command)\n".utf8)
        .write(to: directory.file("services").file("\(name).service"))
    }
    try Data(Self.configuration(socket, directory.file("services").filePath, denied).utf8)
      .write(to: directory.file("bus.conf"))
    (lifeline, process) = (Pipe.closedByOthers(), Process())
    processID = try Self.start(
      process, lifeline, configuration: directory.file("bus.conf").filePath, socket,
      directory.file("home").filePath)
  }

  deinit { kill() }

  /// Ends the bus as a crash would.
  package func kill() {
    try? lifeline.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// Calls a method by dbus-send and returns what it printed.
  @discardableResult
  package func call(
    _ destination: String, _ path: String, _ method: String, _ arguments: String...
  ) throws -> String {
    try ToolRun.text(
      ["dbus-send", "--session", "--print-reply=literal", "--reply-timeout=60000"]
        + ["--dest=\(destination)", path, method] + arguments, environment: environment)
  }

  private static func start(
    _ process: Process, _ lifeline: Pipe, configuration: String, _ socket: String, _ home: String
  ) throws -> pid_t {
    let output = Pipe.closedByOthers()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [
      "-c",
      #"rm -f "$2"; dbus-daemon --config-file="$1" --nofork --nopidfile --print-pid & "#
        + "child=$!; cat >/dev/null; kill -9 $child; wait $child",
      "sh", configuration, socket,
    ]
    process.environment = [
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": home,
      "LC_ALL": "C.UTF-8",
    ]
    try process.start(input: lifeline, output: output)
    // It prints its number once it listens.
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let number = pid_t(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
      throw CocoaError(.fileReadUnknown)
    }
    return number
  }

  private static func configuration(
    _ socket: String, _ services: String, _ denied: [String]
  ) -> String {
    let rules = denied.map { #"    <deny send_destination="\#($0)"/>"# }.joined(separator: "\n")
    return """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
        "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig>
        <type>session</type>
        <listen>unix:path=\(socket)</listen>
        <auth>EXTERNAL</auth>
        <servicedir>\(services)</servicedir>
        <policy context="default">
          <allow send_destination="*" eavesdrop="true"/>
          <allow eavesdrop="true"/>
          <allow own="*"/>
      \(rules)
        </policy>
        <limit name="max_message_size">1000000000</limit>
        <limit name="max_incoming_bytes">1000000000</limit>
        <limit name="max_outgoing_bytes">1000000000</limit>
      </busconfig>
      """
  }
}
