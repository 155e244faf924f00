import Testing

/// What `@Model` makes of a class that has no model above it.
@Suite struct RootExpansionTests {
  /// A class with a property of each kind.
  private let finalClass = #"""
    @Model final class Task {
      @Attribute(.unique) var title: String
      var createdAt = Date()
      var project: Project?
      @Relationship(deleteRule: .cascade, inverse: \Step.task) var steps: [Step] = []
      @Transient var selected = false
      var count: Int { steps.count }
      static let limit = 5
      #Unique<Task>([\.title, \.createdAt])
      #Index<Task>([\.createdAt], [\.title])
      init(title: String) { self.title = title }
    }
    """#

  @Test func `a final class keeps its properties and describes them by static members`() {
    expectExpansion(
      of: finalClass,
      has: #"""
        @SteadRecords._PersistedProperty(at: "0", of: "Task") var title: String
        @SteadRecords._PersistedProperty(at: "1", of: "Task")
        var createdAt = Date()
        @SteadRecords._PersistedProperty(at: "2", of: "Task")
        var project: Project?
        @SteadRecords._PersistedProperty(at: "3", of: "Task") var steps: [Step] = []
        var selected = false
        var count: Int { steps.count }
        static let limit = 5
        init(title: String) { self.title = title }
        """#,
      #"""
      @exclusivity(unchecked) nonisolated(unsafe) final var _$state = SteadRecords._ModelState()

      nonisolated final var _$statePointer: UnsafeMutablePointer<SteadRecords._ModelState> {
        SteadRecords._pointer(to: &_$state)
      }
      """#,
      #"""
      nonisolated static var _$supermodel: (any SteadRecords.PersistentModel.Type)? { nil }

      nonisolated static var _$propertyCount: Int { 4 }
      """#,
      #"""
      private static func _$propertyMetadata() -> [SteadRecords.Schema.PropertyMetadata] {
        [
          .init(name: "title", keypath: \Task.title, metadata: SteadRecords.Schema.Attribute(.unique)),
          .init(name: "createdAt", keypath: \Task.createdAt, defaultValue: Date()),
          .init(name: "project", keypath: \Task.project),
          .init(name: "steps", keypath: \Task.steps, metadata: SteadRecords.Schema.Relationship(deleteRule: .cascade, inverse: \Step.task)),
          .init(name: "_$unique0", keypath: \Task.persistentModelID, metadata: SteadRecords.Schema.Unique<Task>([\.title, \.createdAt])),
          .init(name: "_$index0", keypath: \Task.persistentModelID, metadata: SteadRecords.Schema.Index<Task>([\.createdAt], [\.title])),
        ]
      }

      nonisolated static var schemaMetadata: [SteadRecords.Schema.PropertyMetadata] {
        SteadRecords._describe(Task._$propertyMetadata)
      }
      """#)
  }

  @Test func `a final class reads and writes rows by literal indices`() {
    expectExpansion(
      of: finalClass,
      has: #"""
        nonisolated required init(_row _$row: SteadRecords._RowReader) {
          _$proof_title = .init()
          _$slot_title._load(_$row, 0)
          _$slot_createdAt._load(_$row, 1)
          _$slot_project._load(_$row, 2)
          _$slot_steps._load(_$row, 3)
        }

        nonisolated func _$reload(_ _$row: SteadRecords._RowReader) {
          _$slot_title._load(_$row, 0)
          _$slot_createdAt._load(_$row, 1)
          _$slot_project._load(_$row, 2)
          _$slot_steps._load(_$row, 3)
        }

        nonisolated func _$bind(_ _$row: SteadRecords._RowWriter) {
          _$slot_title._bind(_$row, 0)
          _$slot_createdAt._bind(_$row, 1)
          _$slot_project._bind(_$row, 2)
          _$slot_steps._bind(_$row, 3)
        }

        nonisolated func _$visit<_$Visitor: SteadRecords._SlotVisitor>(_ _$index: Int, _ _$visitor: inout _$Visitor) {
          switch _$index {
          case 0: _$visitor.visit(&_$slot_title, _$index)
          case 1: _$visitor.visit(&_$slot_createdAt, _$index)
          case 2: _$visitor.visit(&_$slot_project, _$index)
          case 3: _$visitor.visit(&_$slot_steps, _$index)
          default: break
          }
        }
        """#)
  }

  @Test func `a final class makes objects without its initializers and ends without recursion`() {
    expectExpansion(
      of: finalClass,
      has: #"""
        nonisolated private static let _$isMakeable = SteadRecords._canMake(Task.self, fields: 10)

        nonisolated static func _$make(_ _$row: SteadRecords._RowReader) -> Task {
          guard _$isMakeable else { return Task(_row: _$row) }
          let _$object = SteadRecords._allocate(Task.self)
          SteadRecords._place(SteadRecords._ModelState(), in: &_$object._$state)
          SteadRecords._place(SteadRecords._makeSlot((String).self), in: &_$object._$slot_title)
          SteadRecords._place(SteadRecords._makeSlot(inferring: Date()), in: &_$object._$slot_createdAt)
          SteadRecords._place(SteadRecords._makeSlot((Project?).self), in: &_$object._$slot_project)
          SteadRecords._place(SteadRecords._makeSlot(([Step]).self), in: &_$object._$slot_steps)
          SteadRecords._fillUnstored(_$object, with: Task._$fillUnstored)
          _$object._$reload(_$row)
          return _$object
        }

