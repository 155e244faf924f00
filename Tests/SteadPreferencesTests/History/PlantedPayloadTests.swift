import Foundation
import SteadFiles
import SteadTestSupport
import Testing

@testable import SteadPreferences

/// A symbolic link had the name of a large payload's file. A change of the history replaced what it led to.
struct PlantedPayloadTests {
  @Test(arguments: PlantedEntry.allCases, [false, true])
  func aPayloadIsWrittenToNoOtherPlace(entry: PlantedEntry, isRepair: Bool) throws {
    let home = try HistoryHome()
    let target = try PlantedTarget()
    let directory = home.directory.file("domain.history.prompts.blobs")
    let large = Prompt(id: 1, text: String(repeating: "x", count: 200))
    let options = PayloadHistoryOptions<Prompt>(largePayload: .external(over: 100))
    // The name is the digest of the payload, and so is known beforehand.
    let history = try home.history(options: options)
    try history.prepend(large)
    let name = try #require(BlobStore(directory: directory).references().first)
    if !isRepair { try history.removeAll() }
    try target.plant(entry, at: directory.file(name))

    if entry == .directory {
      #expect(throws: (any Error).self) { try history.prepend(large) }
    } else {
      try history.prepend(large)
      #expect(try home.foreign().items == Array(repeating: large, count: isRepair ? 2 : 1))
      #expect(try home.foreign().undecodable.isEmpty)
    }
    #expect(try target.isUntouched)
  }
}
