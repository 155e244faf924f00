import Testing

/// What `@_PersistedProperty` makes of a property.
@Suite struct PropertyExpansionTests {
  @Test func aTypedPropertyGetsASlotOfItsTypeAndAProofOfInitialization() {
    expectExpansion(
      of: #"""
        class Task {
          @_PersistedProperty(at: "0", of: "Task") private(set) var title: String
        }
        """#,
      is: #"""
        class Task {
          private(set) var title: String {
            @storageRestrictions(accesses: _title, initializes: _$title)
            init(initialValue) {
              _title = .init(initialValue)
              _$title = .init()
            }
            get {
              if _$state.isWatched {
                SteadRecords._willRead(self, 0, \Task.title)
              }
              let slot = _title
              return slot.read(self, 0)
            }
            set {
              SteadRecords._willWrite(self, 0, \Task.title)
              let old = _title
              _title = .init(newValue)
              old.didReplace(with: newValue, self, 0)
              SteadRecords._didWrite(self, 0, \Task.title)
            }
          }

          @exclusivity(unchecked) nonisolated(unsafe) private final var _title = SteadRecords._makeSlot((String).self)

          nonisolated(unsafe) private final var _$title: SteadRecords._Initialized
        }
        """#)
  }

  @Test func anUntypedPropertyLetsTheCompilerInferItsSlot() {
    expectExpansion(
      of: #"""
        class Task {
          @_PersistedProperty(at: "Task._$first + 1", of: "Task") var `default` = Date()
        }
        """#,
      is: #"""
        class Task {
          var `default` {
            @storageRestrictions(accesses: _default, initializes: _$default)
            init(initialValue) {
              _default = .init(initialValue)
              _$default = .init()
            }
            get {
              if _$state.isWatched {
                SteadRecords._willRead(self, Task._$first + 1, \Task.`default`)
              }
              let slot = _default
              return slot.read(self, Task._$first + 1)
            }
            set {
              SteadRecords._willWrite(self, Task._$first + 1, \Task.`default`)
              let old = _default
              _default = .init(newValue)
              old.didReplace(with: newValue, self, Task._$first + 1)
              SteadRecords._didWrite(self, Task._$first + 1, \Task.`default`)
            }
          }

          @exclusivity(unchecked) nonisolated(unsafe) private final var _default = SteadRecords._makeSlot(inferring: Date())

          nonisolated(unsafe) private final var _$default: SteadRecords._Initialized = SteadRecords._Initialized()
        }
        """#)
  }

  @Test func optionsChooseTheFamilyOfTheSlot() {
    expectExpansion(
      of: #"""
        class Task {
          @Attribute(.externalStorage) @_PersistedProperty(at: "0", of: "Task") var file: Data?
        }
        """#,
      is: #"""
        class Task {
          var file: Data? {
            @storageRestrictions(accesses: _file, initializes: _$file)
            init(initialValue) {
              _file = .init(initialValue)
              _$file = .init()
            }
            get {
              if _$state.isWatched {
                SteadRecords._willRead(self, 0, \Task.file)
              }
              let slot = _file
              return slot.read(self, 0)
            }
            set {
              SteadRecords._willWrite(self, 0, \Task.file)
              let old = _file
              _file = .init(newValue)
              old.didReplace(with: newValue, self, 0)
              SteadRecords._didWrite(self, 0, \Task.file)
            }
          }

          @exclusivity(unchecked) nonisolated(unsafe) private final var _file = SteadRecords._makeExternalSlot((Data?).self)

          nonisolated(unsafe) private final var _$file: SteadRecords._Initialized = SteadRecords._Initialized()
        }
        """#)
    expectExpansion(
      of: #"""
        class Task {
          @Attribute(.transformable(by: "Name"))
          @_PersistedProperty(at: "0", of: "Task") var color: Color!
        }
        """#,
      is: #"""
        class Task {
          var color: Color! {
            @storageRestrictions(accesses: _color, initializes: _$color)
            init(initialValue) {
              _color = .init(initialValue)
              _$color = .init()
            }
            get {
              if _$state.isWatched {
                SteadRecords._willRead(self, 0, \Task.color)
              }
              let slot = _color
              return slot.read(self, 0)
            }
            set {
              SteadRecords._willWrite(self, 0, \Task.color)
              let old = _color
              _color = .init(newValue)
              old.didReplace(with: newValue, self, 0)
              SteadRecords._didWrite(self, 0, \Task.color)
            }
          }

          @exclusivity(unchecked) nonisolated(unsafe) private final var _color = SteadRecords._makeTransformableSlot((Color?).self)

          nonisolated(unsafe) private final var _$color: SteadRecords._Initialized = SteadRecords._Initialized()
        }
        """#)
    expectExpansion(
      of: #"""
        class Task {
          @Attribute(.codable) @_PersistedProperty(at: "0", of: "Task") var value = Value()
        }
        """#,
      is: #"""
        class Task {
          var value {
            @storageRestrictions(accesses: _value, initializes: _$value)
            init(initialValue) {
              _value = .init(initialValue)
              _$value = .init()
            }
            get {
              if _$state.isWatched {
                SteadRecords._willRead(self, 0, \Task.value)
              }
              let slot = _value
              return slot.read(self, 0)
            }
            set {
              SteadRecords._willWrite(self, 0, \Task.value)
              let old = _value
              _value = .init(newValue)
              old.didReplace(with: newValue, self, 0)
              SteadRecords._didWrite(self, 0, \Task.value)
            }
          }

          @exclusivity(unchecked) nonisolated(unsafe) private final var _value = SteadRecords._makeOpaqueSlot(inferring: Value())

          nonisolated(unsafe) private final var _$value: SteadRecords._Initialized = SteadRecords._Initialized()
        }
        """#)
  }

  @Test func observersRunAroundTheWriteUnlessOneRunsAlready() {
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
            @storageRestrictions(accesses: _count, initializes: _$count)
            init(initialValue) {
              _count = .init(initialValue)
              _$count = .init()
            }

            get {
              if _$state.isWatched {
                SteadRecords._willRead(self, 0, \Task.count)
              }
              let slot = _count
              return slot.read(self, 0)
            }

            set {
              let isOutermost = !_$isObserving_count
              _$isObserving_count = true
              defer {
                if isOutermost {
                  _$isObserving_count = false
                }
              }
              func willSet() {
                let next = newValue
                print(next)
              }
              if isOutermost {
                willSet()
              }
              SteadRecords._willWrite(self, 0, \Task.count)
              let old = _count
              let previous = old.read(self, 0)
              _count = .init(newValue)
              old.didReplace(with: newValue, self, 0)
              SteadRecords._didWrite(self, 0, \Task.count)
              func didSet() {
                let oldValue = previous
                print(oldValue)
              }
              if isOutermost {
                didSet()
              }
            }
          }

          @exclusivity(unchecked) nonisolated(unsafe) private final var _count = SteadRecords._makeSlot((Int).self)

          nonisolated(unsafe) private final var _$count: SteadRecords._Initialized = SteadRecords._Initialized()

          @exclusivity(unchecked) nonisolated(unsafe) private final var _$isObserving_count = false
        }
        """#)
  }
}
