/// The size of the output, so that memory is allocated once.
struct BinaryPropertyListSize {
  /// The maximum number of objects.
  private(set) var objects = 0
  /// About how many bytes: non-ASCII strings take up to twice what is counted.
  private(set) var bytes = 64

  mutating func add(_ value: PropertyList, depth: Int) throws {
    switch value {
    case .bool: addObject(1)
    case .integer, .float, .double, .date: addObject(9)
    case .unsignedInteger: addObject(17)
    case .data(let data): addObject(9 + data.count)
    case .string(let text): add(text)
    case .array(let elements):
      try addContainer(depth: depth)
      for element in elements { try add(element, depth: depth + 1) }
    case .dictionary(let fields): try add(fields.fields, depth: depth)
    }
  }

  mutating func add(_ fields: [PropertyList.Fields.Field], depth: Int) throws {
    try addContainer(depth: depth)
    for index in fields.indices {
      add(fields[index].key)
      try add(fields[index].value, depth: depth + 1)
    }
  }

  private mutating func addContainer(depth: Int) throws {
    guard depth < PropertyList.maximumDepth else { throw PropertyListError.tooDeep() }
    addObject(9)
  }

  private mutating func add(_ text: String) { addObject(9 + text.utf8.count) }

  /// Counts the object, its offset and a reference to it.
  private mutating func addObject(_ size: Int) {
    objects += 1
    bytes += size + 8
  }
}
