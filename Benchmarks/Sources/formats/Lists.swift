import BenchmarkHarness
import Foundation
import SteadPreferences

/// A property list of 10,000 keys, read and written here and by Foundation's `PropertyListSerialization`.
enum Lists {
  static var comparisons: [Comparison] {
    [read(.binary), write(.binary), read(.xml), write(.xml)]
  }

  private static func contents() -> [String: Any] {
    var contents: [String: Any] = [:]
    for number in 0..<10_000 {
      contents["window.toolbar.item.\(number)"] =
        switch number % 5 {
        case 0: number
        case 1: "text \(number)"
        case 2: Double(number) / 3
        case 3: Date(timeIntervalSinceReferenceDate: Double(number) * 1_000)
        default: [number, "x"] as [Any]
        }
    }
    return contents
  }

  private static func read(_ format: PropertyList.Format) -> Comparison {
    Comparison(
      name: "\(format)-read", title: "read 10,000 keys, \(format): Stead / Foundation",
      limit: .ratio(0.5)
    ) { _ in
      let data = try PropertyList(validating: contents()).data(format: format)
      return [
        Comparison.Peer(name: "Stead") { try timed { try PropertyList.parse(data) } },
        Comparison.Peer(name: "Foundation") {
          try timed { try PropertyListSerialization.propertyList(from: data, format: nil) }
        },
      ]
    }
  }

  private static func write(_ format: PropertyList.Format) -> Comparison {
    Comparison(
      name: "\(format)-write", title: "write 10,000 keys, \(format): Stead / Foundation",
      limit: .ratio(0.5)
    ) { _ in
      let contents = contents()
      let list = try PropertyList(validating: contents)
      return [
        Comparison.Peer(name: "Stead") { try timed { try list.data(format: format) } },
        Comparison.Peer(name: "Foundation") {
          try timed {
            try PropertyListSerialization.data(
              fromPropertyList: contents, format: format == .xml ? .xml : .binary, options: 0)
          }
        },
      ]
    }
  }
}
