import BenchmarkHarness
import Foundation

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
  BenchmarkProgram.keepFreedMemory()
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