        private static func _$fillUnstored(_ _$object: Task) {
          SteadRecords._place(false, in: &_$object.selected)
        }

        deinit {
          SteadRecords._unlink(&_$slot_project)
          SteadRecords._unlink(&_$slot_steps)
        }
        """#,
      #"""
      nonisolated extension Task: SteadRecords.PersistentModel {}

      nonisolated extension Task: SteadRecords._Observable {}

      @available(*, unavailable, message: "models belong to one context; send persistentModelID")
      nonisolated extension Task: Swift.Sendable {}
      """#)
  }

  @Test func `an open class with conformances gets public members and counts on`() {
    expectExpansion(
      of: #"""
        @available(iOS 26, *)
        @Model open class Note: Codable {
          public var text: String = .empty
          init() {}
        }
        """#,
      is: Self.openNote)
  }

  private static let openNote = #"""
    @available(iOS 26, *)
    open class Note: Codable {
      @SteadRecords._PersistedProperty(at: "Note._$first + 0", of: "Note")
      public var text: String = .empty
      init() {}

      @exclusivity(unchecked) nonisolated(unsafe) public final var _$state = SteadRecords._ModelState()

      nonisolated public final var _$statePointer: UnsafeMutablePointer<SteadRecords._ModelState> {
        SteadRecords._pointer(to: &_$state)
      }

      nonisolated private static var _$first: Int { 0 }

      public static func _$keyPaths<_$Model: Note>(of _: _$Model.Type) -> [PartialKeyPath<_$Model>] {
        [\_$Model.text]
      }

      nonisolated public class var _$supermodel: (any SteadRecords.PersistentModel.Type)? { nil }

      nonisolated public class var _$propertyCount: Int { 1 }

      private static func _$propertyMetadata() -> [SteadRecords.Schema.PropertyMetadata] {
        [
          .init(name: "text", keypath: \Note.text, defaultValue: (.empty) as String),
        ]
      }

      nonisolated public class var schemaMetadata: [SteadRecords.Schema.PropertyMetadata] {
        SteadRecords._describe(Note._$propertyMetadata)
      }

      nonisolated public required init(_row _$row: SteadRecords._RowReader) {
        _$slot_text._load(_$row, Note._$first + 0)
      }

      nonisolated public func _$reload(_ _$row: SteadRecords._RowReader) {
        _$slot_text._load(_$row, Note._$first + 0)
      }

      nonisolated public func _$bind(_ _$row: SteadRecords._RowWriter) {
        _$slot_text._bind(_$row, Note._$first + 0)
      }

      nonisolated public func _$visit<_$Visitor: SteadRecords._SlotVisitor>(_ _$index: Int, _ _$visitor: inout _$Visitor) {
        switch _$index {
        case 0: _$visitor.visit(&_$slot_text, _$index)
        default: break
        }
      }
    }

    @available(iOS 26, *)
    nonisolated extension Note: SteadRecords.PersistentModel {}

    @available(iOS 26, *)
    nonisolated extension Note: SteadRecords._Observable {}

    @available(*, unavailable, message: "models belong to one context; send persistentModelID")
    @available(iOS 26, *)
    nonisolated extension Note: Swift.Sendable {}
    """#

  @Test func `a conformance that is there already is not added again`() {
    expectExpansion(
      of: #"""
        @Model final class Empty: PersistentModel {
          init() {}
        }
        """#,
      is: #"""
        final class Empty: PersistentModel {
          init() {}

          @exclusivity(unchecked) nonisolated(unsafe) final var _$state = SteadRecords._ModelState()

          nonisolated final var _$statePointer: UnsafeMutablePointer<SteadRecords._ModelState> {
            SteadRecords._pointer(to: &_$state)
          }

          nonisolated private static var _$first: Int { 0 }

          nonisolated static var _$supermodel: (any SteadRecords.PersistentModel.Type)? { nil }

          nonisolated static var _$propertyCount: Int { 0 }

          private static func _$propertyMetadata() -> [SteadRecords.Schema.PropertyMetadata] {
            []
          }

          nonisolated static var schemaMetadata: [SteadRecords.Schema.PropertyMetadata] {
            SteadRecords._describe(Empty._$propertyMetadata)
          }

          nonisolated required init(_row _$row: SteadRecords._RowReader) {}

          nonisolated func _$reload(_ _$row: SteadRecords._RowReader) {}

          nonisolated func _$bind(_ _$row: SteadRecords._RowWriter) {}

          nonisolated func _$visit<_$Visitor: SteadRecords._SlotVisitor>(_ _$index: Int, _ _$visitor: inout _$Visitor) {
            switch _$index {
            default: break
            }
          }
        }
        """#, isSubclass: true)
  }
}
