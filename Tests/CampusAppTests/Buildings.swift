import Foundation
import SwiftData

@Model
final class Building {
  #Unique<Building>([\.code])
  #Index<Building>([\.name], [\.code, \.floors])

  var name: String
  var code: String
  var floors: Int = 1
  var address: StreetAddress?
  @Relationship(deleteRule: .cascade, inverse: \Room.building) var rooms: [Room] = []
  var campus: Campus?

  init(name: String, code: String) {
    self.name = name
    self.code = code
  }
}

@Model
final class Room {
  #Unique<Room>([\.building, \.number])

  var number: Int
  var seats: Int = 20
  var kind: RoomKind = RoomKind.lecture
  var building: Building?
  @Relationship(deleteRule: .cascade, inverse: \Booking.room) var bookings: [Booking] = []
  @Relationship(inverse: \Device.room) var devices: [Device] = []

  init(number: Int) {
    self.number = number
  }
}

@Model
final class Booking {
  #Index<Booking>([\.starts, \.ends])

  var title: String
  var starts: Date
  var ends: Date
  var room: Room?
  var organiser: Person?

  init(title: String, starts: Date, ends: Date) {
    self.title = title
    self.starts = starts
    self.ends = ends
  }
}

@Model
final class ParkingLot {
  var name: String
  var places: Int = 100
  var isCovered = false
  @Relationship(deleteRule: .cascade, inverse: \Permit.lot) var permits: [Permit] = []
  var campus: Campus?

  init(name: String) {
    self.name = name
  }
}

@Model
final class Permit {
  #Unique<Permit>([\.plate])

  var plate: String
  var validUntil: Date
  var lot: ParkingLot?
  var holder: Person?
  var campus: Campus?

  init(plate: String, validUntil: Date) {
    self.plate = plate
    self.validUntil = validUntil
  }
}

@Model
final class Dormitory {
  var name: String
  var beds: Int = 80
  @Relationship(inverse: \Student.dormitory) var residents: [Student] = []
  var campus: Campus?

  init(name: String) {
    self.name = name
  }
}

@Model
final class Alarm {
  #Index<Alarm>([\.level, \.raisedAt])

  var raisedAt: Date = Date.now
  var level: Severity = Severity.notice
  var text: String
  var campus: Campus?

  init(text: String) {
    self.text = text
  }
}
