import BenchmarkHarness
import Foundation

let usage = """
  [--megabytes <n>] [--check]
    moves tables of a tenth of n and of n MB (200) into records, each in a process of its own, and prints their
    times, their peaks of memory above that of a table without rows, and what a run with nothing to do takes
    --check   ends with 1 when a peak is above 60 MB, or a run with nothing to do takes more than 5 ms
  """

func runBenchmarks(in directory: URL) throws -> Int32 {
  let arguments = Array(CommandLine.arguments.dropFirst())
  if arguments.first == "--child" {
    guard arguments.count == 4, let rounds = Int(arguments[3]) else { throw UsageError() }
    try TableMove.run(URL(filePath: arguments[1]), URL(filePath: arguments[2]), rounds: rounds)
    return 0
  }
  var megabytes = 200
  let options = try BenchmarkOptions(arguments, rounds: 9) { argument, next in
    guard argument == "--megabytes", let number = Int(try next()), number > 0 else { return false }
    megabytes = number
    return true
  }
  let table = directory.appending(path: "books.csv")
  _ = try BookRow.write(1, to: table)
  let base = try TableMove.measure(table, directory.appending(path: "empty.store")).peak
  var isMet = true
  for share in [10, 1] {
    let count = try BookRow.write(megabytes * 1_000_000 / share, to: table)
    let store = directory.appending(path: "books-\(share).store")
    let first = try TableMove.measure(table, store)
    let again = try TableMove.measure(table, store, rounds: options.rounds)
    let peak = (first.peak - base) / 1e6
    isMet = isMet && peak <= 60 && again.nanoseconds <= 5e6
    print(
      "\(megabytes / share) MB, \(count) rows: \(String(format: "%.1f", first.nanoseconds / 1e9)) s, "
        + "\(String(format: "%.1f", peak)) MB; nothing to do: \(timeText(again.nanoseconds)), "
        + "\(String(format: "%.1f", (again.peak - base) / 1e6)) MB")
  }
  return options.isCheck && !isMet ? 1 : 0
}

exit(BenchmarkProgram.run("transfers", usage: usage, runBenchmarks))
