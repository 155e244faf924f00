import Foundation
import SwiftData

/// What everything belongs to.
@Model
final class Campus {
  @Attribute(.unique) var name: String
  var founded: Int
  var address: StreetAddress
  var motto: String?

  @Relationship(deleteRule: .cascade, inverse: \Person.campus) var people: [Person] = []
  @Relationship(deleteRule: .cascade, inverse: \Building.campus) var buildings: [Building] = []
  @Relationship(deleteRule: .cascade, inverse: \ParkingLot.campus) var parkingLots: [ParkingLot] =
    []
  @Relationship(deleteRule: .cascade, inverse: \Permit.campus) var permits: [Permit] = []
  @Relationship(deleteRule: .cascade, inverse: \Dormitory.campus) var dormitories: [Dormitory] = []
  @Relationship(deleteRule: .cascade, inverse: \Alarm.campus) var alarms: [Alarm] = []
  @Relationship(deleteRule: .cascade, inverse: \Department.campus) var departments: [Department] =
    []
  @Relationship(deleteRule: .cascade, inverse: \StudentClub.campus) var clubs: [StudentClub] = []
  @Relationship(deleteRule: .cascade, inverse: \SportsTeam.campus) var teams: [SportsTeam] = []
  @Relationship(inverse: \Course.campus) var courses: [Course] = []
  @Relationship(deleteRule: .cascade, inverse: \Programme.campus) var programmes: [Programme] = []
  @Relationship(deleteRule: .deny, inverse: \Term.campus) var terms: [Term] = []
  @Relationship(deleteRule: .cascade, inverse: \CampusLibrary.campus) var libraries:
    [CampusLibrary] = []
  @Relationship(deleteRule: .cascade, inverse: \Archive.campus) var archives: [Archive] = []
  @Relationship(deleteRule: .cascade, inverse: \Laboratory.campus) var laboratories: [Laboratory] =
    []
  @Relationship(deleteRule: .cascade, inverse: \ResearchProject.campus) var projects:
    [ResearchProject] = []
  @Relationship(inverse: \Publication.campus) var publications: [Publication] = []
  @Relationship(inverse: \Grant.campus) var grants: [Grant] = []
  @Relationship(inverse: \Patent.campus) var patents: [Patent] = []
  @Relationship(deleteRule: .cascade, inverse: \Cafeteria.campus) var cafeterias: [Cafeteria] = []
  @Relationship(deleteRule: .cascade, inverse: \CampusEvent.campus) var events: [CampusEvent] = []
  @Relationship(deleteRule: .cascade, inverse: \Vehicle.campus) var vehicles: [Vehicle] = []
  @Relationship(deleteRule: .cascade, inverse: \Announcement.campus) var announcements:
    [Announcement] = []
  @Relationship(inverse: \Supplier.campus) var suppliers: [Supplier] = []
  @Relationship(deleteRule: .cascade, inverse: \Invoice.campus) var invoices: [Invoice] = []
  @Relationship(deleteRule: .cascade, inverse: \Policy.campus) var policies: [Policy] = []
  @Relationship(deleteRule: .cascade, inverse: \Budget.campus) var budgets: [Budget] = []
  @Relationship(deleteRule: .cascade, inverse: \Device.campus) var devices: [Device] = []
  @Relationship(deleteRule: .cascade, inverse: \Network.campus) var networks: [Network] = []
  @Relationship(deleteRule: .cascade, inverse: \Ticket.campus) var tickets: [Ticket] = []

  init(name: String, founded: Int, address: StreetAddress) {
    self.name = name
    self.founded = founded
    self.address = address
  }
}
