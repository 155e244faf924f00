import BenchmarkHarness
import Foundation

func runBenchmarks(in directory: URL) throws -> Int32 {
  let options = try Options(Array(CommandLine.arguments.dropFirst()))
  if let child = options.child {
    try child.run()
    return 0
  }
  options.common.setClock()
  var runner = Runner(options: options, directory: directory)
  let isMet = try runner.run()
  return options.common.isCheck && !isMet ? 1 : 0
}

exit(BenchmarkProgram.run("preferences", usage: Options.usage, runBenchmarks))
