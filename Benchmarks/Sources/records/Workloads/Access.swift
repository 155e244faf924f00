import BenchmarkHarness
import Foundation
import Observation
import SwiftData

/// What a read and a write of one property cost, in nanoseconds.
struct Access: Sendable {
  let name: String
  let title: String
  /// The most nanoseconds that are good enough.
  let limit: Double?
  let measure: @Sendable (Fixtures) throws -> Double

  private static let objectCount = 1_000
  private static let repeatCount = 300

  static let all = [
    Access(name: "read", title: "property read, observable", limit: Goals.read) { fixtures in
      let context = ModelContext(try .benchmark(fixtures.items(.stead)))
      return read(try items(context))
    },
    Access(
      name: "read-unobserved", title: "property read, not observable", limit: Goals.readUnobserved
    ) {
      fixtures in
      let context = ModelContext(try .benchmark(fixtures.items(.stead)))
      context.observesModels = false
      return read(try items(context))
    },
    Access(name: "read-plain", title: "property read, plain class", limit: nil) { fixtures in
      readPlain(plainItems(fixtures))
    },
    Access(name: "write", title: "property write, after a read", limit: Goals.write) { fixtures in
      let context = ModelContext(try .benchmark(fixtures.items(.stead)))
      let items = try items(context)
      _ = read(items)
      let time = write(items)
      context.rollback()
      return time
    },
    Access(name: "write-first", title: "first write to an object, never read", limit: Goals.write) {
      fixtures in
      let context = ModelContext(try .benchmark(fixtures.items(.stead)))
      let items = try context.fetch(FetchDescriptor<Item>())
      let time = timed { for item in items { item.rank = 1 } }
      context.rollback()
      return time / Double(items.count)
    },
    Access(name: "read-observable", title: "property read, plain @Observable class", limit: nil) {
      readObservable(observableItems($0))
    },
    Access(
      name: "write-observable", title: "property write, plain @Observable class", limit: nil
    ) { writeObservable(observableItems($0)) },
    Access(name: "write-plain", title: "property write, plain class", limit: nil) { fixtures in
      writePlain(plainItems(fixtures))
    },
  ]

  private static func items(_ context: ModelContext) throws -> [Item] {
    var descriptor = FetchDescriptor<Item>()
    descriptor.fetchLimit = objectCount
    return try context.fetch(descriptor)
  }

  private static func plainItems(_ fixtures: Fixtures) -> [PlainItem] {
    fixtures.values.prefix(objectCount).map { PlainItem($0, id: 1) }
  }

  /// A third of the reads each of an integer, a double and a string.
  private static func read(_ items: [Item]) -> Double {
    let time = timed {
      var sum = 0
      for _ in 0..<repeatCount {
        for item in items {
          sum &+= item.rank
          sum &+= Int(item.price)
          sum &+= item.title.utf8.count
        }
      }
      return sum
    }
    return time / Double(3 * repeatCount * items.count)
  }

  private static func observableItems(_ fixtures: Fixtures) -> [ObservableItem] {
    fixtures.values.prefix(objectCount).map { ObservableItem($0) }
  }

  private static func readObservable(_ items: [ObservableItem]) -> Double {
    let time = timed {
      var sum = 0
      for _ in 0..<repeatCount {
        for item in items {
          sum &+= item.rank
          sum &+= Int(item.price)
          sum &+= item.title.utf8.count
        }
      }
      return sum
    }
    return time / Double(3 * repeatCount * items.count)
  }

  private static func writeObservable(_ items: [ObservableItem]) -> Double {
    let time = timed {
      for number in 0..<repeatCount {
        for item in items {
          item.rank = number
          item.price = 1
          item.code = "new"
        }
      }
    }
    return time / Double(3 * repeatCount * items.count)
  }

  private static func readPlain(_ items: [PlainItem]) -> Double {
    let time = timed {
      var sum = 0
      for _ in 0..<repeatCount {
        for item in items {
          sum &+= item.rank
          sum &+= Int(item.price)
          sum &+= item.title.utf8.count
        }
      }
      return sum
    }
    return time / Double(3 * repeatCount * items.count)
  }

  private static func write(_ items: [Item]) -> Double {
    let time = timed {
      for number in 0..<repeatCount {
        for item in items {
          item.rank = number
          item.price = 1
          item.code = "new"
        }
      }
    }
    return time / Double(3 * repeatCount * items.count)
  }

  private static func writePlain(_ items: [PlainItem]) -> Double {
    let time = timed {
      for number in 0..<repeatCount {
        for item in items {
          item.rank = number
          item.price = 1
          item.code = "new"
        }
      }
    }
    return time / Double(3 * repeatCount * items.count)
  }
}
