import BenchmarkHarness
import Foundation

let usage = """
  \(BenchmarkOptions.usage)
  measures: value, domain, history, secret
  """

func runBenchmarks(in directory: URL) throws -> Int32 {
  let options = try BenchmarkOptions(Array(CommandLine.arguments.dropFirst()), rounds: 9)
  options.setClock()
  let isMet = try ComparisonRunner(options: options, directory: directory).run(
    Thresholds.comparisons)
  return options.isCheck && !isMet ? 1 : 0
}

exit(BenchmarkProgram.run("advice", usage: usage, runBenchmarks))
