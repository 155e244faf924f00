import Testing

@testable import SteadRecords

/// The text of `stead_history`, which stores of all versions and the triggers of other programs have.
@Suite struct HistoryFormatTests {
  private struct Read: Equatable {
    let kind: HistoryFormat.Kind
    let entity: String
    let rows: [Int64]
    let ages: [Int64]
    let names: [String]
    let values: [[String]]

    init(_ group: HistoryFormat.Group) throws {
      (kind, entity, names, values) = (
        group.kind, try group.entity(), try group.names(), try group.values()
      )
      var (rows, ages): ([Int64], [Int64]) = ([], [])
      var reader = NumberRuns.FallingReader(group.ages)
      group.rows.forEach {
        rows.append($0)
        ages.append(reader.read())
      }
      (self.rows, self.ages) = (rows, ages)
    }
  }

  private func read(_ text: String) throws -> [Read] {
    var groups: [Read] = []
    try Array(text.utf8).withUnsafeBufferPointer { bytes in
      try HistoryFormat.forEachGroup(in: bytes) { groups.append(try Read($0)) }
    }
    return groups
  }

  /// The example of History.md, and a delete with and without preserved values.
  @Test func `Groups to the byte, and back`() throws {
    var writer = HistoryFormat.Writer()
    writer.add(.insert, "Trip", rows: [1, 3], ages: [3, 3], names: nil, values: [])
    writer.add(.update, "Stop", rows: [7, 1], ages: [0, 1], names: ["place"], values: [])
    writer.add(
      .delete, "Stop", rows: [8, 1, -9, 1], ages: [], names: ["place", "rank"],
      values: [#"["'a\"b'","NULL"]"#, #"["''","2"]"#])
    writer.add(.delete, "Trip", rows: [2, 1], ages: [.min, 1], names: [], values: [])
    let text = writer.text()
    #expect(
      text
        == #"[[0,"Trip",[1,3],[3,3]],[1,"Stop",[7,1],[0,1],["place"]],"#
        + #"[2,"Stop",[8,1,-9,1],[],["place","rank"],[["'a\"b'","NULL"],["''","2"]]],"#
        + #"[2,"Trip",[2,1],[-9223372036854775808,1],[]]]"#)
    let groups = try read(String(text.prefix { $0 != "8" }) + #"8,1,-9,1],[],["place"]]]"#)
    #expect(groups.map(\.rows) == [[1, 2, 3], [7], [8, -9]])
    #expect(groups.map(\.ages) == [[3, 2, 1], [0], [0, 0]])
    #expect(groups.map(\.kind) == [.insert, .update, .delete])
    #expect(groups.map(\.entity) == ["Trip", "Stop", "Stop"])
    #expect(HistoryFormat.joined(["[[1]]", "[[2],[3]]"]) == "[[1],[2],[3]]")
    #expect(HistoryFormat.joined([]) == nil)
  }

  @Test(
    arguments: [
      ("[]", []), (" [ ] and more", []),
      (
        "[[2,\"A\",[1,2],[],[\"b\"],[[\"'\\\\\\n\\r\\t\\\"'\"],[\"'\u{1}'\"]]]]",
        ["'\\\n\r\t\"'", "'\u{1}'"]
      ),
      (#"[ [ 2 , "A" , [ 1 , 2 ] , [ ] , [ ] , [ [ ] , [ "\/\b\f" ] ] ] ]"#, ["/\u{8}\u{C}"]),
    ] as [(String, [String])])
  func `Values are read as SQLite writes them`(text: String, values: [String]) throws {
    #expect(try read(text).flatMap(\.values).flatMap(\.self) == values)
  }

  @Test(
    arguments: [
      "", "[", "{}", "[[3,\"A\",[1,1],[]]]", "[[-1,\"A\",[1,1],[]]]", "[[0,\"A\",[1,0],[]]]",
      "[[0,\"A\",[1],[]]]", "[[0,\"A\",[1,4294967296],[]]]",
      "[[0,\"A\",[9223372036854775807,1],[]]]", "[[0,\"A\",[9223372036854775808,1],[]]]",
      "[[0,A,[1,1],[]]]", "[[0,\"A,[1,1],[]]]", "[[0,\"A\",[1,1]]]", "[[0,\"A\",[1,1],[]]",
      #"[[0,"\u0041",[1,1],[]]]"#, #"[[1,"A",[1,1],[],["\x"]]]"#, "[[1,\"A\",[1,1],[],[1]]]",
      "[[0,\"A\",[1,1],[]],]", "[[0,\"A\",[1,8388609],[]]]",
      "[[0,\"A\",[1,8388608,8388609,1],[]]]", "[[1,\"A\",[1,1],[1,8388609],[\"b\"]]]",
    ])
  func `What is damaged is refused`(text: String) {
    #expect(throws: HistoryFormat.Malformed.self) { try read(text) }
  }

  /// Each change becomes an object, so that a row of a few bytes took memory without bound.
  @Test func `The changes of a transaction are limited together`() throws {
    func count(_ text: String) throws -> Int64 {
      var count: Int64 = 0
      try Array(text.utf8).withUnsafeBufferPointer { bytes in
        try HistoryFormat.forEachGroup(in: bytes) { count += $0.rows.count }
      }
      return count
    }
    let most = #"[0,"A",[1,\#(HistoryFormat.changeLimit)],[]]"#
    #expect(try count("[\(most)]") == HistoryFormat.changeLimit)
    #expect(throws: HistoryFormat.Malformed.self) { try count(#"[\#(most),[0,"A",[1,1],[]]]"#) }
  }

  /// Stores have these in their triggers.
  @Test func `The triggers' SQL is what stores have`() {
    #expect(
      HistoryFormat.foreignText
        == "'[[' || new.kind || ',\"' || new.entity || '\",[' || new.row || ',1],[]' || "
        + "CASE new.kind WHEN 0 THEN '' WHEN 1 THEN ',[' || substr(new.properties, 2) || ']' "
        + "ELSE ',' || new.properties || ',[' || new.preserved || ']' END || ']]'")
    #expect(
      HistoryFormat.changedItem("a", ifChanged: #""b""#)
        == #"iif(new."b" IS NOT old."b", ',"a"', '')"#)
    #expect(HistoryFormat.preservedList([]) == "'[]'")
    #expect(HistoryFormat.preservedList(["a", "b"]) == #"'["a","b"]'"#)
    #expect(
      HistoryFormat.valueList(["b"])
        == #"'[' || '"' || replace(replace(replace(replace(replace(quote(b), '\', '\\'), "#
        + #"'"', '\"'), char(10), '\n'), char(13), '\r'), char(9), '\t') || '"' || ']'"#)
  }
}
