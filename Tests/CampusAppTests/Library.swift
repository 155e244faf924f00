import Foundation
import SwiftData

@Model
final class CampusLibrary {
  var name: String
  var openingHours: OpeningHours = OpeningHours()
  @Relationship(deleteRule: .cascade, inverse: \Medium.library) var media: [Medium] = []
  var campus: Campus?

  init(name: String) {
    self.name = name
  }
}

@Model
final class Medium {
  #Unique<Medium>([\.signature])

  var signature: String
  var title: String
  var year: Int?
  var library: CampusLibrary?
  @Relationship(deleteRule: .cascade, inverse: \Loan.medium) var loans: [Loan] = []

  init(signature: String, title: String) {
    self.signature = signature
    self.title = title
  }
}

@Model
final class Loan {
  var takenAt: Date = Date.now
  var returnedAt: Date?
  var medium: Medium?
  var borrower: Person?

  init() {}
}

@Model
final class Archive {
  var name: String
  var shelfMetres: Double = 0.0
  var campus: Campus?

  init(name: String) {
    self.name = name
  }
}
