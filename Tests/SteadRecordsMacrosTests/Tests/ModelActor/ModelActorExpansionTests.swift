import Testing

/// What `@ModelActor` makes of an actor.
@Suite struct ModelActorExpansionTests {
  @Test func `a public actor gets public members`() {
    expectExpansion(
      of: #"""
        @ModelActor public actor Worker {
          var count = 0
        }
        """#,
      is: #"""
        public actor Worker {
          var count = 0

          nonisolated public let modelExecutor: any SteadRecords.ModelExecutor

          nonisolated public let modelContainer: SteadRecords.ModelContainer

          public init(modelContainer: SteadRecords.ModelContainer) {
            let modelContext = SteadRecords.ModelContext(modelContainer)
            self.modelExecutor = SteadRecords.DefaultSerialModelExecutor(modelContext: modelContext)
            self.modelContainer = modelContainer
          }
        }

        extension Worker: SteadRecords.ModelActor {
        }
        """#)
  }

  @Test func `an actor with more to store keeps its own initializer`() {
    expectExpansion(
      of: #"""
        @ModelActor actor Worker {
          let label: String
          init(label: String, modelContainer: ModelContainer) {}
        }
        """#,
      is: #"""
        actor Worker {
          let label: String
          init(label: String, modelContainer: ModelContainer) {}

          nonisolated let modelExecutor: any SteadRecords.ModelExecutor

          nonisolated let modelContainer: SteadRecords.ModelContainer
        }

        extension Worker: SteadRecords.ModelActor {
        }
        """#)
  }
}
