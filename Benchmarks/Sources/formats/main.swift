import BenchmarkHarness
import Foundation

let usage = """
  \(BenchmarkOptions.usage)
  measures: binary-read, binary-write, xml-read, xml-write, codable-set, codable-get
  """

func runBenchmarks(in directory: URL) throws -> Int32 {
  let options = try BenchmarkOptions(Array(CommandLine.arguments.dropFirst()), rounds: 9)
  options.setClock()
  let comparisons = Lists.comparisons + CodableValues.comparisons
  let isMet = try ComparisonRunner(options: options, directory: directory).run(comparisons)
  return options.isCheck && !isMet ? 1 : 0
}

exit(BenchmarkProgram.run("formats", usage: usage, runBenchmarks))
