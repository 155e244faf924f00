import SwiftData

enum CampusSchema: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)

  static let all: [any PersistentModel.Type] = [
    Administrator.self, Alarm.self, Announcement.self, Archive.self, Assignment.self,
    Booking.self, Budget.self, Building.self, Cafeteria.self, Campus.self, CampusEvent.self,
    CampusLibrary.self, Comment.self, Course.self, Department.self, Device.self, Dish.self,
    Dormitory.self, Employee.self, Enrollment.self, Exam.self, ExamResult.self, Grant.self,
    Instrument.self, Invoice.self, InvoiceLine.self, Laboratory.self, Lecture.self, Loan.self,
    Medium.self, Mentorship.self, Menu.self, Network.self, ParkingLot.self, Patent.self,
    Permit.self, Person.self, Policy.self, Programme.self, Publication.self,
    ResearchProject.self, Room.self, Sponsor.self, SportsTeam.self, Student.self,
    StudentClub.self, Submission.self, Supplier.self, Teacher.self, Term.self, Ticket.self,
    Vehicle.self,
  ]

  static var models: [any PersistentModel.Type] { all }
}
