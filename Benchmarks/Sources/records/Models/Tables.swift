import Foundation
import SwiftData

// An app's fifty models: eight attributes each, and two relationships whose inverses are inferred.

enum TableKind: String, Codable { case plain, special }

enum Tables {
  static let all: [any PersistentModel.Type] = [
    Table1.self, Table2.self, Table3.self, Table4.self, Table5.self, Table6.self, Table7.self,
    Table8.self, Table9.self, Table10.self, Table11.self, Table12.self, Table13.self,
    Table14.self, Table15.self, Table16.self, Table17.self, Table18.self, Table19.self,
    Table20.self, Table21.self, Table22.self, Table23.self, Table24.self, Table25.self,
    Table26.self, Table27.self, Table28.self, Table29.self, Table30.self, Table31.self,
    Table32.self, Table33.self, Table34.self, Table35.self, Table36.self, Table37.self,
    Table38.self, Table39.self, Table40.self, Table41.self, Table42.self, Table43.self,
    Table44.self, Table45.self, Table46.self, Table47.self, Table48.self, Table49.self,
    Table50.self,
  ]
}

@Model final class Table1 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var children: [Table2] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table2 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table1?
  var children: [Table3] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table3 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table2?
  var children: [Table4] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table4 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table3?
  var children: [Table5] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table5 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table4?
  var children: [Table6] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table6 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table5?
  var children: [Table7] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table7 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table6?
  var children: [Table8] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table8 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table7?
  var children: [Table9] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table9 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table8?
  var children: [Table10] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table10 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table9?
  var children: [Table11] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table11 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table10?
  var children: [Table12] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table12 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table11?
  var children: [Table13] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table13 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table12?
  var children: [Table14] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table14 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table13?
  var children: [Table15] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table15 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table14?
  var children: [Table16] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table16 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table15?
  var children: [Table17] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table17 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table16?
  var children: [Table18] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table18 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table17?
  var children: [Table19] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table19 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table18?
  var children: [Table20] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table20 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table19?
  var children: [Table21] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table21 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table20?
  var children: [Table22] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table22 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table21?
  var children: [Table23] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table23 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table22?
  var children: [Table24] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table24 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table23?
  var children: [Table25] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}

@Model final class Table25 {
  var title = ""
  var rank = 0
  var price = 0.0
  var isActive = true
  var createdAt: Date
  var note: String?
  var parent: Table24?
  var children: [Table26] = []
  var kind: TableKind
  var serial: Int64

  init(createdAt: Date) { (self.createdAt, kind, serial) = (createdAt, .plain, 0) }
}
