import BenchmarkHarness
import Foundation

/// This program once more, on a message bus of its own with a real, unlocked keyring.
enum KeyringProcess {
  /// Whether the programs that it takes are here.
  static var isAvailable: Bool {
    let directories = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return ["dbus-run-session", "gnome-keyring-daemon"].allSatisfy { name in
      directories.contains { access("\($0)/\(name)", X_OK) == 0 }
    }
  }

  /// Runs it with the same arguments, and returns its exit status.
  static func run(home: URL) throws -> Int32 {
    let start = """
      printf password | gnome-keyring-daemon --unlock --components=secrets >/dev/null && exec "$@"
      """
    return try BenchmarkProgram.runAgain(
      home: home, through: ["dbus-run-session", "--", "sh", "-c", start, "sh"])
  }
}
