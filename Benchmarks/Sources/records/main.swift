import Foundation

/// Runs this program anew with an allocator that keeps freed memory: giving it back to the system
/// between rounds would move fetches by up to 40 %, for all peers.
func keepFreedMemory() {
  let settings = ["MALLOC_TRIM_THRESHOLD_": "4000000000", "MALLOC_MMAP_THRESHOLD_": "1000000000"]
  if settings.allSatisfy({ getenv($0.key) != nil }) { return }
  for (name, value) in settings { setenv(name, value, 1) }
  let arguments = CommandLine.arguments.map { strdup($0) } + [nil]
  execv("/proc/self/exe", arguments)
}

/// Returns the program's exit status.
func runBenchmarks() -> Int32 {
  do {
    let options = try Options(Array(CommandLine.arguments.dropFirst()))
    if let child = options.memoryChild {
      try Memory.runChild(child.peer, path: child.path)
      return 0
    }
    Clock.countsProcessorTime = options.countsProcessorTime
    if let child = options.openingChild {
      try Opening.runChild(child.start, path: child.path)
      return 0
    }
    keepFreedMemory()
    let fixtures = try Fixtures(for: options.profiled == nil ? options.peers : [.sqlite, .stead])
    defer { fixtures.remove() }
    let runner = Runner(options: options, fixtures: fixtures)
    if let name = options.profiled {
      try runner.profile(name)
      return 0
    }
    let missed = try runner.run()
    print(missed.isEmpty ? "\nAll goals are met." : "\nMissed: \(missed.joined(separator: ", "))")
    return options.isCheck && !missed.isEmpty ? 1 : 0
  } catch is Options.UsageError {
    print(Options.usage)
    return 2
  } catch {
    print("The benchmark stopped: \(error)")
    return 1
  }
}

exit(runBenchmarks())
