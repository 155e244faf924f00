import BenchmarkHarness
import Foundation
import SteadSync
import SwiftData

/// How long an edit takes from the save on one device to the live results of another, through a server on this machine.
enum EditDelay {
  /// Nanoseconds.
  static let medianLimit = 50e6
  /// Nanoseconds, for 99 of 100 edits.
  static let tailLimit = 250e6
  static let editCount = 300

  /// In the child, a device: saves an object with the time for each line that comes.
  static func runChild(_ folder: String) async throws {
    let device = try SyncDevice(in: URL(filePath: folder))
    let context = ModelContext(device.container)
    await device.engine.start()
    print("ready")
    fflush(nil)
    var number = 0
    while readLine() != nil {
      number += 1
      context.insert(Reading(number: number, weight: Clock.monotonic))
      try context.save()
    }
    await device.engine.pause()
  }

  /// In the parent, the other device; returns whether the limits were kept.
  static func run(in directory: URL, at server: SyncServerProcess) async throws -> Bool {
    let writer = try await SyncDevice.folder("writer", in: directory, at: server)
    let reader = try await SyncDevice.folder("reader", in: directory, at: server)
    let delays = try await delays(from: writer, to: reader)
    withExtendedLifetime(server) {}
    return report(delays.sorted())
  }

  @MainActor private static func delays(from: URL, to: URL) async throws -> [Double] {
    let (writer, reader) = (try Writer(from), try SyncDevice(in: to))
    await reader.engine.start()
    var delays: [Double] = []
    let observer = ResultsObserver(
      fetchDescriptor: FetchDescriptor<Reading>(
        sortBy: [SortDescriptor(\.number, order: .reverse)]),
      modelContext: reader.container.mainContext)
    var count = 0
    try writer.edit()
    for await results in observer.updates {
      guard let newest = results.first, results.count > count else { continue }
      count = results.count
      delays.append(Clock.monotonic - newest.weight)
      if count == editCount { break }
      try writer.edit()
    }
    try writer.end()
    await reader.engine.pause()
    return delays
  }

  private static func report(_ delays: [Double]) -> Bool {
    let (median, tail) = (delays[delays.count / 2], delays[delays.count * 99 / 100])
    let isMet = median <= medianLimit && tail <= tailLimit
    print("\ndelay  \(delays.count) edits, from the save on one device to another's live results")
    print(
      "  median \(timeText(median))  limit \(timeText(medianLimit)),  99 of 100 within"
        + " \(timeText(tail))  limit \(timeText(tailLimit))  \(isMet ? "ok" : "MISSED")")
    return isMet
  }

  /// The other process.
  private struct Writer {
    private let process = Process()
    private let input = Pipe()

    init(_ folder: URL) throws {
      let output = Pipe()
      process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      process.arguments = ["--device", folder.path]
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      _ = output.fileHandleForReading.availableData
    }

    func edit() throws { try input.fileHandleForWriting.write(contentsOf: Data("edit\n".utf8)) }

    func end() throws {
      try input.fileHandleForWriting.close()
      process.waitUntilExit()
    }
  }
}
