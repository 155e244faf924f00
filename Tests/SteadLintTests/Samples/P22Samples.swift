extension RuleSamples {
  static let p22 = RuleSamples(
    rule: "P22",
    flagged: [
      "func f() { try? modelContext.save() } // !",
      "func f() { try? container.mainContext.save() } // !",
      "func f() { _ = try? viewContext.save() } // !",
      "func f(_ store: ModelContext) { try? store.save() } // !",
      "func f() async { try? await backgroundContext.save() } // !",
      "class A { let moc: NSManagedObjectContext; func f() { try? self.moc.save() } } // !",
      "func f() { Button(\"Save\") { try? context.save() } } // !",
    ],
    silent: [
      "func f() throws { try modelContext.save() }",
      "func f() { try? document.save() }",
      "func f() { do { try context.save() } catch { show(error) } }",
      "func f() { if (try? context.save()) == nil { show() } }",
      "func f(context: EditorContext) { try? context.save() }",
      "#Preview { try? context.save() }",
      "import XCTest\nfunc testA() { try? context.save() }",
      "func f() { try? context.save(to: url) }",
    ])
}
