#if !canImport(Darwin)
  import Foundation

  extension NSNumber {
    /// Whether it was made from a `Bool`: all others, `Int8` too, say that they are of another type.
    var isBoolean: Bool { UInt8(bitPattern: objCType.pointee) == UInt8(ascii: "c") }
  }
#endif
