import Foundation
import Testing

@testable import SteadPreferences

/// `Codable` values as trees of property list values.
struct TreeCodingTests {
  struct Document: Codable, Equatable {
    enum Kind: String, Codable { case note, list }
    enum Mark: Codable, Equatable { case none, pin(at: Int), tag(String) }
    var kind = Kind.list
    var title = "A"
    var count = -3
    var large = UInt64.max
    var ratio = 0.1
    var isOpen = true
    var date = Date(timeIntervalSinceReferenceDate: 0.123)
    var bytes = Data([1, 2, 3])
    var id: UUID? = UUID()
    var missing: String?
    var marks: [Mark] = [.none, .pin(at: 4), .tag("x")]
    var grid = [[1, 2], [], [3]]
    var names = ["b": 1, "a": 2]
    var byNumber = [7: "seven"]
    var range = 1..<4
    var holes: [Int?] = [1, nil, 3]
  }

  @Test func `gives back what was stored`() throws {
    let document = Document()
    let tree = try #require(try TreeEncoder.tree(of: document))
    #expect(try TreeDecoder(tree, path: []).decode(Document.self) == document)
  }

  /// Foundation's encoder is the measure: the same tree, so the same file.
  @Test func `stores what Foundation would store`() throws {
    let document = Document()
    let tree = try #require(try TreeEncoder.tree(of: document))
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    let theirs = try encoder.encode(document)
    let ours = try PropertyListDecoder().decode(
      Document.self,
      from: PropertyListSerialization.data(
        fromPropertyList: tree.anyValue, format: .binary, options: 0))
    #expect(ours == document)
    let object = try PropertyListSerialization.propertyList(from: theirs, format: nil)
    #expect(try PropertyList(validating: object) == tree)
  }

  @Test func `reads what Foundation stores`() throws {
    let document = Document()
    let object = try PropertyListSerialization.propertyList(
      from: try PropertyListEncoder().encode(document), format: nil)
    #expect(
      try TreeDecoder(PropertyList(validating: object), path: []).decode(Document.self) == document)
  }

  class Animal: Codable {
    var legs = 4
  }

  final class Dog: Animal {
    var name = "Rex"
    private enum CodingKeys: CodingKey { case name }
    override init() { super.init() }
    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      name = try container.decode(String.self, forKey: .name)
      try super.init(from: container.superDecoder())
    }
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(name, forKey: .name)
      try super.encode(to: container.superEncoder())
    }
  }

  @Test func `keeps superclasses`() throws {
    let dog = Dog()
    (dog.legs, dog.name) = (3, "Bo")
    let tree = try #require(try TreeEncoder.tree(of: dog))
    #expect(tree == ["name": .string("Bo"), "super": ["legs": .integer(3)].asValue].asValue)
    let read = try TreeDecoder(tree, path: []).decode(Dog.self)
    #expect(read.legs == 3)
    #expect(read.name == "Bo")
  }

  /// Writes itself by nested containers, as types do whose stored form is not their own.
  struct Place: Codable, Equatable {
    var latitude = 1.0, longitude = 2.0
    var tags = ["a", "b"]
    enum CodingKeys: CodingKey { case position, tags }

    init() {}
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      var position = try container.nestedUnkeyedContainer(forKey: .position)
      #expect(position.count == 2)
      latitude = try position.decode(Double.self)
      longitude = try position.decode(Double.self)
      #expect(position.isAtEnd)
      #expect(throws: DecodingError.self) { try position.decode(Double.self) }
      let names = try container.nestedContainer(keyedBy: NestedKey.self, forKey: .tags)
      tags = try names.allKeys.map { try names.decode(String.self, forKey: $0) }
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      var position = container.nestedUnkeyedContainer(forKey: .position)
      try position.encode(latitude)
      try position.encode(longitude)
      var names = container.nestedContainer(keyedBy: NestedKey.self, forKey: .tags)
      for (index, tag) in tags.enumerated() {
        try names.encode(tag, forKey: NestedKey(intValue: index))
      }
    }
  }

  @Test func `keeps nested containers`() throws {
    let tree = try #require(try TreeEncoder.tree(of: Place()))
    let position = PropertyList.array([.double(1), .double(2)])
    let tags = ["0": .string("a"), "1": .string("b")].asValue
    #expect(tree == ["position": position, "tags": tags].asValue)
    #expect(try TreeDecoder(tree, path: []).decode(Place.self) == Place())
  }

  @Test(arguments: ["$null", "$$null", "$$$null", "null", "$nullable", "$"])
  func `tells texts from nil`(text: String) throws {
    let texts: [String?] = [text, nil]
    let tree = try #require(try TreeEncoder.tree(of: texts))
    #expect(try TreeDecoder(tree, path: []).decode([String?].self) == texts)
  }

  @Test func `nil alone is nothing`() throws {
    #expect(try TreeEncoder.tree(of: Document?.none) == nil)
  }

  /// A type that tries one kind after the other must not get a boolean for a number.
  struct Anything: Codable, Equatable {
    var kind: String
    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if (try? container.decode(Bool.self)) != nil {
        kind = "Bool"
      } else if (try? container.decode(Int.self)) != nil {
        kind = "Int"
      } else if (try? container.decode(Double.self)) != nil {
        kind = "Double"
      } else {
        kind = (try? container.decode(String.self)) == nil ? "none" : "String"
      }
    }
  }

  @Test(
    arguments: [
      (.bool(true), "Bool"), (.integer(1), "Int"), (.double(1), "Double"), (.string("1"), "String"),
      (.date(.distantPast), "none"),
    ] as [(PropertyList, String)])
  func `reads no kind as another`(stored: PropertyList, kind: String) throws {
    #expect(try TreeDecoder(stored, path: []).decode(Anything.self).kind == kind)
  }

  @Test func `reads numbers without fraction as Double`() throws {
    #expect(try TreeDecoder(.array([.integer(5)]), path: []).decode([Double].self) == [5])
  }

  @Test func `stores addresses as text`() throws {
    let url = try #require(URL(string: "https://example.com"))
    let tree = try TreeEncoder.tree(of: ["home": url])
    #expect(tree == ["home": .string("https://example.com")].asValue)
    #expect(try TreeDecoder(#require(tree), path: []).decode([String: URL].self) == ["home": url])
  }

  indirect enum Nest: Codable { case end, deeper(Nest) }

  @Test func `refuses what is too deep`() throws {
    var nest = Nest.end
    for _ in 0..<PropertyList.maximumDepth { nest = .deeper(nest) }
    #expect(throws: PreferencesError.self) { try TreeEncoder.tree(of: nest) }
    var stored = PropertyList.integer(1)
    for _ in 0...PropertyList.maximumDepth { stored = ["a": stored].asValue }
    #expect(throws: PreferencesError.self) {
      try TreeDecoder(stored, path: []).decode(Chain.self)
    }
  }

  final class Chain: Decodable {
    let next: Chain?
    private enum CodingKeys: String, CodingKey { case next = "a" }
  }

  @Test func `names the missing key`() throws {
    #expect { try TreeDecoder(.dictionary([:]), path: []).decode(Document.self) } throws: {
      guard case .keyNotFound(let key, _)? = $0 as? DecodingError else { return false }
      return key.stringValue == "kind"
    }
  }
}

/// A key of any name.
private struct NestedKey: CodingKey {
  let stringValue: String
  var intValue: Int? { Int(stringValue) }

  init(stringValue: String) { self.stringValue = stringValue }
  init(intValue: Int) { stringValue = String(intValue) }
}
