/// The array that a value decodes itself from.
struct TreeElementsDecoder: UnkeyedDecodingContainer {
  let elements: [PropertyList]
  let codingPath: [any CodingKey]
  private(set) var currentIndex = 0

  init(elements: [PropertyList], codingPath: [any CodingKey]) {
    self.elements = elements
    self.codingPath = codingPath
  }

  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex == elements.count }

  /// Advances to the next element only when this one is nil, as the protocol requires.
  mutating func decodeNil() throws -> Bool {
    let isNil = try current(Never?.self).decodeNil()
    if isNil { currentIndex += 1 }
    return isNil
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let value = try current(type).decode(type)
    currentIndex += 1
    return value
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    let container = try current(type).container(keyedBy: type)
    currentIndex += 1
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try current([Any].self).unkeyedContainer()
    currentIndex += 1
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let decoder = try current((any Decoder).self)
    currentIndex += 1
    return decoder
  }

  private func current(_ type: Any.Type) throws -> TreeDecoder {
    let path = codingPath + [TreeKey.index(currentIndex)]
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        type, .init(codingPath: path, debugDescription: "The stored array has no more elements."))
    }
    return TreeDecoder(elements[currentIndex], path: path)
  }
}
