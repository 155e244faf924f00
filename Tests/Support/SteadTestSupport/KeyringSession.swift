import Foundation

/// A real gnome-keyring-daemon on a bus of its own, with a keyring in a temporary directory.
///
/// The bus starts the daemon when it is first called, and again after its death, as a desktop's does.
package final class KeyringSession: Sendable {
  /// The state in which a session begins.
  package enum Beginning: Sendable {
    /// There is a keyring, and it is unlocked.
    case unlocked
    /// There has never been a keyring.
    case uninitialised
  }

  /// Why no keyring can be had here, nil when one can.
  package static var missing: String? {
    // A thread that starts a process gets a run loop from Foundation, which frees it at the
    // thread's end, after the thread sanitizer has forgotten the thread: that ends the program.
    if isThreadSanitized { return "Build without the thread sanitizer." }
    return PrivateBus.missing
      ?? ["gnome-keyring-daemon", "secret-tool"].first { !ToolRun.exists($0) }
      .map { "There is no \($0). Install gnome-keyring and libsecret-tools." }
  }
  package static var isAvailable: Bool { missing == nil }

  package static let name = "org.freedesktop.secrets"
  package static let path = "/org/freedesktop/secrets"
  package static let password = "a password of the tests"

  package let bus: PrivateBus
  package var address: String { bus.address }
  package var environment: [String: String] { bus.environment }
  private var directory: TemporaryDirectory { bus.directory }
  /// Where the daemon finds the password when it starts; without the file it starts locked.
  private var passwordFile: URL { directory.file("password") }
  private var processFile: URL { directory.file("processes") }

  package init(_ beginning: Beginning = .unlocked) throws {
    let directory = try TemporaryDirectory()
    let script = directory.file("start")
    let home = directory.file("home").filePath
    let run = directory.file("run").filePath
    try Data(
      """
      #!/bin/sh
      cd '\(directory.url.filePath)'
      echo $$ >> processes
      export HOME='\(home)' XDG_RUNTIME_DIR='\(run)' XDG_DATA_HOME='\(home)/data'
      export XDG_CONFIG_HOME='\(home)/config' XDG_CACHE_HOME='\(home)/cache'
      set -- --foreground --components=secrets --control-directory='\(run)/control'
      if [ -e prompter ]; then export GNOME_KEYRING_TEST_PROMPTER="$(cat prompter)"; fi
      if [ -e password ]; then exec gnome-keyring-daemon --unlock "$@" < password; fi
      exec gnome-keyring-daemon "$@" < /dev/null

      """.utf8
    ).write(to: script)
    try script.setMode(0o700)
    // By the shell: a program cannot be started while it is open for writing, and a child of another
    // test, forked as it was written, has it open for a moment.
    bus = try PrivateBus(services: [Self.name: "/bin/sh \(script.filePath)"], in: directory)
    if beginning == .unlocked { try Data(Self.password.utf8).write(to: passwordFile) }
    try startDaemon()
  }

  deinit { if let daemonID { Foundation.kill(daemonID, SIGKILL) } }

  /// The daemon that was started last.
  package var daemonID: pid_t? {
    let lines = (try? String(contentsOf: processFile, encoding: .utf8))?.split(separator: "\n")
    return lines?.last.flatMap { pid_t($0) }
  }

  /// How often a daemon was started.
  package var startCount: Int {
    let lines = (try? String(contentsOf: processFile, encoding: .utf8))?.split(separator: "\n")
    return lines?.count ?? 0
  }

  /// Has the bus start the daemon, if it does not run, and waits until it can be called.
  package func startDaemon() throws {
    try bus.call(
      "org.freedesktop.DBus", "/", "org.freedesktop.DBus.StartServiceByName",
      "string:\(Self.name)", "uint32:0")
    // The name is there a moment before the objects are.
    try bus.call(
      Self.name, Self.path, "org.freedesktop.Secret.Service.ReadAlias", "string:default")
  }

  /// Ends the daemon as a crash would, and waits until the bus knows.
  package func killDaemon() throws {
    guard let daemonID else { return }
    Foundation.kill(daemonID, SIGKILL)
    while try bus.call(
      "org.freedesktop.DBus", "/", "org.freedesktop.DBus.NameHasOwner", "string:\(Self.name)"
    ).contains("true") {}
  }

  /// A cold start: the daemon has not seen the keyring open, and knows hashes of attributes alone.
  package func restartLocked() throws {
    try? FileManager.default.removeItem(at: passwordFile)
    try killDaemon()
    try startDaemon()
  }

  /// Starts the daemon again with the keyring's password.
  package func restartUnlocked() throws {
    try Data(Self.password.utf8).write(to: passwordFile)
    try killDaemon()
    try startDaemon()
  }

  /// Locks the keyring; the daemon goes on.
  package func lock() throws {
    try bus.call(
      Self.name, Self.path, "org.freedesktop.Secret.Service.Lock",
      "array:objpath:\(Self.path)/collection/login")
  }

  /// Holds the daemon up, so that it answers nothing, while `body` runs.
  package func withStoppedDaemon<Result>(_ body: () throws -> Result) rethrows -> Result {
    let daemonID = daemonID ?? 0
    if daemonID > 0 { Foundation.kill(daemonID, SIGSTOP) }
    defer { if daemonID > 0 { Foundation.kill(daemonID, SIGCONT) } }
    return try body()
  }

  /// What `secret-tool` says.
  package func secretTool(_ arguments: String..., input: Data = Data()) throws -> ToolRun {
    try ToolRun(["secret-tool"] + arguments, environment: environment, input: input)
  }
}
