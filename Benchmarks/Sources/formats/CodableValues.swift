import BenchmarkHarness
import Foundation
import SteadPreferences

/// A `Codable` value of 20 parts under a typed key, which makes a tree of it, and by way of the bytes that
/// Foundation's encoder makes and its decoder reads.
enum CodableValues {
  private struct Mark: Codable {
    var x: Double
    var y: Double
    var label: String
    var seen: Date
  }

  private struct Settings: Codable {
    var name = "settings"
    var size = 12
    var isWide = true
    var note: String?
    var marks = (0..<20).map { number in
      let date = Date(timeIntervalSinceReferenceDate: Double(number))
      return Mark(x: Double(number), y: 0.5, label: "mark \(number)", seen: date)
    }
  }

  private static let callCount = 500
  private static let key = Preferences.Key<Settings>("settings", default: Settings())

  static var comparisons: [Comparison] { [setting, getting] }

  private static var setting: Comparison {
    Comparison(
      name: "codable-set", title: "set a Codable value where none was: tree / PropertyListEncoder",
      limit: .ratio(0.75)
    ) { _ in
      let preferences = Preferences.inMemory()
      var settings = Settings()
      let encoder = PropertyListEncoder()
      encoder.outputFormat = .binary
      return [
        peer("Stead") {
          settings.size = $0
          // A value that is replaced is decoded first, to see whether it has to be kept aside.
          preferences.removeObject(forKey: "settings")
          preferences[key] = settings
        },
        peer("Foundation") {
          settings.size = $0
          preferences.removeObject(forKey: "settings")
          let data = try encoder.encode(settings)
          try preferences.setPropertyList(PropertyList.parse(data), forKey: "settings")
        },
      ]
    }
  }

  private static var getting: Comparison {
    Comparison(
      name: "codable-get", title: "get a Codable value: tree / PropertyListDecoder",
      limit: .ratio(0.75)
    ) { _ in
      let preferences = Preferences.inMemory()
      preferences[key] = Settings()
      return [
        peer("Stead") { _ in keep(preferences[key]) },
        peer("Foundation") { _ in
          guard let list = preferences.propertyList(forKey: "settings") else { return }
          keep(try PropertyListDecoder().decode(Settings.self, from: list.data()))
        },
      ]
    }
  }

  private static func peer(
    _ name: String, _ call: @escaping (Int) throws -> Void
  ) -> Comparison.Peer {
    Comparison.Peer(name: name) {
      try timed { for number in 0..<callCount { try call(number) } } / Double(callCount)
    }
  }
}
