import BenchmarkHarness
import Foundation

let usage = """
  \(BenchmarkOptions.usage)
  measures: memory-get, memory-get-text, memory-get-threads, memory-mixed-threads, memory-get-nscache,
            memory-set, memory-load,
            disk-set, disk-get, disk-set-python, disk-get-python, http-memory, http-hit,
            http-disk
  """

func runBenchmarks(in directory: URL) throws -> Int32 {
  let options = try BenchmarkOptions(Array(CommandLine.arguments.dropFirst()), rounds: 9)
  options.setClock()
  let isMet = try ComparisonRunner(options: options, directory: directory).run(
    MemoryMeasures.comparisons + DiskMeasures.comparisons + HTTPMeasures.comparisons)
  return options.isCheck && !isMet ? 1 : 0
}

exit(BenchmarkProgram.run("caches", usage: usage, runBenchmarks))
