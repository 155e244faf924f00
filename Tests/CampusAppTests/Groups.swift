import Foundation
import SwiftData

@Model
final class Department {
  #Unique<Department>([\.abbreviation], [\.campus, \.name])

  var name: String
  var abbreviation: String
  @Relationship(inverse: \Teacher.department) var teachers: [Teacher] = []
  @Relationship(deleteRule: .cascade, inverse: \Course.department) var courses: [Course] = []
  var campus: Campus?

  init(name: String, abbreviation: String) {
    self.name = name
    self.abbreviation = abbreviation
  }
}

@Model
final class StudentClub {
  var name: String
  var motto: String?
  @Relationship(inverse: \Student.clubs) var members: [Student] = []
  var campus: Campus?

  init(name: String) {
    self.name = name
  }
}

@Model
final class SportsTeam {
  var name: String
  var sport: Sport = Sport.rowing
  var wins: Int = 0
  var losses: Int = 0
  @Relationship(inverse: \Student.teams) var players: [Student] = []
  var campus: Campus?

  init(name: String) {
    self.name = name
  }
}

@Model
final class Mentorship {
  var startedAt: Date
  var mentor: Teacher?
  var mentee: Student?

  init(startedAt: Date) {
    self.startedAt = startedAt
  }
}
