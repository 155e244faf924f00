import Foundation
import SteadPreferences
import Testing

@testable import SteadTransfer

/// Tables of comma separated values, as RFC 4180 draws them and as programs write them.
struct CSVFileTests {
  private struct Book: Decodable, Equatable {
    enum Shelf: String, Decodable { case home, office }
    var title: String
    var pages: Int?
    var price: Double
    var isRead: Bool
    var bought: Date?
    var shelf: Shelf
    var cover: Data?
  }

  private let directory: TemporaryDirectory
  private let file: URL

  init() throws {
    directory = try TemporaryDirectory(inMemory: true)
    file = directory.file("books.csv")
  }

  @Test func `rows decode by the names of their columns`() throws {
    try write(
      "shelf,title,pages,price,isRead,bought,cover\r\n"
        + "home,\"A \"\"B\"\", C\nD\",12,1.5,true,2001-01-01T00:01:00Z,AQI=\r\n"
        + "office,,,2,false,60.25,\r\n")
    let items = try CSVFile<Book>(file).read { _ in }
    #expect(items.map(\.name) == ["line 2", "line 4"])
    #expect(
      try items.map { try $0.value.get() } == [
        Book(
          title: "A \"B\", C\nD", pages: 12, price: 1.5, isRead: true,
          bought: Date(timeIntervalSinceReferenceDate: 60), shelf: .home, cover: Data([1, 2])),
        Book(
          title: "", pages: nil, price: 2, isRead: false,
          bought: Date(timeIntervalSinceReferenceDate: 60.25), shelf: .office, cover: nil),
      ])
  }

  @Test func `other separators and a byte order mark are read`() throws {
    try write("\u{FEFF}name;note\na;\"1;2\"\n\nb;3,4")
    let items = try CSVFile<[String: String]>(file, separator: ";").read { _ in }
    #expect(items.map(\.name) == ["line 2", "line 4"])
    let rows = try TableRows(separator: ";").read(file)
    #expect(rows == [["name": "a", "note": "1;2"], ["name": "b", "note": "3,4"]])
  }

  @Test func `a field is what is between the separators`() throws {
    let cells = [" a ", "\"\"", "\" b \"", "\"c\r\nd\"", "\"e\rf\"", "\u{0}", "g\"h", "\"i\"\"j\""]
    try write("note\r\n" + cells.joined(separator: "\r\n") + "\r\n")
    let source = CSVFile<Noted>(file, removesItems: true)
    let items = try source.read { _ in }
    #expect(
      try items.map { try $0.value.get().note }
        == [" a ", "", " b ", "c\r\nd", "e\rf", "\u{0}", "g\"h", "i\"j"])
    let first = TransferReceipt.Entry(
      identity: items[0].identity, placement: .init(location: "", digest: ""))
    #expect(try source.remove([first]) == 1)
    let rest = "note\r\n" + cells.dropFirst().joined(separator: "\r\n") + "\r\n"
    #expect(try text() == rest)
  }

  /// A row that does not decode, or has another number of fields, is one that stays.
  @Test func `rows that do not decode are items with an error`() throws {
    let header = "title,price,isRead,shelf\n"
    try write(header + "a,1,yes,home\nb,much,yes,home\nc,1\nd,1,yes,attic\ne,1,yes,home,more\n")
    let moving = try Moving()
    let transfer = Transfer(
      "books", from: .csv(file, of: Book.self, removesItems: true),
      to: .preferences(moving.destination), options: .init(acceptsPartial: true)
    ) { try PreferenceEntry(key: "book.\($0.title)", encoding: $0.title) }
    let report = try transfer.run()
    #expect(report.failures.map(\.item) == ["line 3", "line 4", "line 5", "line 6"])
    let told = "\(report.failures)"
    #expect(!told.contains("much") && !told.contains("attic"), "\(told)")
    #expect(try text() == header + "b,much,yes,home\nc,1\nd,1,yes,attic\ne,1,yes,home,more\n")
    #expect(moving.destination.string(forKey: "book.a") == "a")
  }

  @Test(arguments: [
    ("name,name\na,b\n", "line 1"), ("name\n\"a\nb\n", "line 2"), ("name\n\"a\"b\n", "line 2"),
    ("name\n\u{0}\u{FFFE}", nil), ("", nil),
  ])
  func `what is no table is left alone`(text: String, place: String?) throws {
    try write(text)
    guard let place else {
      #expect(try CSVFile<[String: String]>(file).read { _ in }.count == (text.isEmpty ? 0 : 1))
      return
    }
    let error = try #require(throws: TransferError.self) {
      try CSVFile<[String: String]>(file, removesItems: true).read { _ in }
    }
    #expect(error.code == .unreadable)
    #expect(error.message.contains(place), "\(error)")
    #expect(try self.text() == text)
  }

  @Test func `bytes that are no text are unreadable`() throws {
    try Data([0x61, 0x0A, 0xFF, 0xFE]).write(to: file)
    let error = try #require(throws: TransferError.self) {
      try CSVFile<[String: String]>(file).read { _ in }
    }
    #expect(error.code == .unreadable)
  }

  /// The rows that stay keep their quotes and the ends of their lines.
  @Test func `a removal leaves the other rows as they are`() throws {
    try write("n,text\r\n1,\"a\"\r\n2,b\n3,\"c\r\nc\"\r\n4,d")
    let source = CSVFile<Numbered>(file, removesItems: true)
    let items = try source.read { _ in }
    #expect(try source.remove([entry(items[1])]) == 1)
    #expect(try text() == "n,text\r\n1,\"a\"\r\n3,\"c\r\nc\"\r\n4,d")
    let status = try FileManager.default.attributesOfItem(atPath: file.filePath)
    #expect(try source.remove([entry(items[1])]) == 0)
    let after = try FileManager.default.attributesOfItem(atPath: file.filePath)
    #expect(after[.systemFileNumber] as? Int == status[.systemFileNumber] as? Int)
    #expect(try source.remove([entry(items[0]), entry(items[2]), entry(items[3])]) == 3)
    #expect(try text() == "n,text\r\n")
    #expect(try source.read { _ in }.isEmpty)
  }

  /// Such a table was one long header, and its move was a success with no rows.
  @Test func `lines that end with a carriage return alone are read`() throws {
    try write("n,text\r1,a\r2,\"b\rb\"\r")
    let rows = try CSVFile<Numbered>(file).read { _ in }
    #expect(try rows.map { try $0.value.get().text } == ["a", "b\rb"])
    #expect(rows.map(\.name) == ["line 2", "line 3"])
  }

  @Test func `a file that is only read is kept`() throws {
    try write("n,text\n1,a\n")
    let source = CSVFile<Numbered>(file)
    #expect(!source.isRemovable)
    let items = try source.read { _ in }
    #expect(throws: TransferError.self) { try source.remove([entry(items[0])]) }
    #expect(try text() == "n,text\n1,a\n")
  }

  private struct Noted: Decodable { var note: String }

  private struct Numbered: Decodable {
    var n: Int
    var text: String
  }

  private func entry(_ item: TransferItem<Numbered>) -> TransferReceipt.Entry {
    .init(identity: item.identity, placement: .init(location: "", digest: ""))
  }

  private func write(_ text: String) throws { try Data(text.utf8).write(to: file) }
  private func text() throws -> String {
    String(decoding: try Data(contentsOf: file), as: UTF8.self)
  }
}

