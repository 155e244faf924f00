import BenchmarkHarness
import Foundation

/// Beside the program, which is on a disk; a temporary directory may be memory.
func makeWorkDirectory() throws -> URL {
  let directory = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent()
    .appendingPathComponent("secrets-\(ProcessInfo.processInfo.processIdentifier)")
  try FileManager.default.createDirectory(
    at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  return directory
}

func runBenchmarks() -> Int32 {
  do {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let options = try Options(arguments)
    if options.countsProcessorTime { setenv(Clock.variable, "1", 1) }
    let directory = try makeWorkDirectory()
    defer { try? FileManager.default.removeItem(at: directory) }
    if !KeyringProcess.isInside {
      if KeyringProcess.isAvailable { return try KeyringProcess.run(home: directory, arguments) }
      print("Without the Secret Service: dbus-run-session or gnome-keyring-daemon is missing.")
    }
    let isMet = try Runner(options: options, directory: directory).run()
    return options.isCheck && !isMet ? 1 : 0
  } catch is Options.UsageError {
    print(Options.usage)
    return 2
  } catch {
    print("The benchmark stopped: \(error)")
    return 1
  }
}

exit(runBenchmarks())
