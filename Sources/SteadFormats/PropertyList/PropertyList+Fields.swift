import Foundation

extension PropertyList {
  /// The keys and values of a dictionary, sorted by the keys' bytes.
  ///
  /// Keys are distinguished by their UTF-8, as in files, whereas a `[String: …]` would treat two spellings of
  /// "é" as one key. A look-up is a binary search.
  public struct Fields: Sendable, Hashable {
    /// A key and its value.
    public struct Field: Sendable, Hashable {
      /// The key.
      public let key: String
      /// The value.
      public var value: PropertyList

      /// A key and its value.
      public init(_ key: String, _ value: PropertyList) {
        self.key = key
        self.value = value
      }

      /// Whether key and value are the same, byte for byte.
      public static func == (left: Field, right: Field) -> Bool {
        left.key.isSameText(as: right.key) && left.value == right.value
      }

      /// Hashes the key's bytes and the value.
      public func hash(into hasher: inout Hasher) {
        key.hashBytes(into: &hasher)
        hasher.combine(value)
      }
    }

    /// Sorted by the keys' bytes.
    private(set) var fields: [Field]

    /// No fields.
    public init() { fields = [] }

    /// Makes fields in any order; if several have one key, the last counts.
    public init(_ fields: some Sequence<Field>) {
      let given = Array(fields)
      // Fields from a file are usually sorted already, and comparing neighbours is quick.
      if zip(given, given.dropFirst()).allSatisfy({ $0.key.comesBefore($1.key) }) {
        self.fields = given
        return
      }
      self.fields = []
      self.fields.reserveCapacity(given.count)
      for index in Self.sortedIndices(of: given) {
        if let last = self.fields.last, last.key.isSameText(as: given[index].key) {
          self.fields.removeLast()
        }
        self.fields.append(given[index])
      }
    }

    /// The positions of fields, sorted by key and then by position.
    ///
    /// Keys are compared by the eight bytes after their common prefix, as one number, and by all their bytes
    /// only when those are equal.
    private static func sortedIndices(of fields: [Field]) -> [Int] {
      let shared = sharedPrefixCount(of: fields)
      let sortKeys = fields.indices.map { index in
        (start: fields[index].key.prefixNumber(from: shared), index: index)
      }
      return sortKeys.sorted { left, right in
        if left.start != right.start { return left.start < right.start }
        let (leftKey, rightKey) = (fields[left.index].key, fields[right.index].key)
        return leftKey.comesBefore(rightKey)
          || left.index < right.index && leftKey.isSameText(as: rightKey)
      }.map(\.index)
    }

    /// The length of all keys' common prefix.
    private static func sharedPrefixCount(of fields: [Field]) -> Int {
      guard let first = fields.first else { return 0 }
      return fields.dropFirst().reduce(first.key.utf8.count) { count, field in
        field.key.countShared(with: first.key, limit: count)
      }
    }

    /// The value of a key; setting nil removes the key.
    public subscript(key: String) -> PropertyList? {
      get {
        let index = insertionIndex(of: key)
        guard index < fields.count, fields[index].key.isSameText(as: key) else { return nil }
        return fields[index].value
      }
      set {
        let index = insertionIndex(of: key)
        let exists = index < fields.count && fields[index].key.isSameText(as: key)
        switch (exists, newValue) {
        case (true, let value?): fields[index].value = value
        case (true, nil): fields.remove(at: index)
        case (false, let value?): fields.insert(Field(key, value), at: index)
        case (false, nil): break
        }
      }
    }

    /// The first position whose key does not come before `key`.
    private func insertionIndex(of key: String) -> Int {
      var (low, high) = (0, fields.count)
      while low < high {
        let middle = (low + high) / 2
        if fields[middle].key.comesBefore(key) { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }
}

extension PropertyList.Fields: RandomAccessCollection {
  /// The first position.
  public var startIndex: Int { fields.startIndex }
  /// The position after the last.
  public var endIndex: Int { fields.endIndex }
  /// The key and value at a position.
  public subscript(position: Int) -> Field { fields[position] }
}

extension PropertyList.Fields: ExpressibleByDictionaryLiteral {
  /// Makes fields from a literal; if several have one key, the last counts.
  public init(dictionaryLiteral elements: (String, PropertyList)...) {
    self.init(elements.map { Field($0, $1) })
  }
}

extension String {
  /// Whether the UTF-8 is the same; `==` also treats some strings with other bytes as equal.
  @inline(__always)
  package func isSameText(as other: String) -> Bool {
    let count = utf8.count
    guard count == other.utf8.count else { return false }
    let isSame = utf8.withContiguousStorageIfAvailable { left in
      other.utf8.withContiguousStorageIfAvailable { right in left.hasSameBytes(as: right) }
    }
    // A string stored in an object of Apple's Foundation may lack such storage.
    return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
  }

  /// Whether the UTF-8 comes before the other's.
  package func comesBefore(_ other: String) -> Bool {
    let comesBefore = utf8.withContiguousStorageIfAvailable { left in
      other.utf8.withContiguousStorageIfAvailable { right in left.comesBefore(right) }
    }
    return (comesBefore ?? nil) ?? utf8.lexicographicallyPrecedes(other.utf8)
  }

  // MARK: - Prefixes

  /// Eight bytes of the UTF-8, padded with zeros, as a number that sorts as they do.
  fileprivate func prefixNumber(from offset: Int) -> UInt64 {
    let read = utf8.withContiguousStorageIfAvailable { bytes in
      let rest = UnsafeRawBufferPointer(bytes).dropFirst(offset).prefix(8)
      if rest.count == 8 {
        let number = UnsafeRawBufferPointer(rebasing: rest).loadUnaligned(as: UInt64.self)
        return UInt64(bigEndian: number)
      }
      return rest.reduce(0) { $0 << 8 | UInt64($1) } << (64 - 8 * UInt64(rest.count))
    }
    // All eight are equal: then all the bytes are compared.
    return read ?? 0
  }

  /// How many of the first `limit` bytes of the UTF-8 agree, up to the first that does not.
  fileprivate func countShared(with other: String, limit: Int) -> Int {
    let shared = utf8.withContiguousStorageIfAvailable { left in
      other.utf8.withContiguousStorageIfAvailable { right in
        let limit = Swift.min(limit, left.count, right.count)
        return (0..<limit).first { left[$0] != right[$0] } ?? limit
      }
    }
    return (shared ?? nil) ?? 0
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether the other begins with the same bytes.
  @inline(__always)
  fileprivate func hasSameBytes(as other: Self) -> Bool {
    guard let left = baseAddress, let right = other.baseAddress else { return true }
    return memcmp(left, right, count) == 0
  }

  @inline(__always)
  fileprivate func comesBefore(_ other: Self) -> Bool {
    guard let left = baseAddress, let right = other.baseAddress else { return count < other.count }
    let order = memcmp(left, right, Swift.min(count, other.count))
    return order < 0 || order == 0 && count < other.count
  }
}
