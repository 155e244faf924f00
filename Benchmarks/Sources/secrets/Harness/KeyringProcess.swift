import Foundation

/// This program once more, on a message bus of its own with a real, unlocked keyring.
enum KeyringProcess {
  private static let variable = "BENCHMARK_HAS_KEYRING"

  /// Whether this is that process.
  static var isInside: Bool { getenv(variable) != nil }

  /// Whether the programs that it takes are here.
  static var isAvailable: Bool {
    let directories = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return ["dbus-run-session", "gnome-keyring-daemon"].allSatisfy { name in
      directories.contains { access("\($0)/\(name)", X_OK) == 0 }
    }
  }

  /// Runs it with the same arguments, and returns its exit status.
  static func run(home: URL, _ arguments: [String]) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    let start = """
      printf password | gnome-keyring-daemon --unlock --components=secrets >/dev/null && exec "$@"
      """
    process.arguments =
      ["dbus-run-session", "--", "sh", "-c", start, "sh", "/proc/\(getpid())/exe"] + arguments
    var environment = ProcessInfo.processInfo.environment.filter {
      !["DISPLAY", "WAYLAND_DISPLAY", "GNOME_KEYRING_CONTROL"].contains($0.key)
        && !$0.key.hasPrefix("XDG_")
    }
    environment["HOME"] = home.path
    environment["XDG_RUNTIME_DIR"] = home.path
    environment[variable] = "1"
    process.environment = environment
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }
}
