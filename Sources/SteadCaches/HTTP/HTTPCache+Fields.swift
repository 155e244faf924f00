extension HTTPCache {
  /// Header fields in order; names are compared without regard to case.
  ///
  /// A name may occur more than once, as `Set-Cookie` does. Finding a field takes time in proportion to their number,
  /// which is small in a response.
  public struct Fields: Sendable, Hashable {
    /// One line of a header.
    public struct Field: Sendable, Hashable {
      /// The name as it was written.
      public var name: String
      /// The value without the whitespace around it.
      public var value: String

      /// Makes a field of a name and a value.
      public init(name: String, value: String) {
        self.name = name
        self.value = value
      }

      /// Whether two fields have the same name, in any case, and the same value.
      public static func == (one: Field, other: Field) -> Bool {
        one.name.isSameFieldName(as: other.name) && one.value == other.value
      }

      /// Hashes the name, in any case, and the value.
      public func hash(into hasher: inout Hasher) {
        hasher.combine(name.lowercasedASCII)
        hasher.combine(value)
      }
    }

    private var fields: [Field]

    /// Makes fields of names and values.
    public init(_ fields: some Sequence<(name: String, value: String)> = []) {
      self.fields = fields.map { Field(name: $0.name, value: $0.value) }
    }

    /// Makes fields from the fields of a message.
    public init(_ fields: [Field]) { self.fields = fields }

    /// The value of a name; the values of a name that occurs more than once are joined with commas.
    ///
    /// Setting a value replaces all fields of the name; setting nil removes them.
    public subscript(name: String) -> String? {
      get {
        var joined: String?
        for field in fields where field.name.isSameFieldName(as: name) {
          joined = joined.map { "\($0), \(field.value)" } ?? field.value
        }
        return joined
      }
      set {
        let index = fields.firstIndex { $0.name.isSameFieldName(as: name) }
        guard let newValue else { return removeAll(named: name) }
        guard let index else { return append(newValue, named: name) }
        fields[index].value = newValue
        let rest = fields[(index + 1)...].filter { !$0.name.isSameFieldName(as: name) }
        fields.replaceSubrange((index + 1)..., with: rest)
      }
    }

    /// The values of a name, one for each occurrence.
    public func values(named name: String) -> [String] {
      fields.compactMap { $0.name.isSameFieldName(as: name) ? $0.value : nil }
    }

    /// Whether a name occurs.
    public func contains(_ name: String) -> Bool {
      fields.contains { $0.name.isSameFieldName(as: name) }
    }

    /// Adds a field after the others, even if its name already occurs.
    public mutating func append(_ value: String, named name: String) {
      fields.append(Field(name: name, value: value))
    }

    /// Removes all fields of a name.
    public mutating func removeAll(named name: String) {
      fields.removeAll { $0.name.isSameFieldName(as: name) }
    }

    /// Removes the fields that a closure chooses.
    public mutating func removeAll(where isUnwanted: (Field) throws -> Bool) rethrows {
      try fields.removeAll(where: isUnwanted)
    }
  }
}

extension HTTPCache.Fields: RandomAccessCollection {
  /// The first field's index, 0.
  public var startIndex: Int { 0 }
  /// The number of fields.
  public var endIndex: Int { fields.count }
  /// The field at an index.
  public subscript(position: Int) -> Field { fields[position] }
}

extension HTTPCache.Fields: ExpressibleByDictionaryLiteral {
  /// Makes fields of names and values, which may repeat a name.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements.map { Field(name: $0.0, value: $0.1) })
  }
}

extension String {
  /// Whether two names of fields differ in the case of ASCII letters at most.
  func isSameFieldName(as other: String) -> Bool {
    let (one, two) = (utf8, other.utf8)
    return one.count == two.count
      && zip(one, two).allSatisfy { $0.lowercasedASCII == $1.lowercasedASCII }
  }

  /// The string with ASCII letters in lower case, whatever else it holds.
  var lowercasedASCII: String {
    utf8.contains { $0 != $0.lowercasedASCII }
      ? String(decoding: utf8.map(\.lowercasedASCII), as: UTF8.self) : self
  }
}

extension UInt8 {
  /// The byte of a letter in lower case, or the byte itself.
  var lowercasedASCII: UInt8 {
    self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self
  }
}
