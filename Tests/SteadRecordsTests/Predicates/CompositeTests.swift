import Foundation
import SwiftData
import Testing

@testable import SteadRecords

struct Street: Codable, Hashable {
  var name: String
  var number: Int?
}

struct Residence: Codable, Hashable {
  var city: String
  var home: Street
  var work: Street?
}

@Model final class Contact {
  var name: String
  var address: Residence
  var other: Residence?

  init(name: String, address: Residence, other: Residence? = nil) {
    self.name = name
    self.address = address
    self.other = other
  }
}

@Suite("Structs in predicates and orders") struct CompositeTests {
  private let context: ModelContext
  private let container: ModelContainer

  init() throws {
    container = try TestStore(Contact.self).container
    let writer = ModelContext(container)
    let mill = Street(name: "Mill", number: 3)
    let lake = Street(name: "Lake", number: nil)
    writer.insertAll(
      Contact(name: "Ann", address: Residence(city: "Bern", home: mill, work: lake)),
      Contact(
        name: "Bob", address: Residence(city: "Arles", home: lake),
        other: Residence(city: "Bern", home: lake, work: mill)),
      Contact(
        name: "Cid", address: Residence(city: "Cork", home: mill, work: mill),
        other: Residence(city: "Arles", home: mill)))
    try writer.save()
    context = ModelContext(container)
  }

  private func names(_ predicate: Predicate<Contact>) throws -> [String] {
    try context.exactNames(\.name, predicate)
  }

  @Test func `fields of structs, of structs in structs, and of optional ones`() throws {
    #expect(try names(#Predicate<Contact> { $0.address.city == "Bern" }) == ["Ann"])
    #expect(try names(#Predicate<Contact> { $0.address.home.name == "Mill" }) == ["Ann", "Cid"])
    #expect(try names(#Predicate<Contact> { $0.address.home.number == nil }) == ["Bob"])
    #expect(try names(#Predicate<Contact> { $0.address.work?.name == "Mill" }) == ["Cid"])
    #expect(try names(#Predicate<Contact> { $0.address.work?.number == nil }) == ["Ann", "Bob"])
    #expect(try names(#Predicate<Contact> { $0.other?.city == "Arles" }) == ["Cid"])
    #expect(try names(#Predicate<Contact> { $0.other?.city != "Arles" }) == ["Ann", "Bob"])
    #expect(try names(#Predicate<Contact> { $0.other?.work?.number == 3 }) == ["Bob"])
    #expect(try names(#Predicate<Contact> { $0.other?.home.name == "Mill" }) == ["Cid"])
    #expect(try names(#Predicate<Contact> { $0.other == nil }) == ["Ann"])
    #expect(try names(#Predicate<Contact> { $0.address.work == nil }) == ["Bob"])
  }

  private func order(_ order: SortDescriptor<Contact>) throws -> [String] {
    try context.fetch(FetchDescriptor(sortBy: [order, SortDescriptor(\.name)])).map(\.name)
  }

  @Test func `orders by fields of structs, with nil first`() throws {
    #expect(try order(SortDescriptor(\.address.city)) == ["Bob", "Ann", "Cid"])
    #expect(try order(SortDescriptor(\.address.home.name)) == ["Bob", "Ann", "Cid"])
    #expect(
      try order(SortDescriptor(\.address.home.number, order: .reverse)) == ["Ann", "Cid", "Bob"])
    #expect(try order(SortDescriptor(\.other?.city)) == ["Ann", "Cid", "Bob"])
    #expect(try order(SortDescriptor(\.address.work?.name)) == ["Bob", "Ann", "Cid"])
  }
}
