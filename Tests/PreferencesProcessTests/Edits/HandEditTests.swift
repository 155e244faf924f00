import Foundation
import Testing

/// Somebody edits the property list file while a program runs that has it open: what they changed counts,
/// key by key, and what the program sets meanwhile does, too. The program is told and polls nothing.
@Suite(.ownThread) struct HandEditTests {

  @Test(arguments: Editor.Writing.allCases, Editor.Format.allCases)
  func `an edit is merged and told`(writing: Editor.Writing, format: Editor.Format) throws {
    let following = try Following()
    let editor = Editor(writing: writing, format: format)
    for key in ["a", "b", "gone"] {
      try following.send("set \(key) 1", until: "own \(key) integer 1")
    }
    try following.send("synchronize", until: "true")
    // Known to the journal alone when the edit is made.
    try following.send("set late 1", until: "own late integer 1")

    try editor.edit(following.file, #"{"a": 2, "new": "text", "gone": null}"#)
    try following.until("other a integer 2")
    try following.send("set b 5", until: "own b integer 5")
    try following.send("synchronize", until: "true")
    #expect(following.lines.contains("other new string text"))
    #expect(following.lines.contains("other gone none"))
    #expect(
      try Editor.json(following.file) == #"{"a": 2, "b": 5, "late": 1, "new": "text"}"#)
    #expect(following.errors() == [])
    let contents = try Worker.contents(following.directory.url)
    #expect(
      contents == [
        "a": "integer 2", "b": "integer 5", "late": "integer 1", "new": "string text",
      ])
  }

  @Test func `edits and many sets at once all survive`() throws {
    let following = try Following()
    let count = 50
    try following.send("set a 0", until: "own a integer 0")
    for round in 1...10 {
      try following.send("synchronize", until: "true")
      following.worker.send("hammer key\(round) \(count)")
      try Editor().edit(following.file, #"{"a": \#(round), "edit\#(round)": true}"#)
      var missing: Set = ["hammered", "other a integer \(round)"]
      while !missing.isEmpty {
        let line = try #require(following.worker.line(), "\(missing) in round \(round)")
        missing.remove(line)
        #expect(!line.hasPrefix("error"))
      }
    }
    #expect(following.errors() == [])
    let contents = try Worker.contents(following.directory.url)
    #expect(contents["a"] == "integer 10")
    for round in 1...10 {
      #expect(contents["edit\(round)"] == "bool true")
      for number in 0..<count {
        #expect(contents["key\(round).\(number)"] == "integer \(number)")
      }
    }
    #expect(contents.count == 1 + 10 * (1 + count))
  }

  @Test(.needs(.program("plutil")))
  func `plutil edits`() throws {
    let following = try Following()
    try following.send("set a 1", until: "own a integer 1")
    try following.send("set b 1", until: "own b integer 1")
    try following.send("synchronize", until: "true")
    try ToolRun.text(["plutil", "-convert", "xml1", following.file.filePath])
    try ToolRun.text(["plutil", "-replace", "a", "-integer", "2", following.file.filePath])
    try following.until("other a integer 2")
    try following.send("set b 5", until: "own b integer 5")
    try following.send("synchronize", until: "true")
    #expect(try Editor.json(following.file) == #"{"a": 2, "b": 5}"#)
    #expect(following.errors() == [])
  }

  /// An editor that writes in place is seen with half of the file there. That is not damage yet, and the
  /// half must not be replaced under its hands.
  @Test func `half of an edit is not damage`() throws {
    let following = try Following()
    try following.send("set a 1", until: "own a integer 1")
    try following.send("synchronize", until: "true")
    try Editor(format: .xml).editSlowly(following.file, #"{"a": 2}"#) {
      try following.send("set b 5", until: "own b integer 5")
    }
    try following.until("other a integer 2")
    try following.send("synchronize", until: "true")
    #expect(try Editor.json(following.file) == #"{"a": 2, "b": 5}"#)
    #expect(following.errors() == [])
    let files: Set = ["domain.plist", "domain.journal"]
    #expect(try following.directory.names.filter { !$0.hasSuffix("lock") } == files)
  }

  @Test(arguments: Editor.Format.allCases)
  func `an edit while nothing runs is found`(format: Editor.Format) throws {
    let first = try Following()
    for key in ["a", "b", "gone"] { try first.send("set \(key) 1", until: "own \(key) integer 1") }
    try first.send("synchronize", until: "true")
    try first.send("set b 2", until: "own b integer 2")
    try first.send("set late 2", until: "own late integer 2")
    #expect(first.errors() == [])

    try Editor(format: format).edit(first.file, #"{"a": 3, "gone": null}"#)
    let expected = ["a": "integer 3", "b": "integer 2", "late": "integer 2"]
    #expect(try Worker.contents(first.directory.url) == expected)
    let second = try Following(first.directory)
    try second.send("synchronize", until: "true")
    #expect(try Editor.json(second.file) == #"{"a": 3, "b": 2, "late": 2}"#)
    #expect(second.errors() == [])
  }

  /// The property list is a copy for others to read: the journal has all of it.
  @Test func `a file that was deleted comes back`() throws {
    let following = try Following()
    try following.send("set a 1", until: "own a integer 1")
    try following.send("synchronize", until: "true")
    try FileManager.default.removeItem(at: following.file)
    try following.send("set b 2", until: "own b integer 2")
    try following.send("synchronize", until: "true")
    #expect(try Editor.json(following.file) == #"{"a": 1, "b": 2}"#)
    #expect(following.errors() == [])
  }
}
