import Foundation
import Testing

@testable import SteadTransfer

/// Which receipt may take the place of which, and the form in which one is kept.
struct TransferReceiptTests {
  struct Case: Sendable {
    var current: String?
    var next: String
    var isAllowed: Bool
  }

  /// Written as `state moved/pending`.
  @Test(arguments: [
    Case(current: nil, next: "written /a", isAllowed: true),
    Case(current: nil, next: "written a/b", isAllowed: false),
    Case(current: nil, next: "finished a/", isAllowed: false),
    Case(current: "finished a/", next: "written a/b", isAllowed: true),
    Case(current: "finished a/", next: "written /b", isAllowed: false),
    Case(current: "finished ab/", next: "written a/c", isAllowed: false),
    Case(current: "finished a/", next: "finished ab/", isAllowed: false),
    Case(current: "finished a/", next: "finished a/", isAllowed: false),
    Case(current: "written a/b", next: "finished ab/", isAllowed: true),
    Case(current: "written a/b", next: "finished a/", isAllowed: false),
    Case(current: "written a/b", next: "finished ab/c", isAllowed: false),
    Case(current: "written a/b", next: "written a/b", isAllowed: false),
    Case(current: "written a/b", next: "written ab/c", isAllowed: false),
    // One that forgets.
    Case(current: "written a/b", next: "finished /", isAllowed: true),
    Case(current: "finished ab/", next: "finished /", isAllowed: true),
    Case(current: "finished ab/", next: "written /", isAllowed: false),
  ])
  func followsTheOneThatIsThere(_ row: Case) throws {
    let next = Self.receipt(row.next)
    let current = row.current.map(Self.receipt)
    if row.isAllowed {
      try next.checkFollows(current)
    } else {
      let error = #expect(throws: TransferError.self) { try next.checkFollows(current) }
      #expect(error?.code == .changed)
    }
  }

  @Test func isKeptAsJSONWithItsVersion() throws {
    let receipt = Self.receipt("written a/b")
    let json = try JSONEncoder().encode(receipt)
    #expect(try JSONDecoder().decode(TransferReceipt.self, from: json) == receipt)
    let fields = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
    #expect(Set(fields.keys) == ["version", "id", "state", "date", "moved", "pending"])
    #expect(fields["version"] as? Int == 1)
    #expect(fields["date"] as? Double == 5)
    let entry = (fields["moved"] as? [[String: Any]])?.first
    #expect(entry?["identity"] as? String == "a")
    #expect(entry?["placement"] as? [String: String] == ["place": "at a", "digest": "of a"])
  }

  private static func receipt(_ text: String) -> TransferReceipt {
    let parts = text.split(separator: " ")
    let lists = parts[1].split(separator: "/", omittingEmptySubsequences: false).map { letters in
      letters.map { letter in
        TransferReceipt.Entry(
          identity: "\(letter)", placement: .init(place: "at \(letter)", digest: "of \(letter)"))
      }
    }
    return TransferReceipt(
      id: "t", state: parts[0] == "written" ? .written : .finished,
      date: Date(timeIntervalSinceReferenceDate: 5), moved: lists[0], pending: lists[1])
  }
}
