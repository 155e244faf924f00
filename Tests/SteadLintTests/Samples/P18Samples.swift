extension RuleSamples {
  static let p18 = RuleSamples(
    rule: "P18",
    flagged: [
      "@Model class Order { var lines: [Line] = [] } // !\n@Model class Line { var order: Order }",
      #"""
      @Model class Order {
        @Relationship(deleteRule: .nullify, inverse: \Line.order) var lines: [Line] = [] // !
      }
      @Model class Line { var order: Order }
      """#,
      #"""
      @Model class A {
        @Relationship(deleteRule: .noAction, inverse: \B.a) var bs: [B]? // !
      }
      @Model class B { var a: A? }
      """#,
      "@Model class A { var bs: [B]? } // ?\n@Model class B { var a: A? }",
      #"@Model class A { @Relationship(inverse: \B.a) var bs: [B] = [] } // ?"#
        + "\n@Model class B { var a: A? }",
      "@Model class A { @Relationship(deleteRule: .noAction) var b: B? } // !\n@Model class B { var x = 1 }",
      "@Model class A { var bs: [B] = [] } // !\n// file: B.swift\n@Model class B { var owner: A; var n = 1 }",
    ],
    silent: [
      "@Model class A { @Relationship(deleteRule: .cascade) var bs: [B] = [] }\n@Model class B { var a: A }",
      "@Model class A { @Relationship(deleteRule: .nullify) var bs: [B] = [] }\n@Model class B { var a: A? }",
      "@Model class A { var b: B? }\n@Model class B { var title = \"\" }",
      "@Model class A { var names: [String] = [] }",
      "@Model class A { @Relationship(deleteRule: .deny) var bs: [B] = [] }\n@Model class B { var a: A }",
      "class A { var bs: [B] = [] }\n@Model class B { var title = \"\" }",
    ])
}
