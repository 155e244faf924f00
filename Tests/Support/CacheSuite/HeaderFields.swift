/// Header fields in their order, under names that ignore case.
package struct HeaderFields: Sendable, Equatable {
  package struct Field: Sendable, Equatable {
    package var name: String
    package var value: String
  }

  package var all: [Field] = []

  package init(_ all: [(name: String, value: String)] = []) {
    self.all = all.map { Field(name: $0.name, value: $0.value) }
  }

  package mutating func add(_ name: String, _ value: String) {
    all.append(Field(name: name, value: value))
  }

  /// All values of a field, joined by a comma and a space; nil without any.
  package subscript(name: String) -> String? {
    let values = all.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }

  package func last(_ name: String) -> String? {
    all.last { $0.name.lowercased() == name.lowercased() }?.value
  }

  package func has(_ name: String) -> Bool { self[name] != nil }
}
