import Foundation
import SwiftData
import Testing

@testable import SteadRecords

@Suite("Layouts without a container") struct LooseLayoutTests {
  @Test func `a class's layout knows the inverses of all that it reaches`() throws {
    let layout = try #require(LooseLayout.layout(for: Club.self))
    let club = try #require(layout.entity(for: Club.self))
    let member = try #require(layout.entity(for: Member.self))
    let skill = try #require(layout.entity(for: Skill.self))
    let members = try #require(club.property(named: "members"))
    let inverse = try #require(members.relationship?.inverse)
    #expect(member.properties[inverse].name == "club")
    let skills = try #require(member.property(named: "skills")?.relationship?.inverse)
    #expect(skill.properties[skills].name == "holders")
  }

  @Test func `classes that reach each other share a layout, which is made once`() throws {
    let layout = try #require(LooseLayout.layout(for: Backyard.self))
    #expect(LooseLayout.layout(for: Backyard.self) === layout)
    #expect(LooseLayout.layout(for: Plant.self) === layout)
  }

  @Test func `a layout holds a class's superclasses`() throws {
    let layout = try #require(LooseLayout.layout(for: Car.self))
    #expect(layout.entity(for: Vehicle.self) != nil)
    #expect(layout.entity(for: Driver.self) != nil)
  }

  @Test func `models that contradict each other have none`() {
    #expect(LooseLayout.layout(for: Inverses.Writer.self) == nil)
    #expect(LooseLayout.layout(for: Inverses.Writer.self) == nil)
  }

  @Test func `threads that ask at once get the same layout`() {
    let found = Box<Set<ObjectIdentifier?>>([])
    DispatchQueue.concurrentPerform(iterations: 16) { _ in
      let layout = LooseLayout.layout(for: Album.self)
      found.change { $0.insert(layout.map { ObjectIdentifier($0) }) }
    }
    #expect(found.value.count == 1)
    #expect(!found.value.contains(nil))
  }
}
