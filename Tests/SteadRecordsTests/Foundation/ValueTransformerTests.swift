#if !canImport(Darwin)
  import Foundation
  import SwiftData
  import Testing

  final class ReversingTransformer: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { NSString.self }
    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? {
      (value as? String).map { String($0.reversed()) }
    }
  }

  final class Route: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let stops: [String]
    init(stops: [String]) { self.stops = stops }
    func encode(with coder: NSCoder) { coder.encode(NSArray(array: stops), forKey: "stops") }
    init?(coder: NSCoder) {
      let found = coder.decodeObject(of: [NSArray.self, NSString.self], forKey: "stops")
      guard let stops = found as? [String] else { return nil }
      self.stops = stops
    }
  }

  final class RouteTransformer: NSSecureUnarchiveFromDataTransformer {
    override class var allowedTopLevelClasses: [AnyClass] {
      super.allowedTopLevelClasses + [Route.self]
    }
  }

  final class TextTransformer: NSSecureUnarchiveFromDataTransformer {
    override class var allowedTopLevelClasses: [AnyClass] { [NSString.self] }
  }

  @Suite struct ValueTransformerTests {
    @Test func `finds what was registered`() {
      let name = NSValueTransformerName("findsWhatWasRegistered")
      #expect(ValueTransformer(forName: name) == nil)
      let transformer = ReversingTransformer()
      ValueTransformer.setValueTransformer(transformer, forName: name)
      #expect(ValueTransformer(forName: name) === transformer)
      #expect(ValueTransformer.valueTransformerNames().contains(name))
      ValueTransformer.setValueTransformer(nil, forName: name)
      #expect(ValueTransformer(forName: name) == nil)
    }

    @Test func `makes one of a class that bears the name`() throws {
      let name = NSValueTransformerName(NSStringFromClass(ReversingTransformer.self))
      let transformer = try #require(ValueTransformer(forName: name))
      #expect(transformer is ReversingTransformer)
      #expect(ValueTransformer(forName: name) === transformer)
      #expect(ValueTransformer(forName: NSValueTransformerName("Foundation.NSArray")) == nil)
    }

    @Test func `turns values there and back`() {
      let transformer = ReversingTransformer()
      #expect(transformer.transformedValue("abc") as? String == "cba")
      #expect(transformer.reverseTransformedValue("cba") as? String == "abc")
      #expect(ValueTransformer().transformedValue(1) as? Int == 1)
      #expect(ValueTransformer().reverseTransformedValue(1) == nil)
    }

    @Test func `has the system's transformers`() throws {
      let not = try #require(ValueTransformer(forName: .negateBooleanTransformerName))
      #expect(not.transformedValue(true) as? Bool == false)
      let isNil = try #require(ValueTransformer(forName: .isNilTransformerName))
      #expect(isNil.transformedValue(nil) as? Bool == true)
      let isNotNil = try #require(ValueTransformer(forName: .isNotNilTransformerName))
      #expect(isNotNil.transformedValue(nil) as? Bool == false)
      let archive = ValueTransformer(forName: .secureUnarchiveFromDataTransformerName)
      #expect(archive is NSSecureUnarchiveFromDataTransformer)
    }
  }

  @Suite struct NSSecureUnarchiveFromDataTransformerTests {
    let transformer = NSSecureUnarchiveFromDataTransformer()

    private func reloaded(_ value: Any) -> Any? {
      transformer.transformedValue(transformer.reverseTransformedValue(value))
    }

    @Test func `keeps values of the usual classes`() throws {
      #expect(reloaded("text") as? String == "text")
      #expect(reloaded(["a", "b"]) as? [String] == ["a", "b"])
      #expect(reloaded([String]()) as? [String] == [])
      #expect(reloaded([1, 2, 3]) as? [Int] == [1, 2, 3])
      #expect(reloaded(2.5) as? Double == 2.5)
      #expect(reloaded(["a": [1, 2]]) as? [String: [Int]] == ["a": [1, 2]])
      #expect(reloaded(Set(["a", "b"])) as? Set<String> == ["a", "b"])
      let date = Date(timeIntervalSinceReferenceDate: 0.1)
      #expect(reloaded(date) as? Date == date)
      #expect(reloaded(Data([1, 2])) as? Data == Data([1, 2]))
      #expect(reloaded(Data()) as? Data == Data())
      let url = try #require(URL(string: "https://example.com/a?b"))
      #expect(reloaded(url) as? URL == url)
      let uuid = UUID()
      #expect(reloaded([uuid]) as? [UUID] == [uuid])
      #expect(reloaded(NSNull()) is NSNull)
      #expect(reloaded(NSArray(array: ["a"])) as? [String] == ["a"])
    }

    @Test func `keeps objects of an allowed class`() throws {
      let transformer = RouteTransformer()
      let data = try #require(
        transformer.reverseTransformedValue(Route(stops: ["A", "B"])) as? Data)
      #expect((transformer.transformedValue(data) as? Route)?.stops == ["A", "B"])
      // Foundation's unarchiver on Linux ends the process here.
      #expect(self.transformer.transformedValue(data) == nil)
      #expect(self.transformer.reverseTransformedValue(Route(stops: [])) == nil)
    }

    @Test func `refuses what is not allowed at the top or inside`() throws {
      let text = TextTransformer()
      #expect(text.transformedValue(text.reverseTransformedValue("a")) as? String == "a")
      #expect(text.reverseTransformedValue(["a"]) == nil)
      #expect(text.transformedValue(transformer.reverseTransformedValue(["a"])) == nil)
      #expect(text.transformedValue(transformer.reverseTransformedValue(1)) == nil)
    }

    @Test func `refuses what cannot be archived`() {
      struct Plain {}
      #expect(transformer.reverseTransformedValue(Plain()) == nil)
      #expect(transformer.reverseTransformedValue([Plain()]) == nil)
      #expect(transformer.reverseTransformedValue(NSObject()) == nil)
      #expect(transformer.reverseTransformedValue(nil) == nil)
    }

    @Test func `refuses what is no archive`() throws {
      #expect(transformer.transformedValue(nil) == nil)
      #expect(transformer.transformedValue("text") == nil)
      #expect(transformer.transformedValue(Data()) == nil)
      #expect(transformer.transformedValue(Data("garbage".utf8)) == nil)
      let list = try PropertyListSerialization.data(
        fromPropertyList: ["a": 1], format: .binary, options: 0)
      #expect(transformer.transformedValue(list) == nil)
    }

    @Test func `survives a damaged archive`() throws {
      // Foundation's unarchiver on Linux ends the process at some of these.
      let value: [String: Any] = ["a": [1, 2.5], "b": ["c": Date()], "d": UUID(), "e": Data([1])]
      let archive = try #require(transformer.reverseTransformedValue(value) as? Data)
      for index in archive.indices {
        for bit in 0..<8 {
          var damaged = archive
          damaged[index] ^= 1 << UInt8(bit)
          _ = transformer.transformedValue(damaged)
        }
        _ = transformer.transformedValue(archive.prefix(index))
      }
    }

    /// `["key": ["key", true, UInt64.max, "zażółć 🐟"]]` with mutable classes and a value that two
    /// places refer to, put together with Python's plistlib.
    @Test func `reads an archive of another maker`() throws {
      let base64 = """
        YnBsaXN0MDDUAQIDBAUGLTBZJGFyY2hpdmVyWCRvYmplY3RzVCR0b3BYJHZlcnNpb25fEA9OU0tl\
        eWVkQXJjaGl2ZXKqBwgREhkaICQlKVUkbnVsbNMJCgsMDQ9WJGNsYXNzV05TLmtleXNaTlMub2Jq\
        ZWN0c4AFoQ6AAqEQgANTa2V50gkLExSABqQVFhcYgAKABIAHgAgJ0hscHR5YJGNsYXNzZXNaJGNs\
        YXNzbmFtZaIeH1xOU0RpY3Rpb25hcnlYTlNPYmplY3TSGxwhIqMiIx9eTlNNdXRhYmxlQXJyYXlX\
        TlNBcnJheRQAAAAAAAAAAP//////////0gkmJyhZTlMuc3RyaW5ngAlpAHoAYQF8APMBQgEHACDY\
        Pdwf0hscKiujKywfXxAPTlNNdXRhYmxlU3RyaW5nWE5TU3RyaW5n0S4vVHJvb3SAARIAAYagAAgA\
        EQAbACQAKQAyAEQATwBVAFwAYwBrAHYAeAB6AHwAfgCAAIQAiQCLAJAAkgCUAJYAmACZAJ4ApwCy\
        ALUAwgDLANAA1ADjAOsA/AEBAQsBDQEgASUBKQE7AUQBRwFMAU4AAAAAAAACAQAAAAAAAAAxAAAA\
        AAAAAAAAAAAAAAABUw==
        """
      let archive = try #require(Data(base64Encoded: base64))
      let value = try #require(transformer.transformedValue(archive) as? [String: [Any]])
      let list = try #require(value["key"])
      #expect(list.count == 4)
      #expect(list.first as? String == "key")
      #expect(list.dropFirst().first as? Bool == true)
      #expect(list.dropFirst(2).first as? UInt64 == .max)
      #expect(list.last as? String == "zażółć 🐟")
    }
  }
#endif
