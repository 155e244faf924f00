import Foundation
import SwiftData

@Model
final class Laboratory {
  var name: String
  var hazards: Hazards = []
  @Relationship(deleteRule: .cascade, inverse: \Instrument.laboratory) var instruments:
    [Instrument] = []
  var campus: Campus?

  init(name: String) {
    self.name = name
  }
}

@Model
final class Instrument {
  #Unique<Instrument>([\.serial])

  var serial: String
  var price: Decimal = 0
  var laboratory: Laboratory?

  init(serial: String) {
    self.serial = serial
  }
}

@Model
final class ResearchProject {
  var title: String
  var budget: Decimal = 0
  var keywords: [String] = []
  var lead: Teacher?
  @Relationship(inverse: \Publication.project) var publications: [Publication] = []
  @Relationship(inverse: \Grant.project) var grants: [Grant] = []
  var campus: Campus?

  init(title: String) {
    self.title = title
  }
}

@Model
final class Publication {
  #Index<Publication>([\.year, \.title])

  var title: String
  var year: Int
  var project: ResearchProject?
  @Relationship(inverse: \Teacher.publications) var writers: [Teacher] = []
  var campus: Campus?

  init(title: String, year: Int) {
    self.title = title
    self.year = year
  }
}

@Model
final class Grant {
  var donor: String
  var amount: Decimal
  var project: ResearchProject?
  var campus: Campus?

  init(donor: String, amount: Decimal) {
    self.donor = donor
    self.amount = amount
  }
}

@Model
final class Patent {
  #Unique<Patent>([\.number])

  var number: String
  var filedAt: Date
  var campus: Campus?

  init(number: String, filedAt: Date) {
    self.number = number
    self.filedAt = filedAt
  }
}
