import Foundation
import Hummingbird

/// A note as clients see it.
struct NoteRecord: ResponseCodable, Equatable, Sendable {
  var id: Int
  var title: String
  var text: String
  /// How often it was read; counted by the server.
  var reads: Int
}

/// What a client sends.
struct NoteDraft: Codable, Sendable {
  var title: String
  var text: String
}

/// Where the notes of the service are.
protocol NoteStore: Sendable {
  func newest(_ count: Int) async throws -> [NoteRecord]
  func note(_ id: Int) async throws -> NoteRecord?
  func add(_ draft: NoteDraft) async throws -> NoteRecord?
  /// Adds one to the count of reads; nil where there is no such note.
  func countRead(of id: Int) async throws -> NoteRecord?
  func remove(_ id: Int) async throws -> Bool
}
