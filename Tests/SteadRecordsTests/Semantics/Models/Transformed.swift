#if !canImport(Darwin)
  import Foundation
  import SwiftData

  /// A type that is not Codable.
  struct Tint: Equatable {
    var red: UInt8
    var green: UInt8
    var blue: UInt8
  }

  final class TintTransformer: ValueTransformer {
    override class func allowsReverseTransformation() -> Bool { true }

    override func transformedValue(_ value: Any?) -> Any? {
      (value as? Tint).map { Data([$0.red, $0.green, $0.blue]) }
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
      guard let data = value as? Data, data.count == 3 else { return nil }
      let bytes = [UInt8](data)
      return Tint(red: bytes[0], green: bytes[1], blue: bytes[2])
    }
  }

  @Model final class Swatch {
    var name: String
    @Attribute(.transformable(by: TintTransformer.self)) var tint: Tint
    @Attribute(.transformable(by: "TintByName")) var other: Tint?

    init(name: String, tint: Tint) {
      self.name = name
      self.tint = tint
    }
  }

  /// A Codable value that is stored by transformers of the kinds that apps write.
  struct Settings: Codable, Equatable {
    var volume: Int
    var tags: [String]

    /// Writes the same text each time.
    static var encoder: JSONEncoder {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      return encoder
    }
  }

  /// Made for storage, and says so.
  class SettingsTransformer: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { NSData.self }
    override class func allowsReverseTransformation() -> Bool { true }

    override func transformedValue(_ value: Any?) -> Any? {
      (value as? Settings).flatMap { try? Settings.encoder.encode($0) }
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
      (value as? Data).flatMap { try? JSONDecoder().decode(Settings.self, from: $0) }
    }
  }

  /// Made for storage, with the class of the value where that of the data belongs.
  final class LabelledTransformer: SettingsTransformer {
    override class func transformedValueClass() -> AnyClass { NSString.self }
  }

  /// Turns data into values, and back in reverse.
  final class ReadingTransformer: SettingsTransformer {
    override class func transformedValueClass() -> AnyClass { NSString.self }

    override func transformedValue(_ value: Any?) -> Any? { super.reverseTransformedValue(value) }

    override func reverseTransformedValue(_ value: Any?) -> Any? { super.transformedValue(value) }
  }

  @Model final class Itinerary {
    @Attribute(.transformable(by: NSSecureUnarchiveFromDataTransformer.self)) var stops: [String]
    @Attribute(.transformable(by: "NSSecureUnarchiveFromData")) var object: NSArray?
    @Attribute(.transformable(by: "NSSecureUnarchiveFromDataTransformer")) var named: [String]?
    @Attribute(.transformable(by: RouteTransformer.self)) var route: Route?
    @Attribute(.transformable(by: SettingsTransformer.self)) var settings: Settings?

    init(stops: [String]) { self.stops = stops }
  }
#endif
