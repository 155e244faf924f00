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
#endif
