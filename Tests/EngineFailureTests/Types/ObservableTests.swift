import SwiftData

// Without `import Observation`, as apps for Apple's systems write it.
@Observable private final class Selection {
  var title = ""
}

/// `import SwiftData` brings Observation on Apple's systems, and files without another import did not compile.
@Suite("what the import of SwiftData brings") struct ObservableTests {
  @Test func `a class with the macro Observable is observed`() async {
    let selection = Selection()
    await confirmation { changed in
      withObservationTracking {
        _ = selection.title
      } onChange: {
        changed()
      }
      selection.title = "Emma"
    }
  }
}
