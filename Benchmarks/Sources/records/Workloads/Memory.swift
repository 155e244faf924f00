import BenchmarkHarness
import Foundation
import GRDB
import SwiftData

/// The most memory that a process holds more while it fetches all rows than before.
///
/// Each peer is measured in a process of its own, which this program starts.
enum Memory {
  static let name = "memory"

  /// In the child process: fetches all rows of a store, and prints the bytes it took.
  static func runChild(_ peer: Peer, path: String) throws {
    let fetch = try preparedFetch(peer, path)
    try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
    let before = try status("VmRSS")
    let objects = try fetch()
    let peak = try status("VmHWM")
    keep(objects)
    print(peak - before)
  }

  /// Opens the store and counts its rows, so that SQLite's cache is filled before the measurement.
  private static func preparedFetch(_ peer: Peer, _ path: String) throws -> () throws -> Any {
    switch peer {
    case .sqlite:
      let database = try PlainDatabase(path)
      let counting = try database.prepare("SELECT count(*) FROM item")
      _ = try counting.step()
      counting.reset()
      let selection = try database.prepare("SELECT id, \(PlainItem.columns) FROM item")
      return {
        var items: [PlainItem] = []
        while try selection.step() { items.append(PlainItem(selection)) }
        return items
      }
    case .stead:
      let context = ModelContext(try .benchmark(path))
      _ = try context.fetchCount(FetchDescriptor<Item>())
      return { (context, try context.fetch(FetchDescriptor<Item>())) }
    case .grdb:
      let pool = try DatabasePool.benchmark(path)
      _ = try pool.read { try ItemRecord.fetchCount($0) }
      return { try pool.read { try ItemRecord.fetchAll($0) } }
    }
  }

  private static func status(_ key: String) throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    for line in text.split(separator: "\n") where line.hasPrefix("\(key):") {
      let digits = line.filter(\.isNumber)
      return (Int(digits) ?? 0) * 1024
    }
    return 0
  }

  /// The bytes that a peer's child process took.
  static func measure(_ peer: Peer, _ fixtures: Fixtures) throws -> Double {
    let output = try BenchmarkProgram.output(
      of: ["--memory", peer.rawValue, fixtures.items(peer)],
      // The allocator is left as programs have it.
      environment: BenchmarkProgram.plainEnvironment)
    return Double(output) ?? .nan
  }
}
