import BenchmarkHarness
import Foundation

let usage = """
  \(BenchmarkOptions.usage)
  measures: add-size, add-foundation
  """

func runBenchmarks(in directory: URL) throws -> Int32 {
  let options = try BenchmarkOptions(Array(CommandLine.arguments.dropFirst()), rounds: 9)
  options.setClock()
  // Foundation's files are found there, and nobody's own are touched.
  guard BenchmarkProgram.isAgain else { return try BenchmarkProgram.runAgain(home: directory) }
  let isMet = try ComparisonRunner(options: options, directory: directory).run(Adding.comparisons)
  return options.isCheck && !isMet ? 1 : 0
}

exit(BenchmarkProgram.run("history", usage: usage, runBenchmarks))
