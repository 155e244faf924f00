import Testing

/// What `@Model` makes of a class that has no model above it.
@Suite struct RootExpansionTests {
  @Test func aFinalClassGetsLiteralIndicesAndStaticMembers() {
    expectExpansion(
      of: #"""
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
        """#,
      is: #"""
        final class Task {
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

          @exclusivity(unchecked) nonisolated(unsafe) final var _$state = SteadRecords._ModelState()

          nonisolated final var _$statePointer: UnsafeMutablePointer<SteadRecords._ModelState> {
            withUnsafeMutablePointer(to: &_$state) {
              $0
            }
          }

          nonisolated static var _$supermodel: (any SteadRecords.PersistentModel.Type)? {
            nil
          }

          nonisolated static var _$propertyCount: Int {
            4
          }

          private static func _$propertyMetadata() -> [SteadRecords.Schema.PropertyMetadata] {
            [
              .init(name: "title", keypath: \Task.title, metadata: SteadRecords.Schema.Attribute(.unique)),
              .init(name: "createdAt", keypath: \Task.createdAt, defaultValue: Date()),
              .init(name: "project", keypath: \Task.project),
              .init(name: "steps", keypath: \Task.steps, metadata: SteadRecords.Schema.Relationship(deleteRule: .cascade, inverse: \Step.task)),
              .init(name: "_unique0", keypath: \Task.persistentModelID, metadata: SteadRecords.Schema.Unique<Task>([\.title, \.createdAt])),
              .init(name: "_index0", keypath: \Task.persistentModelID, metadata: SteadRecords.Schema.Index<Task>([\.createdAt], [\.title])),
            ]
          }

          nonisolated static var schemaMetadata: [SteadRecords.Schema.PropertyMetadata] {
            SteadRecords._describe(Task._$propertyMetadata)
          }

          nonisolated required init(_row row: SteadRecords._RowReader) {
            _$title = .init()
            _title._load(row, 0)
            _createdAt._load(row, 1)
            _project._load(row, 2)
            _steps._load(row, 3)
          }

          nonisolated func _$reload(_ row: SteadRecords._RowReader) {
            _title._load(row, 0)
            _createdAt._load(row, 1)
            _project._load(row, 2)
            _steps._load(row, 3)
          }

          nonisolated func _$bind(_ row: SteadRecords._RowWriter) {
            _title._bind(row, 0)
            _createdAt._bind(row, 1)
            _project._bind(row, 2)
            _steps._bind(row, 3)
          }

          nonisolated func _$visit<Visitor: SteadRecords._SlotVisitor>(_ index: Int, _ visitor: inout Visitor) {
            switch index {
            case 0:
              visitor.visit(&_title, index)
            case 1:
              visitor.visit(&_createdAt, index)
            case 2:
              visitor.visit(&_project, index)
            case 3:
              visitor.visit(&_steps, index)
            default:
              break
            }
          }
        }

        nonisolated extension Task: SteadRecords.PersistentModel {
        }

        nonisolated extension Task: SteadRecords._Observable {
        }

        @available(*, unavailable, message: "models belong to one context; send persistentModelID")
        nonisolated extension Task: Swift.Sendable {
        }
        """#)
  }

  @Test func anOpenClassWithConformancesGetsPublicMembersAndCountsOn() {
    expectExpansion(
      of: #"""
        @available(iOS 26, *)
        @Model open class Note: Codable {
          public var text: String = .empty
          init() {}
        }
        """#,
      is: #"""
        @available(iOS 26, *)
        open class Note: Codable {
          @SteadRecords._PersistedProperty(at: "Note._$first + 0", of: "Note")
          public var text: String = .empty
          init() {}

          @exclusivity(unchecked) nonisolated(unsafe) public final var _$state = SteadRecords._ModelState()

          nonisolated public final var _$statePointer: UnsafeMutablePointer<SteadRecords._ModelState> {
            withUnsafeMutablePointer(to: &_$state) {
              $0
            }
          }

          nonisolated private static var _$first: Int {
            0
          }

          nonisolated public class var _$supermodel: (any SteadRecords.PersistentModel.Type)? {
            nil
          }

          nonisolated public class var _$propertyCount: Int {
            1
          }

          private static func _$propertyMetadata() -> [SteadRecords.Schema.PropertyMetadata] {
            [
              .init(name: "text", keypath: \Note.text, defaultValue: (.empty) as String),
            ]
          }

          nonisolated public class var schemaMetadata: [SteadRecords.Schema.PropertyMetadata] {
            SteadRecords._describe(Note._$propertyMetadata)
          }

          nonisolated public required init(_row row: SteadRecords._RowReader) {
            _text._load(row, Note._$first + 0)
          }

          nonisolated public func _$reload(_ row: SteadRecords._RowReader) {
            _text._load(row, Note._$first + 0)
          }

          nonisolated public func _$bind(_ row: SteadRecords._RowWriter) {
            _text._bind(row, Note._$first + 0)
          }

          nonisolated public func _$visit<Visitor: SteadRecords._SlotVisitor>(_ index: Int, _ visitor: inout Visitor) {
            switch index {
            case 0:
              visitor.visit(&_text, index)
            default:
              break
            }
          }
        }

        @available(iOS 26, *)
        nonisolated extension Note: SteadRecords.PersistentModel {
        }

        @available(iOS 26, *)
        nonisolated extension Note: SteadRecords._Observable {
        }

        @available(*, unavailable, message: "models belong to one context; send persistentModelID")
        @available(iOS 26, *)
        nonisolated extension Note: Swift.Sendable {
        }
        """#)
  }

  @Test func aConformanceThatIsThereAlreadyIsNotAddedAgain() {
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
            withUnsafeMutablePointer(to: &_$state) {
              $0
            }
          }

          nonisolated private static var _$first: Int {
            0
          }

          nonisolated static var _$supermodel: (any SteadRecords.PersistentModel.Type)? {
            nil
          }

          nonisolated static var _$propertyCount: Int {
            0
          }

          private static func _$propertyMetadata() -> [SteadRecords.Schema.PropertyMetadata] {
            []
          }

          nonisolated static var schemaMetadata: [SteadRecords.Schema.PropertyMetadata] {
            SteadRecords._describe(Empty._$propertyMetadata)
          }

          nonisolated required init(_row row: SteadRecords._RowReader) {

          }

          nonisolated func _$reload(_ row: SteadRecords._RowReader) {

          }

          nonisolated func _$bind(_ row: SteadRecords._RowWriter) {

          }

          nonisolated func _$visit<Visitor: SteadRecords._SlotVisitor>(_ index: Int, _ visitor: inout Visitor) {
            switch index {
            default:
              break
            }
          }
        }
        """#, isSubclass: true)
  }
}
