import Testing

/// What `@Model` makes of a class below another model, and of constants.
@Suite struct SubclassExpansionTests {
  private let subclass = #"""
    @Model public class Car: Models.Vehicle, Codable {
      public let plate: String
      let built = Date()
      var doors: Int
      init(doors: Int) {}
    }
    """#

  @Test func `a subclass describes its own properties and counts on from the superclass`() {
    expectExpansion(
      of: subclass,
      has: #"""
        @SteadRecords._PersistedProperty(at: "Car._$first + 2", of: "Car")
        var doors: Int
        init(doors: Int) {}

        nonisolated private static var _$first: Int { Models.Vehicle._$propertyCount }

        nonisolated private static let _$constantOffsets = SteadRecords._constantOffsets(in: Car.self, ["plate", "built"])

        public static func _$keyPaths<_$Model: Car>(of _: _$Model.Type) -> [PartialKeyPath<_$Model>] {
          Models.Vehicle._$keyPaths(of: _$Model.self) + [\_$Model.plate, \_$Model.built, \_$Model.doors]
        }
        """#,
      #"""
      nonisolated override public class var _$supermodel: (any SteadRecords.PersistentModel.Type)? { Models.Vehicle.self }

      nonisolated override public class var _$propertyCount: Int { Models.Vehicle._$propertyCount + 3 }

      private static func _$propertyMetadata() -> [SteadRecords.Schema.PropertyMetadata] {
        [
          .init(name: "plate", keypath: \Car.plate),
          .init(name: "built", keypath: \Car.built, defaultValue: Date()),
          .init(name: "doors", keypath: \Car.doors),
          .init(name: "_$inherited", keypath: \Car.persistentModelID, defaultValue: Models.Vehicle._$keyPaths(of: Car.self)),
        ]
      }

      nonisolated override public class var schemaMetadata: [SteadRecords.Schema.PropertyMetadata] {
        SteadRecords._describe(Car._$propertyMetadata)
      }
      """#, isSubclass: true)
  }

  @Test func `a subclass reads and writes rows beside its superclass`() {
    expectExpansion(
      of: subclass,
      has: #"""
        nonisolated public required init(_row _$row: SteadRecords._RowReader) {
          self.plate = SteadRecords._loadConstant(SteadRecords._makeSlot((String).self), _$row, Car._$first + 0)
          _$proof_doors = .init()
          super.init(_row: _$row)
          SteadRecords._reloadConstant(self, Car._$constantOffsets[1], SteadRecords._makeSlot(inferring: Date()), _$row, Car._$first + 1)
          _$slot_doors._load(_$row, Car._$first + 2)
        }

        nonisolated override public func _$reload(_ _$row: SteadRecords._RowReader) {
          super._$reload(_$row)
          SteadRecords._reloadConstant(self, Car._$constantOffsets[0], SteadRecords._makeSlot((String).self), _$row, Car._$first + 0)
          SteadRecords._reloadConstant(self, Car._$constantOffsets[1], SteadRecords._makeSlot(inferring: Date()), _$row, Car._$first + 1)
          _$slot_doors._load(_$row, Car._$first + 2)
        }

        nonisolated override public func _$bind(_ _$row: SteadRecords._RowWriter) {
          super._$bind(_$row)
          SteadRecords._fill(SteadRecords._makeSlot((String).self), self.plate)._bind(_$row, Car._$first + 0)
          SteadRecords._fill(SteadRecords._makeSlot(inferring: Date()), self.built)._bind(_$row, Car._$first + 1)
          _$slot_doors._bind(_$row, Car._$first + 2)
        }
        """#,
      #"""
      nonisolated override public func _$visit<_$Visitor: SteadRecords._SlotVisitor>(_ _$index: Int, _ _$visitor: inout _$Visitor) {
        switch _$index - Car._$first {
        case 0:
        var _$slot = SteadRecords._fill(SteadRecords._makeSlot((String).self), self.plate)
        _$visitor.visit(&_$slot, _$index)
        SteadRecords._writeBack(_$slot, self, Car._$constantOffsets[0], _$index, _$visitor)
        case 1:
        var _$slot = SteadRecords._fill(SteadRecords._makeSlot(inferring: Date()), self.built)
        _$visitor.visit(&_$slot, _$index)
        SteadRecords._writeBack(_$slot, self, Car._$constantOffsets[1], _$index, _$visitor)
        case 2: _$visitor.visit(&_$slot_doors, _$index)
        default: super._$visit(_$index, &_$visitor)
        }
      }
      """#, isSubclass: true)
  }
}
