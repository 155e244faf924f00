// For all files of this target.
@_exported import Foundation
@_exported import RecordsTestSupport
@_exported import SteadTestSupport
@_exported import SwiftData
@_exported import Testing

/// A message and what it is about, when a save is refused.
func refusal(of context: ModelContext) throws -> SwiftDataError {
  let error = #expect(throws: SwiftDataError.self) { try context.save() }
  return try #require(error)
}
