/// Apps that end when a store can't be opened are what the rule is about. The calls of `fatalError` and the forced tries
/// below are text that the linter reads, and are never compiled.
extension RuleSamples {
  static let p21 = RuleSamples(
    rule: "P21",
    flagged: [
      #"""
      extension NSPersistentContainer {
        func open() {
          loadPersistentStores { _, error in
            if let error { fatalError("\(error)") } // !
          }
        }
      }
      """#,
      #"""
      func open(_ coordinator: NSPersistentStoreCoordinator) {
        do {
          try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        } catch {
          print(error)
          abort() // !
        }
      }
      """#,
      #"""
      final class IntentHandler: INExtension {
        let container = try! ModelContainer(for: Note.self) // ?
      }
      """#,
      #"""
      func open(_ coordinator: NSPersistentStoreCoordinator) {
        let url = folder.appending(path: "AwfulCache.sqlite")
        do {
          try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        } catch {
          fatalError("\(error)") // ?
        }
      }
      """#,
      #"""
      func open() -> ModelContainer {
        do {
          return try ModelContainer(for: Note.self, migrationPlan: Plan.self)
        } catch {
          do {
            return try ModelContainer(for: Note.self)
          } catch {
            fatalError("\(error)") // !
          }
        }
      }
      """#,
      #"""
      func open() -> ModelContainer {
        UserDefaults.standard.register(defaults: ["clearCacheOnLaunch": true])
        do {
          return try ModelContainer(for: Note.self)
        } catch {
          print(error)
          do {
            return try ModelContainer(for: Note.self)
          } catch {
            fatalError("\(error)") // !
          }
          print("opened")
        }
      }
      """#,
      #"""
      import WidgetKit
      let container = try! ModelContainer(for: Note.self) // !
      """#,
      #"""
      struct TodayTasks: Widget {}
      func container() throws -> ModelContainer {
        do {
          return try ModelContainer(for: Note.self)
        } catch {
          return try ModelContainer(for: Note.self, configurations: .init(isStoredInMemoryOnly: true)) // ?
        }
      }
      """#,
      "let c = try! ModelContainer(for: A.self) // !",
      """
      let c: ModelContainer = {
        do {
          return try ModelContainer(for: A.self)
        } catch {
          fatalError("No container: \\(error)") // !
        }
      }()
      """,
      "let c = try? ModelContainer(for: A.self) // !",
      """
      func make() -> ModelContainer? {
        do {
          return try ModelContainer(for: A.self)
        } catch {
          try? FileManager.default.removeItem(at: url) // !
          return nil
        }
      }
      """,
      """
      func make() throws -> ModelContainer {
        do {
          return try ModelContainer(for: A.self)
        } catch {
          return try ModelContainer(for: A.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)) // !
        }
      }
      """,
      """
      struct Main {
        let container: ModelContainer
        init() {
          do { container = try ModelContainer(for: A.self, migrationPlan: Plan.self) }
          catch { preconditionFailure("\\(error)") } // !
        }
      }
      """,
      """
      func make() -> ModelContainer {
        let configuration = ModelConfiguration(isStoredInMemoryOnly: false)
        return try! ModelContainer(for: A.self, configurations: configuration) // !
      }
      """,
      // The samples are only read by the linter: to end the program is the mistake that it has to find.
      #"""
      enum Store {
        static let cacheContainer: ModelContainer = {
          do { return try ModelContainer(for: A.self) } catch { fatalError() } // ?
        }()
      }
      """#,
      #"""
      func load() {
        container.loadPersistentStores { _, error in
          if let error { fatalError("\(error)") } // !
        }
      }
      """#,
      #"""
      func load() {
        container.loadPersistentStores(completionHandler: { _, error in
          guard error == nil else { assertionFailure(); return } // !
        })
      }
      """#,
      #"""
      func make() -> ModelContainer {
        do {
          return try ModelContainer(for: A.self, configurations: ModelConfiguration(isStoredInMemoryOnly: false))
        } catch {
          let memory = ModelConfiguration(isStoredInMemoryOnly: true)
          do {
            return try ModelContainer(for: A.self, configurations: memory) // !
          } catch {
            fatalError()  // Not found: the container in memory has failed, not the one on disk.
          }
        }
      }
      """#,
    ],
    silent: [
      "let store = try! c.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)",
      #"""
      func open() {
        do {
          container = try ModelContainer(for: Note.self)
        } catch {
          importer.abort()
          failure = error
        }
      }
      """#,
      #"""
      func open() -> ModelContainer {
        do {
          return try ModelContainer(for: Note.self)
        } catch {
          setAside(error)
          do {
            return try ModelContainer(for: Note.self)
          } catch {
            fatalError("\(error)")
          }
        }
      }
      """#,
      "func testChanges() { let c = try! ModelContainer(for: A.self) }",
      "func make() throws -> ModelContainer { try ModelContainer(for: A.self) }",
      "let c = try! ModelContainer(for: A.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))",
      "#Preview { let c = try! ModelContainer(for: A.self); V().modelContainer(c) }",
      "import XCTest\nlet c = try! ModelContainer(for: A.self)",
      "func make() { do { c = try ModelContainer(for: A.self) } catch { failure = error } }",
      "func make() { do { try other() } catch { fatalError() } }",
      """
      func test() -> ModelContainer {
        let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
        return try! ModelContainer(for: A.self, configurations: configuration)
      }
      """,
      """
      struct V_Previews: PreviewProvider {
        static var previews: some View { V().modelContainer(try! ModelContainer(for: A.self)) }
      }
      """,
      #"""
      func load() {
        container.loadPersistentStores { _, error in
          if let error { failure = error }
        }
      }
      """#,
    ])
}
