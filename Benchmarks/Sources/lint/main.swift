import BenchmarkHarness
import Foundation

let usage = """
  \(BenchmarkOptions.usage) [--sources <folder>]
  measures: cold, unchanged, parsing
    --sources   takes the Swift files of this folder; this package's own ones without it
  """

func runBenchmarks(in directory: URL) throws -> Int32 {
  var folder = LintedSources.package
  let options = try BenchmarkOptions(Array(CommandLine.arguments.dropFirst()), rounds: 5) {
    argument, next in
    guard argument == "--sources" else { return false }
    folder = URL(filePath: try next())
    return true
  }
  options.setClock()
  let sources = try LintedSources(of: folder, lineCount: 100_000)
  print("\(sources.files.count) files, \(sources.lineCount) lines")
  let isMet = try ComparisonRunner(options: options, directory: directory).run(
    LintRuns(sources: sources).comparisons)
  return options.isCheck && !isMet ? 1 : 0
}

exit(BenchmarkProgram.run("lint", usage: usage, runBenchmarks))
