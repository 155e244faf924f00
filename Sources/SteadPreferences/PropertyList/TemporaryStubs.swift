import Foundation

extension PropertyList {
  static func parse(_ data: Data) throws -> PropertyList { try BinaryPropertyList.decode(data) }
}

enum XMLPropertyList {
  static func encode(_ value: PropertyList) throws -> Data { try BinaryPropertyList.encode(value) }
}
