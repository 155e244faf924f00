import Testing

/// What `@_PersistedProperty` makes of a property.
@Suite struct PropertyExpansionTests {
  @Test func `a typed property gets a slot of its type and a proof of initialization`() {
    expectExpansion(
      of: #"""
        class Task {
          @_PersistedProperty(at: "0", of: "Task") private(set) var title: String
        }
        """#,
      is: #"""
        class Task {
          private(set) var title: String {
            @storageRestrictions(accesses: _$slot_title, _$state, initializes: _$proof_title)
            init(initialValue) {
              _$slot_title = .init(initialValue, &_$state, 0, Task.self)
              _$proof_title = .init()
            }
            get {
              if _$state.isWatched { SteadRecords._willRead(self, 0, \Task.title) }
              let _$slot = _$slot_title
              return _$slot.read(self, 0)
            }
            set(_$new) {
              SteadRecords._willWrite(self, 0, \Task.title)
              let _$old = _$slot_title
              _$slot_title = .init(_$new)
              _$old.didReplace(with: _$new, self, 0)
              SteadRecords._didWrite(self, 0, \Task.title)
            }
          }

          @exclusivity(unchecked) nonisolated(unsafe) private final var _$slot_title = SteadRecords._makeSlot((String).self)

          nonisolated(unsafe) private final var _$proof_title: SteadRecords._Initialized
        }
        """#)
  }

  @Test func `a list gets an accessor that lends it`() {
    expectExpansion(
      of: #"""
        class Task {
          @_PersistedProperty(at: "0", of: "Task") var steps: [Step] = []
        }
        """#,
      is: #"""
        class Task {
          var steps: [Step] {
            @storageRestrictions(accesses: _$slot_steps, _$state, initializes: _$proof_steps)
            init(initialValue) {
              _$slot_steps = .init(initialValue, &_$state, 0, Task.self)
              _$proof_steps = .init()
            }
            get {
              if _$state.isWatched { SteadRecords._willRead(self, 0, \Task.steps) }
              let _$slot = _$slot_steps
              return _$slot.read(self, 0)
            }
            set(_$new) {
              SteadRecords._willWrite(self, 0, \Task.steps)
              let _$old = _$slot_steps
              _$slot_steps = .init(_$new)
              _$old.didReplace(with: _$new, self, 0)
              SteadRecords._didWrite(self, 0, \Task.steps)
            }
            _modify {
              if _$state.isWatched { SteadRecords._willRead(self, 0, \Task.steps) }
              var _$new = _$slot_steps._lend(self, 0)
              defer {
                SteadRecords._willWrite(self, 0, \Task.steps)
                SteadRecords._takeBack(_$new, into: SteadRecords._address(of: &_$slot_steps), self, 0)
                SteadRecords._didWrite(self, 0, \Task.steps)
              }
              yield &_$new
            }
          }

          @exclusivity(unchecked) nonisolated(unsafe) private final var _$slot_steps = SteadRecords._makeSlot(([Step]).self)

          nonisolated(unsafe) private final var _$proof_steps: SteadRecords._Initialized = SteadRecords._Initialized()
        }
        """#)
  }

  @Test func `an untyped property lets the compiler infer its slot`() {
    expectExpansion(
      of: #"""
        class Task {
          @_PersistedProperty(at: "Task._$first + 1", of: "Task") var `default` = Date()
        }
        """#,
      is: #"""
        class Task {
          var `default` {
            @storageRestrictions(accesses: _$slot_default, initializes: _$proof_default)
            init(initialValue) {
              _$slot_default = .init(initialValue)
              _$proof_default = .init()
            }
            get {
              if _$state.isWatched { SteadRecords._willRead(self, Task._$first + 1, \Task.`default`) }
              let _$slot = _$slot_default
              return _$slot.read(self, Task._$first + 1)
            }
            set(_$new) {
              SteadRecords._willWrite(self, Task._$first + 1, \Task.`default`)
              let _$old = _$slot_default
              _$slot_default = .init(_$new)
              _$old.didReplace(with: _$new, self, Task._$first + 1)
              SteadRecords._didWrite(self, Task._$first + 1, \Task.`default`)
            }
          }

          @exclusivity(unchecked) nonisolated(unsafe) private final var _$slot_default = SteadRecords._makeSlot(inferring: Date())

          nonisolated(unsafe) private final var _$proof_default: SteadRecords._Initialized = SteadRecords._Initialized()
        }
        """#)
  }

  @Test(
    arguments: [
      (
        "@Attribute(.externalStorage)", "file: Data?", "file",
        "_makeSlot((Data?).self, external: true)"
      ),
      (
        "@Attribute(.externalStorage)", "file = Data()", "file",
        "_makeSlot(inferring: Data(), external: true)"
      ),
      (
        #"@Attribute(.transformable(by: "Name"))"#, "color: Color!", "color",
        "_makeTransformableSlot((Color?).self)"
      ),
      ("@Attribute(.codable)", "value = Value()", "value", "_makeOpaqueSlot(inferring: Value())"),
    ])
  func `options choose the function of the slot`(
    option: String, property: String, name: String, slot: String
  ) {
    expectExpansion(
      of: """
        class Task {
          \(option) @_PersistedProperty(at: "0", of: "Task") var \(property)
        }
        """,
      has:
        "@exclusivity(unchecked) nonisolated(unsafe) private final var _$slot_\(name) = SteadRecords.\(slot)",
      """
      let _$slot = _$slot_\(name)
      return _$slot.read(self, 0)
      """)
  }

  @Test func `observers run around the write unless one runs already`() {
    expectExpansion(
      of: #"""
        class Task {
          @_PersistedProperty(at: "0", of: "Task") var count: Int = 0 {
            willSet(next) { print(next) }
            didSet { print(oldValue) }
          }
        }
        """#,
      is: #"""
        class Task {
          var count: Int {
            willSet(next) { print(next) }
            didSet { print(oldValue) }
              @storageRestrictions(accesses: _$slot_count, _$state, initializes: _$proof_count)
              init(initialValue) {
                _$slot_count = .init(initialValue, &_$state, 0, Task.self)
                _$proof_count = .init()
              }

              get {
                if _$state.isWatched { SteadRecords._willRead(self, 0, \Task.count) }
                let _$slot = _$slot_count
                return _$slot.read(self, 0)
              }

              set(_$new) {
                let _$isOutermost = !_$observing_count
                _$observing_count = true
                defer { if _$isOutermost { _$observing_count = false } }
                func _$willSet() {
                let next = _$new
                print(next)
              }
                if _$isOutermost { _$willSet() }
                SteadRecords._willWrite(self, 0, \Task.count)
                let _$old = _$slot_count
                let _$previous = _$old.read(self, 0)
                _$slot_count = .init(_$new)
                _$old.didReplace(with: _$new, self, 0)
                SteadRecords._didWrite(self, 0, \Task.count)
                func _$didSet() {
                let oldValue = _$previous
                print(oldValue)
              }
                if _$isOutermost { _$didSet() }
              }
          }

          @exclusivity(unchecked) nonisolated(unsafe) private final var _$slot_count = SteadRecords._makeSlot((Int).self)

          nonisolated(unsafe) private final var _$proof_count: SteadRecords._Initialized = SteadRecords._Initialized()

          @exclusivity(unchecked) nonisolated(unsafe) private final var _$observing_count = false
        }
        """#)
  }
}
