import Foundation
import SwiftData

enum Dial: String, Codable { case round, square }

struct GaugeInner: Codable, Equatable {
  var depth = 1
  var key = UUID().uuidString
}

struct GaugeSettings: Codable, Equatable {
  var volume = 3
  var theme = "plain"
  var inner = GaugeInner()
  var id = UUID()
}

/// A model whose file the tests change as other versions of an app do.
@Model final class Gauge {
  var name: String
  var dial = Dial.round
  var settings = GaugeSettings()
  var spare: GaugeInner?
  var count = 0
  var level = 0.5
  var marks: [GaugeInner] = []
  var code: UUID = UUID()
  @Attribute(.unique) var key: String = UUID().uuidString

  init(_ name: String) { self.name = name }
}
