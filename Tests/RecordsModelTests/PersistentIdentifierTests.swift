import Foundation
import SwiftData
import Testing

@testable import SteadRecords

@Suite struct PersistentIdentifierTests {
  private func decoded(_ text: String) throws -> PersistentIdentifier {
    try JSONDecoder().decode(PersistentIdentifier.self, from: Data(text.utf8))
  }

  private func reread(_ identifier: PersistentIdentifier) throws -> PersistentIdentifier {
    try JSONDecoder().decode(PersistentIdentifier.self, from: JSONEncoder().encode(identifier))
  }

  @Test func `decodes what Apple's systems write`() throws {
    let identifier = try decoded(
      """
      {"implementation":{"primaryKey":"p12","uriRepresentation":"x-coredata:\\/\\/8E4B2F6A\\/Trip\\/p12",\
      "isTemporary":false,"storeIdentifier":"8E4B2F6A","entityName":"Trip"}}
      """)
    #expect(identifier.entityName == "Trip")
    #expect(identifier.storeIdentifier == "8E4B2F6A")
    #expect(!identifier.isTemporary)
    #expect(identifier.row == 12)
    let made = try PersistentIdentifier.identifier(
      for: "8E4B2F6A", entityName: "Trip", primaryKey: 12)
    #expect(identifier == made)
  }

  @Test func `decodes the temporary identifiers of Apple's systems`() throws {
    let key = "t7D0C2A1E-0001"
    let identifier = try decoded(
      """
      {"implementation":{"primaryKey":"\(key)","uriRepresentation":"x-coredata:///Trip/\(key)",\
      "isTemporary":true,"entityName":"Trip"}}
      """)
    #expect(identifier.isTemporary)
    #expect(identifier.id.key == key)
    #expect(try reread(identifier) == identifier)
  }

  @Test func `writes the form of Apple's systems`() throws {
    let identifier = try PersistentIdentifier.identifier(
      for: "store", entityName: "Trip", primaryKey: 3)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    #expect(
      String(decoding: try encoder.encode(identifier), as: UTF8.self) == """
        {"implementation":{"entityName":"Trip","isTemporary":false,"primaryKey":"p3",\
        "storeIdentifier":"store","uriRepresentation":"x-coredata://store/Trip/p3"}}
        """)
  }

  @Test func `comes back equal`() throws {
    let temporary = PersistentIdentifier(reference: .temporary("Trip"), row: -4)
    #expect(try reread(temporary) == temporary)
    for key in ["p5", "t5", "a", ""] {
      let identifier = try PersistentIdentifier.identifier(
        for: "store", entityName: "Trip", primaryKey: key)
      #expect(try reread(identifier) == identifier)
    }
  }

  @Test func `still decodes the former form`() throws {
    let identifier = try decoded(#"{"store":"s","entity":"Trip","row":7}"#)
    let made = try PersistentIdentifier.identifier(for: "s", entityName: "Trip", primaryKey: 7)
    #expect(identifier == made)
    #expect(try decoded(#"{"entity":"Trip","row":-2}"#).isTemporary)
  }
}
