import BenchmarkHarness
import Foundation
import SwiftData

/// How long a save of another process takes to reach live results.
enum LiveDelay {
  /// Nanoseconds.
  static let limit = 50e6
  static let saveCount = 50

  /// In the child: saves an object with the time for each line that comes.
  static func runChild(_ path: String) throws {
    let context = ModelContext(try ParcelStore.open(ParcelsV2.self, URL(filePath: path)))
    var number = 0
    print("ready")
    fflush(nil)
    while readLine() != nil {
      number += 1
      context.insert(Parcel(number: number, title: "parcel", weight: Clock.monotonic))
      try context.save()
    }
  }

  /// In the parent; returns whether the limit was kept.
  @MainActor static func run(in directory: URL) async throws -> Bool {
    let url = directory.appending(path: "live.store")
    let container = try ParcelStore.open(ParcelsV2.self, url)
    let writer = Process()
    writer.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    writer.arguments = ["--writer", url.path]
    let (input, output) = (Pipe(), Pipe())
    writer.standardInput = input
    writer.standardOutput = output
    try writer.run()
    _ = output.fileHandleForReading.availableData
    var delays: [Double] = []
    let observer = ResultsObserver(
      fetchDescriptor: FetchDescriptor<Parcel>(sortBy: [SortDescriptor(\.number, order: .reverse)]),
      modelContext: container.mainContext)
    var count = 0
    try input.fileHandleForWriting.write(contentsOf: Data("go\n".utf8))
    for await results in observer.updates {
      guard let newest = results.first, results.count > count else { continue }
      count = results.count
      delays.append(Clock.monotonic - newest.weight)
      if count == saveCount { break }
      try input.fileHandleForWriting.write(contentsOf: Data("go\n".utf8))
    }
    try input.fileHandleForWriting.close()
    writer.waitUntilExit()
    let sample = Sample(delays)
    let isMet = sample.median <= limit
    print("\nlive  \(saveCount) saves of another process, from the save to the live results")
    print(
      "  \(timeText(sample.median))  [\(timeText(sample.least)) to \(timeText(sample.greatest))]"
        + "  limit \(timeText(limit))  \(isMet ? "ok" : "MISSED")")
    return isMet
  }
}
