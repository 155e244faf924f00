import Foundation
import SwiftData

@Model
class Person {
  #Index<Person>([\.familyName, \.givenName])

  @Attribute(.unique) var number: Int
  var givenName: String
  var familyName: String
  var email: String?
  var campus: Campus?
  @Relationship(deleteRule: .cascade, inverse: \Loan.borrower) var loans: [Loan] = []
  @Relationship(inverse: \Permit.holder) var permits: [Permit] = []
  @Relationship(inverse: \Booking.organiser) var bookings: [Booking] = []
  @Relationship(inverse: \Comment.author) var comments: [Comment] = []
  @Relationship(inverse: \Ticket.reporter) var reported: [Ticket] = []

  var fullName: String { "\(givenName) \(familyName)" }

  init(number: Int, givenName: String, familyName: String) {
    self.number = number
    self.givenName = givenName
    self.familyName = familyName
  }
}

@Model
final class Student: Person {
  var enrolledIn: Int
  var dormitory: Dormitory?
  var programme: Programme?
  var clubs: [StudentClub] = []
  var teams: [SportsTeam] = []
  @Relationship(deleteRule: .cascade, inverse: \Enrollment.student) var enrollments: [Enrollment] =
    []
  @Relationship(deleteRule: .cascade, inverse: \ExamResult.student) var results: [ExamResult] = []
  @Relationship(deleteRule: .cascade, inverse: \Submission.student) var submissions: [Submission] =
    []
  @Relationship(inverse: \Mentorship.mentee) var mentorships: [Mentorship] = []

  init(number: Int, givenName: String, familyName: String, enrolledIn: Int) {
    self.enrolledIn = enrolledIn
    super.init(number: number, givenName: givenName, familyName: familyName)
  }
}

@Model
class Employee: Person {
  var hiredAt: Date
  var salary: Decimal

  init(number: Int, givenName: String, familyName: String, salary: Decimal) {
    hiredAt = Date(timeIntervalSinceReferenceDate: 0)
    self.salary = salary
    super.init(number: number, givenName: givenName, familyName: familyName)
  }
}

@Model
final class Teacher: Employee {
  var subject: String
  var department: Department?
  var publications: [Publication] = []
  @Relationship(inverse: \Lecture.speaker) var lectures: [Lecture] = []
  @Relationship(inverse: \ResearchProject.lead) var projects: [ResearchProject] = []
  @Relationship(inverse: \Mentorship.mentor) var mentorships: [Mentorship] = []

  init(number: Int, givenName: String, familyName: String, salary: Decimal, subject: String) {
    self.subject = subject
    super.init(number: number, givenName: givenName, familyName: familyName, salary: salary)
  }
}

@Model
final class Administrator: Employee {
  var office: String?
  var duties: [String]

  init(number: Int, givenName: String, familyName: String, duties: [String]) {
    self.duties = duties
    super.init(number: number, givenName: givenName, familyName: familyName, salary: 50_000)
  }
}
