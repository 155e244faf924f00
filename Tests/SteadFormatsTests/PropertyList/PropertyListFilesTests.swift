import Foundation
import Testing

@testable import SteadFormats

/// Keys that are hard to hold, and files that Foundation writes.
struct PropertyListFilesTests {
  private static let exotic: [String] = [
    "\u{E9}", "e\u{301}", "", "a\u{0}b", "\u{0}", "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}",
    "a b", "\u{FFFD}",
    "\u{10FFFF}", " ", "\u{FEFF}", String(repeating: "k", count: 70_000),
  ]

  @Test func `exotic keys are kept`() throws {
    let fields = PropertyList.Fields(
      Self.exotic.enumerated().map { .init($1, .array([.string($1), .integer(Int64($0))])) })
    #expect(fields.count == Self.exotic.count)
    let list = PropertyList.dictionary(fields)
    #expect(try PropertyList.parse(list.data()) == list)
    var visited: [String] = []
    try list.data().withUnsafeBytes { bytes in
      try BinaryPropertyList.decode(bytes) { key, _ in visited.append(key) }
    }
    #expect(zip(visited, fields).allSatisfy { $0.utf8.elementsEqual($1.key.utf8) })
    var writable = fields
    for key in Self.exotic where key.contains("\u{0}") { writable[key] = nil }
    let xml = try PropertyList.dictionary(writable).data(format: .xml)
    #expect(try PropertyList.parse(xml) == .dictionary(writable))
  }

  @Test func `of a key that is there twice, the last value counts`() throws {
    let twice: [PropertyList.Fields.Field] = [.init("a", .integer(1)), .init("a", .integer(2))]
    let data = try BinaryPropertyList.encode(twice)
    #expect(try PropertyList.parse(data) == .dictionary(["a": .integer(2)]))
  }

  /// A half of a surrogate pair is a text to Foundation, and none to Swift.
  @Test func `halves of pairs become replacement characters`() throws {
    var data = try PropertyList.string("a\u{1F600}").data()
    let place = try #require(data.firstRange(of: Data([0xDE, 0x00])))
    data.replaceSubrange(place, with: [0x00, 0x62])
    #expect(try PropertyList.parse(data) == .string("a\u{FFFD}b"))
  }

  @Test func `a keyed archive survives`() throws {
    let object: NSDictionary = [
      "list": [1, 2.5, "text"] as NSArray, "date": Date(timeIntervalSince1970: 5),
    ]
    let archive = try NSKeyedArchiver.archivedData(
      withRootObject: object, requiringSecureCoding: false)
    let list = try PropertyList.parse(archive)
    guard case .dictionary(let fields) = list, case .dictionary(let top) = fields["$top"] else {
      throw PropertyListError.damaged("not an archive", at: nil)
    }
    #expect(top["root"] == .dictionary(["CF$UID": .integer(1)]))
    let again = try NSKeyedUnarchiver(forReadingFrom: list.data())
    again.requiresSecureCoding = false
    let restored = again.decodeObject(forKey: NSKeyedArchiveRootObjectKey) as? NSDictionary
    #expect(restored == object)
  }

  @Test(arguments: [PropertyListSerialization.PropertyListFormat.binary, .xml])
  func `what Foundation writes is read`(
    format: PropertyListSerialization.PropertyListFormat
  ) throws {
    let object: [String: Any] = [
      "int": 1, "negative": -300, "unsigned": UInt64.max, "double": 0.1, "bool": true,
      "text": "caf\u{E9} <&>",
      "date": Date(timeIntervalSinceReferenceDate: 5), "data": Data([1, 2]),
      "array": [1, "x", [true]] as [Any],
      "dictionary": ["a": ["b": 2]],
    ]
    let data = try PropertyListSerialization.data(
      fromPropertyList: object, format: format, options: 0)
    #expect(try PropertyList.parse(data) == PropertyList(validating: object))
  }

  /// What `UserDefaults` of Foundation 6.3 on Linux has left in a directory of settings.
  @Test func `the file of Foundation's UserDefaults is read`() throws {
    let file = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
      "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">
      <dict>
      \t<key>array</key>
      \t<array>
      \t\t<integer>1</integer>
      \t\t<string>x</string>
      \t</array>
      \t<key>bool</key>
      \t<true/>
      \t<key>data</key>
      \t<data>
      \tAQID
      \t</data>
      \t<key>date</key>
      \t<date>2001-01-01T00:00:05Z</date>
      \t<key>double</key>
      \t<real>0.10000000000000001</real>
      \t<key>int</key>
      \t<integer>7</integer>
      \t<key>text</key>
      \t<string>café</string>
      </dict>
      </plist>

      """
    #expect(
      try PropertyList.parse(Data(file.utf8))
        == .dictionary([
          "int": .integer(7), "double": .double(0.1), "bool": .bool(true),
          "text": .string("caf\u{E9}"),
          "data": .data(Data([1, 2, 3])), "date": .date(Date(timeIntervalSinceReferenceDate: 5)),
          "array": .array([.integer(1), .string("x")]),
        ]))
  }
}
