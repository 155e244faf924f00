import Foundation

extension PropertyList {
  /// The keys and values of a dictionary, sorted by the keys' bytes.
  ///
  /// Keys are compared by their UTF-8, as in files, whereas a `[String: …]` treats two spellings of
  /// "é" as one key and would lose a value. A look-up is a binary search, O(log n); setting a new
  /// key is O(n).
  ///
  /// ```swift
  /// var fields: PropertyList.Fields = ["theme": .string("dark")]
  /// fields["size"] = .integer(12)
  /// fields["theme"] = nil
  /// ```
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

    /// Invariant: sorted by the keys' bytes, without duplicates.
    private(set) var fields: [Field]

    /// No fields.
    public init() { fields = [] }

    /// Makes fields in any order; if several have one key, the last counts.
    ///
    /// O(n) if they are sorted already, else O(n log n).
    public init(_ fields: some Sequence<Field>) {
      let given = Array(fields)
      // Fields from a file are usually sorted already, and comparing neighbours is quick. Strictly
      // ascending also means without duplicates.
      if zip(given, given.dropFirst()).allSatisfy({ $0.key.comesBefore($1.key) }) {
        self.fields = given
        return
      }
      self.fields = []
      self.fields.reserveCapacity(given.count)
      for index in Self.sortedIndices(of: given) {
        // Equal keys are neighbours in the order of their indices, so the last one stays.
        if let last = self.fields.last, last.key.isSameText(as: given[index].key) {
          self.fields.removeLast()
        }
        self.fields.append(given[index])
      }
    }

    /// The indices of fields, sorted by key and then by index.
    ///
    /// Keys of one app tend to begin alike (`com.example.`), so comparing from their first byte
    /// would find the difference late. Their common prefix is skipped, and the next eight bytes are
    /// compared as one integer; the whole keys only if those are equal.
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

    /// The length of the longest common prefix of all keys, in bytes.
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

    /// The first index whose key does not come before `key`: that of `key` if it exists, else where
    /// it would be inserted.
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
  /// The index of the first field.
  public var startIndex: Int { fields.startIndex }
  /// The index after the last field.
  public var endIndex: Int { fields.endIndex }
  /// The field at an index.
  public subscript(position: Int) -> Field { fields[position] }
}

extension PropertyList.Fields: ExpressibleByDictionaryLiteral {
  /// Makes fields from a literal; if several have one key, the last counts.
  public init(dictionaryLiteral elements: (String, PropertyList)...) {
    self.init(elements.map { Field($0, $1) })
  }
}

extension String {
  /// Whether the UTF-8 is the same. `==` compares by canonical equivalence, so it treats strings of
  /// different bytes as equal.
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

  /// Whether the UTF-8 is lexicographically before that of another string.
  package func comesBefore(_ other: String) -> Bool {
    let comesBefore = utf8.withContiguousStorageIfAvailable { left in
      other.utf8.withContiguousStorageIfAvailable { right in left.comesBefore(right) }
    }
    return (comesBefore ?? nil) ?? utf8.lexicographicallyPrecedes(other.utf8)
  }

  // MARK: - Prefixes

  /// Eight bytes of the UTF-8 from an offset on, as an integer that sorts as they do; missing bytes
  /// count as zeros.
  fileprivate func prefixNumber(from offset: Int) -> UInt64 {
    let read = utf8.withContiguousStorageIfAvailable { bytes in
      let rest = UnsafeRawBufferPointer(bytes).dropFirst(offset).prefix(8)
      if rest.count == 8 {
        let number = UnsafeRawBufferPointer(rebasing: rest).loadUnaligned(as: UInt64.self)
        return UInt64(bigEndian: number)
      }
      return rest.reduce(0) { $0 << 8 | UInt64($1) } << (64 - 8 * UInt64(rest.count))
    }
    // Without contiguous storage all numbers are 0, so whole keys are compared.
    return read ?? 0
  }

  /// How many of the first `limit` bytes of the UTF-8 are the same in both strings, up to the first
  /// difference.
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
  /// Whether the other buffer, which is at least as long, begins with these bytes.
  @inline(__always)
  fileprivate func hasSameBytes(as other: Self) -> Bool {
    guard let left = baseAddress, let right = other.baseAddress else { return true }
    return memcmp(left, right, count) == 0
  }

  /// Whether the bytes are lexicographically before those of another buffer.
  @inline(__always)
  fileprivate func comesBefore(_ other: Self) -> Bool {
    guard let left = baseAddress, let right = other.baseAddress else { return count < other.count }
    let order = memcmp(left, right, Swift.min(count, other.count))
    return order < 0 || order == 0 && count < other.count
  }
}
