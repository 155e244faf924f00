#if !canImport(Darwin)
  import Foundation

  /// A property list in Apple's binary format, references of keyed archives included.
  ///
  /// Foundation's reader on Linux crashes on some damaged files, and gives references as objects that
  /// cannot be asked for their number. This one checks every offset and throws. All integers are big
  /// endian.
  ///
  /// | place            | meaning                                                            |
  /// | ---------------- | ------------------------------------------------------------------ |
  /// | first 8 bytes    | `bplist00`                                                         |
  /// | then             | the objects: a byte of kind (high half) and size (low half), bytes |
  /// | then             | the offset of each object                                          |
  /// | last 32 bytes    | 6 unused, size of an offset, size of a reference, 8 each: number   |
  /// |                  | of objects, the root's, where the offsets begin                    |
  ///
  /// A low half of 15 means that the size follows as an integer object.
  struct BinaryPropertyList {
    enum Node {
      case null
      case bool(Bool)
      case integer(Int)
      case unsigned(UInt64)
      case real(Double)
      case date(Date)
      case data(Data)
      case string(String)
      case reference(Int)
      case array([Int])
      case dictionary(keys: [Int], values: [Int])
    }

    struct Damaged: Error {}

    /// The objects of the list, which name each other by their position.
    let nodes: [Node]
    let root: Int

    init(_ data: Data) throws {
      let bytes = [UInt8](data)
      let trailerSize = 32
      guard bytes.count >= 8 + trailerSize, bytes.starts(with: "bplist00".utf8) else {
        throw Damaged()
      }
      let trailer = bytes.count - trailerSize
      let offsetSize = Int(bytes[trailer + 6])
      var reader = Reader(bytes: bytes, end: trailer, referenceSize: Int(bytes[trailer + 7]))
      let count = try reader.integer(at: trailer + 8, size: 8)
      let root = try reader.integer(at: trailer + 16, size: 8)
      let table = try reader.integer(at: trailer + 24, size: 8)
      guard (1...8).contains(offsetSize), (1...8).contains(reader.referenceSize), root < count,
        table <= trailer, count <= (trailer - table) / offsetSize
      else { throw Damaged() }
      reader.end = table
      reader.count = count
      nodes = try (0..<count).map { index in
        try reader.node(at: reader.integer(at: table + index * offsetSize, size: offsetSize))
      }
      self.root = root
    }

    /// What a dictionary has for a key; nil where the node is none, or has no such key.
    func value(_ key: String, in index: Int) -> Int? {
      guard nodes.indices.contains(index), case .dictionary(let keys, let values) = nodes[index]
      else { return nil }
      let position = keys.firstIndex { if case .string(key) = nodes[$0] { true } else { false } }
      return position.map { values[$0] }
    }
  }

  extension BinaryPropertyList {
    private struct Reader {
      let bytes: [UInt8]
      /// Where the objects end.
      var end: Int
      let referenceSize: Int
      /// How many objects there are to refer to.
      var count = 0

      func integer(at offset: Int, size: Int) throws -> Int {
        guard let value = Int(exactly: try unsigned(at: offset, size: size)) else {
          throw Damaged()
        }
        return value
      }

      private func unsigned(at offset: Int, size: Int) throws -> UInt64 {
        guard offset >= 0, (1...8).contains(size), offset <= bytes.count - size else {
          throw Damaged()
        }
        return bytes[offset..<(offset + size)].reduce(0) { $0 << 8 | UInt64($1) }
      }

      private func slice(at offset: Int, count: Int) throws -> ArraySlice<UInt8> {
        guard offset >= 0, count >= 0, offset <= end, count <= end - offset else {
          throw Damaged()
        }
        return bytes[offset..<(offset + count)]
      }

      func node(at offset: Int) throws -> Node {
        let marker = try slice(at: offset, count: 1)[offset]
        let low = Int(marker & 15)
        switch marker >> 4 {
        case 0x0: return try simple(low)
        case 0x1: return try integerNode(at: offset + 1, size: 1 << low)
        case 0x2: return .real(try real(at: offset + 1, size: 1 << low))
        case 0x3:
          return .date(.init(timeIntervalSinceReferenceDate: try real(at: offset + 1, size: 8)))
        case 0x8: return .reference(try integer(at: offset + 1, size: low + 1))
        default: return try sized(kind: marker >> 4, at: offset, low)
        }
      }

      private func simple(_ low: Int) throws -> Node {
        switch low {
        case 0: return .null
        case 8: return .bool(false)
        case 9: return .bool(true)
        default: throw Damaged()
        }
      }

      private func integerNode(at offset: Int, size: Int) throws -> Node {
        // Numbers above Int64.max have 16 bytes, the first 8 of them zeros.
        if size == 16 {
          guard try unsigned(at: offset, size: 8) == 0 else { throw Damaged() }
          return .unsigned(try unsigned(at: offset + 8, size: 8))
        }
        let value = try unsigned(at: offset, size: size)
        return .integer(Int(truncatingIfNeeded: value))
      }

      private func real(at offset: Int, size: Int) throws -> Double {
        switch size {
        case 4: return Double(Float(bitPattern: UInt32(try unsigned(at: offset, size: 4))))
        case 8: return Double(bitPattern: try unsigned(at: offset, size: 8))
        default: throw Damaged()
        }
      }

      private func sized(kind: UInt8, at offset: Int, _ low: Int) throws -> Node {
        var (start, size) = (offset + 1, low)
        if low == 15 {
          let marker = try slice(at: start, count: 1)[start]
          guard marker >> 4 == 1, marker & 15 <= 3 else { throw Damaged() }
          let width = 1 << Int(marker & 15)
          size = try integer(at: start + 1, size: width)
          start += 1 + width
        }
        switch kind {
        case 0x4: return .data(Data(try slice(at: start, count: size)))
        case 0x5: return .string(String(decoding: try slice(at: start, count: size), as: UTF8.self))
        case 0x6: return .string(try text(at: start, units: size))
        case 0xA: return .array(try references(at: start, count: size))
        case 0xD:
          return .dictionary(
            keys: try references(at: start, count: size),
            values: try references(at: start + size * referenceSize, count: size))
        default: throw Damaged()
        }
      }

      private func text(at offset: Int, units: Int) throws -> String {
        guard units <= bytes.count else { throw Damaged() }
        let slice = try slice(at: offset, count: units * 2)
        let values = stride(from: slice.startIndex, to: slice.endIndex, by: 2)
          .map { UInt16(slice[$0]) << 8 | UInt16(slice[$0 + 1]) }
        return String(decoding: values, as: UTF16.self)
      }

      private func references(at offset: Int, count size: Int) throws -> [Int] {
        guard size <= bytes.count else { throw Damaged() }
        _ = try slice(at: offset, count: size * referenceSize)
        return try (0..<size).map { index in
          let reference = try integer(at: offset + index * referenceSize, size: referenceSize)
          guard reference < count else { throw Damaged() }
          return reference
        }
      }
    }
  }
#endif
