import Foundation
import Testing

@testable import ExampleSupport

@Suite struct DebianStatusTests {
  private let text = """
    Package: one
    Status: install ok installed
    Priority: required
    Section: libs
    Installed-Size: 12
    Maintainer: The Team <team@example.org>
    Version: 1.0-2
    Depends: two (>= 2), three:any | four (<< 5)
    Description: the first
     More about it,
     on two lines.

    Package: gone
    Status: deinstall ok config-files

    Package: two
    Status: install ok installed
    Description: the second
    """

  @Test func `reads the fields of installed packages`() throws {
    let records = DebianStatus.parse(text)
    #expect(records.map(\.name) == ["one", "two"])
    let one = try #require(records.first)
    #expect(one.version == "1.0-2")
    #expect(one.priority == .required)
    #expect(one.installedSize == 12)
    #expect(one.section == "libs")
    #expect(one.maintainer == Person(name: "The Team", address: "team@example.org"))
    #expect(one.maintainer.description == "The Team <team@example.org>")
    #expect(one.summary == "the first")
    #expect(one.details == "More about it,\non two lines.")
  }

  @Test func `reads alternatives without versions and architectures`() throws {
    let one = try #require(DebianStatus.parse(text).first)
    #expect(one.dependencies.map(\.names) == [["two"], ["three", "four"]])
    #expect(one.dependencies.map(\.text) == ["two (>= 2)", "three:any | four (<< 5)"])
  }
}

@Suite struct GitLogTests {
  @Test func `reads commits`() throws {
    let entry = ["a1", "2024-05-06", "Ann", "ann@example.org", "b2 c3", "Subject", "Body\n"]
    let records = GitLog.parse(entry.joined(separator: "\u{1f}") + "\u{1e}\n")
    let record = try #require(records.first)
    #expect(record.name == "a1")
    #expect(record.section == "2024")
    #expect(record.dependencies.map(\.text) == ["b2", "c3"])
    #expect(record.details == "Body")
  }
}
