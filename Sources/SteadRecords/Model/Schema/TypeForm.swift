/// The form of a type, read from its metadata.
///
/// A cast answers the same question, but searches all conformances of the program for each type that it sees first,
/// which is most of what a schema would cost. The layout that is read here is part of Swift's stable ABI.
enum TypeForm {
  case optional(wrapped: any Any.Type)
  case array(element: any Any.Type)
  case classType
  case structType
  case other

  private static let structKind = 0x200
  private static let optionalKind = 0x202
  /// Greater words are addresses, of the classes of classes on Apple's systems.
  private static let lastKind = 0x7FF

  init(_ type: any Any.Type) {
    let words = Self.words(of: type)
    switch words[0] {
    case Self.optionalKind: self = .optional(wrapped: Self.argument(words))
    case Self.structKind:
      let isArray = words[1] == Self.words(of: [Int].self)[1]
      self = isArray ? .array(element: Self.argument(words)) : .structType
    case 0: self = .classType
    case let kind: self = kind > Self.lastKind ? .classType : .other
    }
  }

  /// The kind, for values the address of the declaration, and then the generic arguments.
  private static func words(of type: any Any.Type) -> UnsafePointer<Int> {
    unsafeBitCast(type, to: UnsafePointer<Int>.self)
  }

  private static func argument(_ words: UnsafePointer<Int>) -> any Any.Type {
    unsafeBitCast(words[2], to: Any.Type.self)
  }
}