/// The rows as texts by column.
private struct TableRows {
  private struct Row: Decodable {
    var name: String
    var note: String
  }

  var separator: Character

  func read(_ file: URL) throws -> [[String: String]] {
    try CSVFile<Row>(file, separator: separator).read { _ in }.map {
      let row = try $0.value.get()
      return ["name": row.name, "note": row.note]
    }
  }
}

/// A table comes out the same, whatever pieces it is read in.
struct CSVReaderTests {
  @Test(arguments: [
    "a,b\n1,2\n3,4\n", "a,b\r\n1,\"2\r\n\"\r\n\r\n3,\"\"\"\"", "a,b\r1,2\r3,\"4\r5\"\r",
    "\u{FEFF}a\n\n\u{e9}\n\"\u{1F600},\"\n", "a,b\n\"1\"\"\",\"\"\n", "a\r\nb\rc\r\n", "a,b", "a\r",
  ])
  func `reads piece by piece`(_ text: String) throws {
    let bytes = Array(text.utf8)
    let whole = try rows(bytes, size: .max)
    for size in 1...max(1, bytes.count) {
      let pieces = try rows(bytes, size: size)
      #expect(pieces == whole, "in pieces of \(size)")
    }
  }

  private struct Table: Equatable {
    var columns: [String]
    var header: Data
    var fields: [[String]] = []
    var lines: [Int] = []
    var bytes = Data()
  }

  private func rows(_ bytes: [UInt8], size: Int) throws -> Table {
    var rest = bytes[...]
    var reader = try CSVReader(separator: UInt8(ascii: ",")) { limit in
      let piece = rest.prefix(min(size, limit))
      rest = rest.dropFirst(piece.count)
      return Array(piece)
    }
    var table = Table(columns: reader.columns, header: reader.header)
    while let row = try reader.row() {
      table.fields.append(row.fields)
      table.lines.append(row.line)
      table.bytes += row.bytes
    }
    return table
  }
}
