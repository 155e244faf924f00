import BenchmarkHarness
import Foundation

let usage = """
  \(BenchmarkOptions.usage)
  measures: save-one, save-ten, insert, update, delete, delete-where, fetch-history, fetch-history-wide,
            column-10000, column-1000000, stage, live
  """

func runBenchmarks(in directory: URL) async throws -> Int32 {
  let arguments = Array(CommandLine.arguments.dropFirst())
  if arguments.count == 2, arguments[0] == "--stage" {
    try CustomStage.runChild(arguments[1])
    return 0
  }
  if arguments.count == 2, arguments[0] == "--writer" {
    try LiveDelay.runChild(arguments[1])
    return 0
  }
  BenchmarkProgram.keepFreedMemory()
  let options = try BenchmarkOptions(arguments, rounds: 9)
  options.setClock()
  let comparisons = HistoryCosts.comparisons + AddedColumn.comparisons
  var isMet = try ComparisonRunner(options: options, directory: directory).run(comparisons)
  if options.includes("stage") { isMet = try CustomStage.run(in: directory) && isMet }
  if options.includes("live") { isMet = try await LiveDelay.run(in: directory) && isMet }
  return options.isCheck && !isMet ? 1 : 0
}

exit(await BenchmarkProgram.run("evolution", usage: usage, runBenchmarks))
