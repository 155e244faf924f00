import Foundation
import SteadCaches
import SteadTestSupport
import Synchronization

/// A cache whose values grow old by the times that it is told with each command.
final class TimesWorker: Sendable {
  private let time = Time()
  private let disk: DiskCache
  /// Nil for a process that uses the disk alone.
  private let layered: LayeredCache<Data>?

  private init(_ url: URL, isLayered: Bool) {
    let limits = DiskCache.Limits(
      entrySizeLimit: 200, timeToLive: .seconds(100), timeToIdle: .seconds(16),
      refreshAfter: .seconds(40))
    let time = time
    disk = DiskCache(path: url.filePath, directory: url, limits: limits, now: { time.now })
    layered = isLayered ? LayeredCache(over: disk) : nil
  }

  private final class Time: Sendable {
    private let seconds = Atomic(0)
    var now: Date {
      Date(timeIntervalSinceReferenceDate: Double(seconds.load(ordering: .relaxed)))
    }
    func set(_ new: Int) { seconds.store(new, ordering: .relaxed) }
  }

  /// Runs a command, and says whether it is one that it knows.
  static func run(_ arguments: [String]) -> Bool {
    guard arguments.count == 3, arguments[0] == "disk-times" else { return false }
    let url = URL(filePath: arguments[1], directoryHint: .isDirectory)
    let worker = TimesWorker(url, isLayered: arguments[2] == "layered")
    say("ready")
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      WorkerMain.wait { say(try await worker.answer(words)) }
    }
    return true
  }

  private func answer(_ words: [String]) async throws -> String {
    time.set(Int(words[1]) ?? 0)
    let key = words[2]
    switch words[0] {
    case "get":
      return Self.text(layered.map { $0.value(for: key) } ?? disk.data(for: key))
    case "set":
      let data = Self.data(words[3])
      return "\(layered?.setValue(data, for: key) ?? disk.setData(data, for: key))"
    case "load": return try await load(key, words[3], old: Set(words.dropFirst(4)))
    default: return "\(layered?.removeValue(for: key) ?? disk.removeValue(for: key))"
    }
  }

  /// The value that was found or loaded, and how often it was loaded, also in the background if what was found is old.
  private func load(_ key: String, _ new: String, old: Set<String>) async throws -> String {
    let count = LoadCounter()
    func get() async throws -> String {
      let load: @Sendable () async throws -> Data = {
        count.add()
        return Self.data(new)
      }
      let data =
        if let layered { try await layered.value(for: key, orLoad: load) } else {
          try await disk.data(for: key, orLoad: load)
        }
      return Self.text(data)
    }
    let first = try await get()
    if old.contains(first) {
      for _ in 0..<100_000 where try await get() != new { await Task.yield() }
    }
    return "\(first) \(count.count)"
  }

  private final class LoadCounter: Sendable {
    private let number = Atomic(0)
    func add() { number.add(1, ordering: .relaxed) }
    var count: Int { number.load(ordering: .relaxed) }
  }

  /// One whose name begins with L is too large for the disk.
  private static func data(_ name: String) -> Data {
    Data((name.hasPrefix("L") ? name + " " + String(repeating: "-", count: 300) : name).utf8)
  }

  private static func text(_ data: Data?) -> String {
    guard let data else { return "none" }
    return String(decoding: data.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
  }
}
