import BenchmarkHarness
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

func runBenchmarks(in directory: URL) throws -> Int32 {
  let options = try Options(Array(CommandLine.arguments.dropFirst()))
  options.common.setClock()
  if let child = options.memoryChild {
    try Memory.runChild(child.peer, path: child.path)
    return 0
  }
  if let child = options.openingChild {
    try Opening.runChild(child.start, path: child.path)
    return 0
  }
  keepFreedMemory()
  let peers = options.profiled == nil ? options.peers : [.sqlite, .stead]
  let runner = Runner(options: options, fixtures: Fixtures(for: peers, in: directory))
  if let name = options.profiled {
    try runner.profile(name)
    return 0
  }
  let missed = try runner.run()
  print(missed.isEmpty ? "\nAll goals are met." : "\nMissed: \(missed.joined(separator: ", "))")
  return options.common.isCheck && !missed.isEmpty ? 1 : 0
}

exit(BenchmarkProgram.run("records", usage: Options.usage, runBenchmarks))
