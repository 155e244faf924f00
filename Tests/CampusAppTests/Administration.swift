import Foundation
import SwiftData

@Model
final class Supplier {
  var name: String
  var website: URL?
  @Relationship(inverse: \Invoice.supplier) var invoices: [Invoice] = []
  var campus: Campus?

  init(name: String) {
    self.name = name
  }
}

@Model
final class Invoice {
  #Unique<Invoice>([\.supplier, \.number])

  var number: Int
  var total: Decimal
  var paidAt: Date?
  var supplier: Supplier?
  @Relationship(deleteRule: .cascade, inverse: \InvoiceLine.invoice) var lines: [InvoiceLine] = []
  var campus: Campus?

  init(number: Int, total: Decimal) {
    self.number = number
    self.total = total
  }
}

@Model
final class InvoiceLine {
  var text: String
  var quantity: Int = 1
  var price: Decimal
  var invoice: Invoice?

  init(text: String, price: Decimal) {
    self.text = text
    self.price = price
  }
}

@Model
final class Policy {
  #Unique<Policy>([\.title, \.revision])

  var title: String
  var text: String = ""
  var revision: Int = 1
  var campus: Campus?

  init(title: String) {
    self.title = title
  }
}

@Model
final class Budget {
  #Unique<Budget>([\.campus, \.year])

  var year: Int
  var planned: Decimal = 0
  var spent: Decimal = 0
  var campus: Campus?

  init(year: Int) {
    self.year = year
  }
}

@Model
final class Device {
  var hostname: String
  var kind: DeviceKind
  var room: Room?
  @Relationship(inverse: \Ticket.device) var tickets: [Ticket] = []
  var campus: Campus?

  init(hostname: String, kind: DeviceKind) {
    self.hostname = hostname
    self.kind = kind
  }
}

@Model
final class Network {
  #Unique<Network>([\.vlan])

  var name: String
  var vlan: UInt16 = 1
  var campus: Campus?

  init(name: String) {
    self.name = name
  }
}

@Model
final class Ticket {
  #Index<Ticket>([\.severity], [\.openedAt])

  var subject: String
  var severity: Severity = Severity.notice
  var openedAt: Date = Date.now
  var closedAt: Date?
  var device: Device?
  var reporter: Person?
  var campus: Campus?

  init(subject: String) {
    self.subject = subject
  }
}
