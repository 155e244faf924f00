/// The cases of an enum, read from its metadata, whose layout is part of Swift's stable ABI.
///
/// The compiler can be asked to leave names out of it; there are none then.
struct EnumCases {
  struct Case {
    let name: String
    /// nil for a case without payload.
    let payload: (any Any.Type)?
  }

  private static let enumKind = 0x201
  private static let caseLimit = 1 << 16

  let cases: [Case]

  /// nil for a type that isn't an enum, and for one whose cases are not known.
  init?(_ type: any Any.Type) {
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    // An enum of C has its raw value in memory, not the number of its case.
    guard metadata.load(as: Int.self) == Self.enumKind,
      !_typeName(type, qualified: true).hasPrefix("__C.")
    else { return nil }
    let word = MemoryLayout<Int>.size
    let descriptor = metadata.load(fromByteOffset: word, as: UnsafeRawPointer.self)
    guard let fields = Self.follow(descriptor + 16) else { return nil }
    let size = Int(fields.load(fromByteOffset: 10, as: UInt16.self))
    let count = Int(fields.load(fromByteOffset: 12, as: UInt32.self))
    guard size >= 12, count <= Self.caseLimit else { return nil }
    cases = (0..<count).compactMap { index in
      let record = fields + 16 + index * size
      guard let name = Self.follow(record + 8) else { return nil }
      let payload = Self.follow(record + 4).flatMap {
        Self.type(named: $0, descriptor, arguments: metadata + 2 * word)
      }
      return Case(
        name: String(cString: name.assumingMemoryBound(to: CChar.self)),
        payload: Self.follow(record + 4) == nil ? nil : payload ?? Any.self)
    }
    guard cases.count == count else { return nil }
  }

  /// Where an address that is relative to its own place leads.
  private static func follow(_ place: UnsafeRawPointer) -> UnsafeRawPointer? {
    let offset = place.loadUnaligned(as: Int32.self)
    return offset == 0 ? nil : place + Int(offset)
  }

  private static func type(
    named name: UnsafeRawPointer, _ context: UnsafeRawPointer, arguments: UnsafeRawPointer
  ) -> (any Any.Type)? {
    var length = 0
    while true {
      switch name.load(fromByteOffset: length, as: UInt8.self) {
      case 0:
        return _getTypeByMangledNameInContext(
          name.assumingMemoryBound(to: UInt8.self), UInt(length), genericContext: context,
          genericArguments: arguments)
      // An address of four bytes follows, or of a word.
      case 0x01...0x17: length += 5
      case 0x18...0x1F: length += 1 + MemoryLayout<Int>.size
      default: length += 1
      }
    }
  }

  /// All values of an enum whose cases have no payload: the number of a case is what is in memory.
  func values<T>(of type: T.Type) -> [T]? {
    guard !cases.isEmpty, cases.allSatisfy({ $0.payload == nil }) else { return nil }
    switch MemoryLayout<T>.size {
    case 0 where cases.count == 1: return [unsafeBitCast((), to: T.self)]
    case 1 where cases.count <= 1 << 8:
      return cases.indices.map { unsafeBitCast(UInt8($0), to: T.self) }
    case 2 where cases.count <= Self.caseLimit:
      return cases.indices.map { unsafeBitCast(UInt16($0), to: T.self) }
    default: return nil
    }
  }
}
