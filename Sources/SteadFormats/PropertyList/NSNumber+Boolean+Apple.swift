// Not run on this project's machines.
#if canImport(Darwin)
  import Foundation

  extension NSNumber {
    /// Whether it was made from a `Bool`; an `Int8` says that it is of the same C type.
    var isBoolean: Bool { CFGetTypeID(self) == CFBooleanGetTypeID() }
  }
#endif
