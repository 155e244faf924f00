import Foundation
import SwiftData

@Model final class Table26 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table25?
  var children: [Table27] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table27 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table26?
  var children: [Table28] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table28 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table27?
  var children: [Table29] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table29 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table28?
  var children: [Table30] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table30 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table29?
  var children: [Table31] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table31 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table30?
  var children: [Table32] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table32 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table31?
  var children: [Table33] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table33 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table32?
  var children: [Table34] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table34 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table33?
  var children: [Table35] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table35 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table34?
  var children: [Table36] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table36 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table35?
  var children: [Table37] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table37 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table36?
  var children: [Table38] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table38 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table37?
  var children: [Table39] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table39 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table38?
  var children: [Table40] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table40 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table39?
  var children: [Table41] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table41 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table40?
  var children: [Table42] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table42 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table41?
  var children: [Table43] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table43 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table42?
  var children: [Table44] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table44 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table43?
  var children: [Table45] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table45 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table44?
  var children: [Table46] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table46 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table45?
  var children: [Table47] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table47 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table46?
  var children: [Table48] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table48 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table47?
  var children: [Table49] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table49 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table48?
  var children: [Table50] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table50 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table49?
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}
