extension RuleSamples {
  static let p23 = RuleSamples(
    rule: "P23",
    flagged: [
      "func f() throws -> Int { try context.fetch(FetchDescriptor<A>()).count } // !",
      "let p = #Predicate<A> { $0.tags.isEmpty == false } // !",
      """
      @Model class A { var n = 1; var isBig: Bool { n > 10 } }
      let p = #Predicate<A> { $0.isBig } // !
      """,
      """
      @Model class A { @Transient var shown = false; var n = 1 }
      let p = #Predicate<A> { a in a.shown == true } // !
      """,
      """
      @Model class A { var owner: B? }
      @Model class B { var n = 1 }
      func f(owner: B) { let p = #Predicate<A> { $0.owner == owner } } // !
      """,
      """
      let p = FetchDescriptor<A>(predicate: #Predicate { $0.fullName == name }) // !
      // file: A.swift
      @Model class A { var first = "" }
      // file: A+Names.swift
      extension A { var fullName: String { first } }
      """,
      "func f() { let n = (try? modelContext.fetch(d).count) ?? 0 } // !",
    ],
    silent: [
      "struct Feed { let context: Loader; func n() -> Int { context.fetch(all).count } }",
      "func f() throws -> Int { try context.fetchCount(d) }",
      "let p = #Predicate<A> { !$0.tags.isEmpty }",
      "@Model class A { var n = 1; var isBig: Bool { n > 1 } }\nlet p = #Predicate<A> { $0.n > 10 }",
      "@Model class A { var n = 1 { didSet { go() } } }\nlet p = #Predicate<A> { $0.n > 10 }",
      "@Model class A { var o: B? }\n@Model class B { var n = 1 }\nlet p = #Predicate<A> { $0.o == nil }",
      "@Model class A { var o: B? }\n@Model class B { var n = 1 }\nlet p = #Predicate<A> { $0.o?.persistentModelID == id }",
      "func f() throws { let all = try context.fetch(d); print(all.count, all) }",
      "func f() { items.filter { $0.isEmpty == false } }",
      "let p = #Predicate<Unknown> { $0.computed }",
    ])
}
