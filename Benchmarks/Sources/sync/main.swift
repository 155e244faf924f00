import BenchmarkHarness
import Foundation

let usage = """
  --server <path of stead> \(BenchmarkOptions.usage)
  measures: save-one, save-many, delay, first
  """

func runBenchmarks(in directory: URL) async throws -> Int32 {
  let arguments = Array(CommandLine.arguments.dropFirst())
  if arguments.count == 2, arguments[0] == "--device" {
    try await EditDelay.runChild(arguments[1])
    return 0
  }
  var program: URL?
  let options = try BenchmarkOptions(arguments, rounds: 9) { argument, next in
    guard argument == "--server" else { return false }
    program = URL(filePath: try next())
    return true
  }
  guard let program else { throw UsageError() }
  options.setClock()
  var isMet = try ComparisonRunner(options: options, directory: directory)
    .run(SaveCosts.comparisons)
  if options.includes("delay") {
    let place = try place("delay", in: directory)
    isMet = try await EditDelay.run(in: place, at: SyncServerProcess(program, in: place)) && isMet
  }
  if options.includes("first") {
    let place = try place("first", in: directory)
    isMet = try await FirstSync.run(in: place, at: SyncServerProcess(program, in: place)) && isMet
  }
  return options.isCheck && !isMet ? 1 : 0
}

func place(_ name: String, in directory: URL) throws -> URL {
  let place = directory.appending(path: name)
  try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
  return place
}

exit(await BenchmarkProgram.run("sync", usage: usage, runBenchmarks))
