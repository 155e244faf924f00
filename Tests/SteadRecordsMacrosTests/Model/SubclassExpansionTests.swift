import Testing

/// What `@Model` makes of a class below another model, and of constants.
@Suite struct SubclassExpansionTests {
  @Test func membersOverrideThoseOfTheSuperclass() {
    expectExpansion(
      of: #"""
        @Model public class Car: Models.Vehicle, Codable {
          public let plate: String
          let built = Date()
          var doors: Int
          init(doors: Int) {}
        }
        """#,
      is: #"""
        public class Car: Models.Vehicle, Codable {
          public let plate: String
          let built = Date()
          @SteadRecords._PersistedProperty(at: "Car._$first + 2", of: "Car")
          var doors: Int
          init(doors: Int) {}

          nonisolated private static var _$first: Int {
            Models.Vehicle._$propertyCount
          }

          nonisolated private static let _$constantOffsets = SteadRecords._constantOffsets(in: Car.self, ["plate", "built"])

          nonisolated override public class var _$supermodel: (any SteadRecords.PersistentModel.Type)? {
            Models.Vehicle.self
          }

          nonisolated override public class var _$propertyCount: Int {
            Models.Vehicle._$propertyCount + 3
          }

          private static func _$propertyMetadata() -> [SteadRecords.Schema.PropertyMetadata] {
            [
              .init(name: "plate", keypath: \Car.plate),
              .init(name: "built", keypath: \Car.built, defaultValue: Date()),
              .init(name: "doors", keypath: \Car.doors),
            ]
          }

          nonisolated override public class var schemaMetadata: [SteadRecords.Schema.PropertyMetadata] {
            SteadRecords._describe(Car._$propertyMetadata)
          }

          nonisolated public required init(_row row: SteadRecords._RowReader) {
            plate = SteadRecords._loadConstant(SteadRecords._makeSlot((String).self), row, Car._$first + 0)
            _$doors = .init()
            super.init(_row: row)
            SteadRecords._reloadConstant(self, Car._$constantOffsets[1], SteadRecords._makeSlot(inferring: Date()), row, Car._$first + 1)
            _doors._load(row, Car._$first + 2)
          }

          nonisolated override public func _$reload(_ row: SteadRecords._RowReader) {
            super._$reload(row)
            SteadRecords._reloadConstant(self, Car._$constantOffsets[0], SteadRecords._makeSlot((String).self), row, Car._$first + 0)
            SteadRecords._reloadConstant(self, Car._$constantOffsets[1], SteadRecords._makeSlot(inferring: Date()), row, Car._$first + 1)
            _doors._load(row, Car._$first + 2)
          }

          nonisolated override public func _$bind(_ row: SteadRecords._RowWriter) {
            super._$bind(row)
            SteadRecords._fill(SteadRecords._makeSlot((String).self), plate)._bind(row, Car._$first + 0)
            SteadRecords._fill(SteadRecords._makeSlot(inferring: Date()), built)._bind(row, Car._$first + 1)
            _doors._bind(row, Car._$first + 2)
          }

          nonisolated override public func _$visit<Visitor: SteadRecords._SlotVisitor>(_ index: Int, _ visitor: inout Visitor) {
            switch index - Car._$first {
            case 0:
              var slot = SteadRecords._fill(SteadRecords._makeSlot((String).self), plate)
              visitor.visit(&slot, index)
            case 1:
              var slot = SteadRecords._fill(SteadRecords._makeSlot(inferring: Date()), built)
              visitor.visit(&slot, index)
            case 2:
              visitor.visit(&_doors, index)
            default:
              super._$visit(index, &visitor)
            }
          }
        }
        """#, isSubclass: true)
  }
}
