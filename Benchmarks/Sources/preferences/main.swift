import BenchmarkHarness
import Foundation

/// Beside the program, which is on a disk; a temporary directory may be memory.
func makeWorkDirectory() throws -> URL {
  let directory = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent()
    .appendingPathComponent("preferences-\(ProcessInfo.processInfo.processIdentifier)")
  try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  return directory
}

func runBenchmarks() -> Int32 {
  do {
    let options = try Options(Array(CommandLine.arguments.dropFirst()))
    if let child = options.child {
      try child.run()
      return 0
    }
    if options.countsProcessorTime { setenv(Clock.variable, "1", 1) }
    let directory = try makeWorkDirectory()
    defer { try? FileManager.default.removeItem(at: directory) }
    var runner = Runner(options: options, directory: directory)
    let isMet = try runner.run()
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
