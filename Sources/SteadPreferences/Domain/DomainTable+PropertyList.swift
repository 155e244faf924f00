import SteadFormats

extension DomainTable {
  /// The keys and values of a binary property list.
  ///
  /// - Throws: `PropertyListError` when it is damaged or holds no dictionary.
  init(propertyList bytes: UnsafeRawBufferPointer) throws {
    self.init()
    var decoder = try BinaryPropertyListDecoder(bytes)
    reserveCapacity(try decoder.rootCount())
    try decoder.visitRoot { key, value in replace(key, with: value) }
  }
}
