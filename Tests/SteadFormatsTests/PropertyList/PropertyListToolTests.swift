import Foundation
import Testing

@testable import SteadFormats

/// Other programs read what is written here, and what they write is read here.
struct PropertyListToolTests {
  /// Lists that every tool can hold, by the name of their file.
  private static func lists(
    count: Int = 60, where isWanted: (PropertyList) -> Bool = { _ in true }
  ) -> [String: PropertyList] {
    var generator = PropertyListGenerator(seed: 11)
    generator.isPortable = true
    var lists: [String: PropertyList] = [:]
    while lists.count < count {
      let list = PropertyList.dictionary(generator.fields(depth: 4))
      if isWanted(list) { lists["list\(lists.count)"] = list }
    }
    return lists
  }

  /// Writes all lists in both formats, runs a tool, and returns the directory.
  private func write(_ lists: [String: PropertyList]) throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    for (name, list) in lists {
      try list.data(format: .binary).write(to: directory.file("\(name).bin"))
      try list.data(format: .xml).write(to: directory.file("\(name).xml"))
    }
    return directory
  }

  @Test func python() throws {
    let lists = Self.lists()
    let directory = try write(lists)
    let script = """
      import pathlib, plistlib, sys
      for binary in pathlib.Path(sys.argv[1]).glob("*.bin"):
          ours = plistlib.loads(binary.read_bytes())
          xml = binary.with_suffix(".xml")
          assert plistlib.loads(xml.read_bytes()) == ours, binary
          theirs = plistlib.dumps(ours, fmt=plistlib.FMT_XML)
          assert theirs == xml.read_bytes(), (theirs, xml.read_bytes())
          binary.with_suffix(".python-xml").write_bytes(theirs)
          theirs = plistlib.dumps(ours, fmt=plistlib.FMT_BINARY)
          binary.with_suffix(".python-bin").write_bytes(theirs)
      """
    try ToolRun.text(["python3", "-c", script, directory.url.filePath])
    for (name, list) in lists {
      for kind in ["python-xml", "python-bin"] {
        #expect(try PropertyList.parse(Data(contentsOf: directory.file("\(name).\(kind)"))) == list)
      }
    }
  }

  /// A reader and a writer with the same mistake would agree with each other; Python says what each
  /// value is.
  @Test func `Python means the same by each kind`() throws {
    let directory = try TemporaryDirectory()
    let script = """
      import datetime, pathlib, plistlib, sys
      value = {
          "true": True, "false": False, "one": 1, "minus": -1, "big": 2**64 - 1, "min": -2**63,
          "half": 0.5, "text": "a", "wide": "\\U0001F600", "data": b"\\x00\\xff",
          "date": datetime.datetime(2001, 1, 1, 0, 0, 5), "array": [1, [True]], "empty": {},
          "uid": plistlib.UID(70000),
      }
      folder = pathlib.Path(sys.argv[1])
      folder.joinpath("theirs").write_bytes(plistlib.dumps(value, fmt=plistlib.FMT_BINARY))
      ours = folder.joinpath("ours")
      if ours.exists():
          read = plistlib.loads(ours.read_bytes())
          assert read == value, read
          assert [type(read[key]) for key in value] == [type(value[key]) for key in value]
      """
    try ToolRun.text(["python3", "-c", script, directory.url.filePath])
    let read = try PropertyList.parse(Data(contentsOf: directory.file("theirs")))
    #expect(
      read
        == .dictionary([
          "true": .bool(true), "false": .bool(false), "one": .integer(1), "minus": .integer(-1),
          "big": .unsignedInteger(.max), "min": .integer(.min), "half": .double(0.5),
          "text": .string("a"), "wide": .string("\u{1F600}"), "data": .data(Data([0, 0xFF])),
          "date": .date(Date(timeIntervalSinceReferenceDate: 5)),
          "array": .array([.integer(1), .array([.bool(true)])]), "empty": .dictionary([:]),
          "uid": .dictionary(["CF$UID": .integer(70_000)]),
        ]))
    try read.data().write(to: directory.file("ours"))
    try ToolRun.text(["python3", "-c", script, directory.url.filePath])
  }

  /// Foundation's tool, which takes two spellings of "é" for one key.
  @Test func plutil() throws {
    let lists = Self.lists(count: 12) { !$0.hasKeysOfOneMeaning }
    let directory = try write(lists)
    for (name, list) in lists {
      for (kind, format) in [("bin", "xml1"), ("xml", "binary1")] {
        let output = directory.file("\(name).\(format)")
        try ToolRun.text([
          "plutil", "-convert", format, "-o", output.filePath,
          directory.file("\(name).\(kind)").filePath,
        ])
        #expect(try PropertyList.parse(Data(contentsOf: output)) == list)
      }
    }
  }

  #if !canImport(Darwin)
    /// Debian's tool, of the package libplist-utils, which writes a `Double` as a `Float` when that
    /// loses nothing.
    @Test func plistutil() throws {
      let lists = Self.lists()
      let directory = try write(lists)
      for (name, list) in lists {
        for (kind, format) in [("bin", "xml"), ("xml", "bin")] {
          let output = directory.file("\(name).debian-\(format)")
          try ToolRun.text([
            "plistutil", "-f", format, "-o", output.filePath, "-i",
            directory.file("\(name).\(kind)").filePath,
          ])
          #expect(try PropertyList.parse(Data(contentsOf: output)).widened == list)
        }
      }
    }
  #endif
}

extension PropertyList {
  /// The same with every `Float` as a `Double`.
  fileprivate var widened: PropertyList {
    switch self {
    case .float(let number): .double(Double(number))
    case .array(let elements): .array(elements.map(\.widened))
    case .dictionary(let fields):
      .dictionary(Fields(fields.map { .init($0.key, $0.value.widened) }))
    default: self
    }
  }

  fileprivate var hasKeysOfOneMeaning: Bool {
    switch self {
    case .array(let elements): elements.contains(where: \.hasKeysOfOneMeaning)
    case .dictionary(let fields):
      Set(fields.map(\.key)).count < fields.count
        || fields.contains(where: \.value.hasKeysOfOneMeaning)
    default: false
    }
  }
}
