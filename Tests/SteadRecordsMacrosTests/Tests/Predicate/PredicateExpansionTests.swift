import Testing

/// What `#Predicate` makes of a closure.
@Suite struct PredicateExpansionTests {
  @Test func `every node is a constant, and a literal stays beside its node`() {
    expectExpansion(
      of: #"""
        #Predicate<Task> { $0.title == "x" && ($0.note?.count ?? 0) > limit }
        """#,
      is: #"""
        SteadRecords._Predicate({ (_v0) in
            let _t0 = SteadRecords._PredicateNodes.keyPath(_v0, \.title)
            let _t1 = SteadRecords._PredicateNodes.equal(_t0, value: "x")
            let _t2 = SteadRecords._PredicateNodes.keyPath(_v0, \.note)
            let _t4 = SteadRecords._PredicateNodes.flatMap(_t2, { _v1 in
                let _t3 = SteadRecords._PredicateNodes.keyPath(_v1, \.count)
                return _t3
              })
            let _t5 = SteadRecords._PredicateNodes.coalesce(_t4, value: 0)
            let _t6 = SteadRecords._PredicateNodes.comparison(_t5, value: limit, .greaterThan)
            let _t7 = SteadRecords._PredicateNodes.conjunction(_t1, _t6)
            return _t7
          })
        """#)
  }

  @Test func `what is asked twice is one node`() {
    expectExpansion(
      of: #"""
        #Predicate { (task: Task) in task.due == nil || task.due! > .now }
        """#,
      is: #"""
        SteadRecords._Predicate({ (_v0) in
            let _t0 = SteadRecords._PredicateNodes.keyPath(_v0, \.due)
            let _t1 = SteadRecords._PredicateNodes.isNil(_t0)
            let _t2 = SteadRecords._PredicateNodes.forcedUnwrap(_t0)
            let _t3 = SteadRecords._PredicateNodes.comparison(_t2, value: .now, .greaterThan)
            let _t4 = SteadRecords._PredicateNodes.disjunction(_t1, _t3)
            return _t4
          })
        """#)
  }

  @Test func `statements become conditions`() {
    expectExpansion(
      of: #"""
        #ModelPredicate<Task> { task in
          let limit = 3
          if let owner = task.owner, owner.age > limit { return task.done }
          return task.rank == limit
        }
        """#,
      is: #"""
        SteadRecords._Predicate({ (_v0) in
            let _c0 = 3
            let _t1 = SteadRecords._PredicateNodes.keyPath(_v0, \.owner)
            let _t2 = SteadRecords._PredicateNodes.keyPath(_v0, \.rank)
            let _t3 = SteadRecords._PredicateNodes.equal(_t2, value: _c0)
            let _t4 = SteadRecords._PredicateNodes.forcedUnwrap(_t1)
            let _t5 = SteadRecords._PredicateNodes.keyPath(_t4, \.age)
            let _t6 = SteadRecords._PredicateNodes.comparison(_t5, value: _c0, .greaterThan)
            let _t7 = SteadRecords._PredicateNodes.keyPath(_v0, \.done)
            let _t8 = SteadRecords._PredicateNodes.conditional(_t6, _t7, _t3)
            let _t9 = SteadRecords._PredicateNodes.isNil(_t1)
            let _t10 = SteadRecords._PredicateNodes.conditional(_t9, _t3, _t8)
            return _t10
          })
        """#)
  }

  /// The other branch used to take a name from outside for the one that the condition binds.
  @Test func `what a condition binds is not seen in the other branch`() {
    expectExpansion(
      of: #"""
        #Predicate<Task> { if let rank = $0.rank, rank > 1 { true } else { rank == 5 } }
        """#,
      is: #"""
        SteadRecords._Predicate({ (_v0) in
            let _t0 = SteadRecords._PredicateNodes.keyPath(_v0, \.rank)
            let _t1 = SteadRecords._PredicateNodes.forcedUnwrap(_t0)
            let _t2 = SteadRecords._PredicateNodes.comparison(_t1, value: 1, .greaterThan)
            let _t3 = SteadRecords._PredicateNodes.isNil(_t0)
            let _t4 = SteadRecords._PredicateNodes.conditional(_t3, value: rank == 5, SteadRecords._PredicateNodes.conditional(_t2, values: true, rank == 5))
            return _t4
          })
        """#)
  }

  @Test func `calls without the model stay outside`() {
    expectExpansion(
      of: #"""
        #Predicate<Task> { names.map { $0.lowercased() }.contains($0.title) || $0.at > Date() - day() }
        """#,
      is: #"""
        SteadRecords._Predicate({ (_v0) in
            let _t0 = SteadRecords._PredicateNodes.keyPath(_v0, \.title)
            let _t1 = SteadRecords._PredicateNodes.contains(value: names.map {
                $0.lowercased()
              }, _t0)
            let _t2 = SteadRecords._PredicateNodes.keyPath(_v0, \.at)
            let _t3 = SteadRecords._PredicateNodes.comparison(_t2, value: Date() - day(), .greaterThan)
            let _t4 = SteadRecords._PredicateNodes.disjunction(_t1, _t3)
            return _t4
          })
        """#)
  }

  @Test func `an unwrapping behind its test waits for the predicate to run`() {
    expectExpansion(
      of: #"""
        #Predicate<Task> { name == nil || $0.title == name! || $0.title == other! }
        """#,
      is: #"""
        SteadRecords._Predicate({ (_v0) in
            let _t0 = SteadRecords._PredicateNodes.keyPath(_v0, \.title)
            let _t1 = SteadRecords._PredicateNodes.forcedUnwrap(SteadRecords._PredicateNodes.value(name))
            let _t2 = SteadRecords._PredicateNodes.equal(_t0, _t1)
            let _t3 = SteadRecords._PredicateNodes.disjunction(value: name == nil, _t2)
            let _t4 = SteadRecords._PredicateNodes.equal(_t0, value: other!)
            let _t5 = SteadRecords._PredicateNodes.disjunction(_t3, _t4)
            return _t5
          })
        """#)
  }

  @Test func `a range of the model becomes two comparisons`() {
    expectExpansion(
      of: #"""
        #Predicate<Task> { ($0.first..<$0.last).contains(5) }
        """#,
      is: #"""
        SteadRecords._Predicate({ (_v0) in
            let _t0 = SteadRecords._PredicateNodes.keyPath(_v0, \.first)
            let _t1 = SteadRecords._PredicateNodes.comparison(_t0, value: 5, .lessThanOrEqual)
            let _t2 = SteadRecords._PredicateNodes.keyPath(_v0, \.last)
            let _t3 = SteadRecords._PredicateNodes.comparison(value: 5, _t2, .lessThan)
            let _t4 = SteadRecords._PredicateNodes.conjunction(_t1, _t3)
            return _t4
          })
        """#)
  }

  @Test func `a choice of literals takes its type from what it is compared with`() {
    expectExpansion(
      of: #"""
        #Predicate<Task> { $0.price == ($0.done ? 1 : 2) }
        """#,
      is: #"""
        SteadRecords._Predicate({ (_v0) in
            let _t0 = SteadRecords._PredicateNodes.keyPath(_v0, \.price)
            let _t1 = SteadRecords._PredicateNodes.keyPath(_v0, \.done)
            let _t2 = SteadRecords._PredicateNodes.equal(_t0, SteadRecords._PredicateNodes.conditional(_t1, values: 1, 2))
            return _t2
          })
        """#)
  }

  /// The predicate had two parameters, and did not compile.
  @Test func `parameters of a closure in it are none of the predicate`() {
    expectExpansion(
      of: #"""
        #Predicate<Task> { $0.rank > ranks.reduce(0) { $0 + $1 } && $0.steps.contains { $0.rank == 1 } }
        """#,
      is: #"""
        SteadRecords._Predicate({ (_v0) in
            let _t0 = SteadRecords._PredicateNodes.keyPath(_v0, \.rank)
            let _t1 = SteadRecords._PredicateNodes.comparison(_t0, value: ranks.reduce(0) {
                $0 + $1
              }, .greaterThan)
            let _t2 = SteadRecords._PredicateNodes.keyPath(_v0, \.steps)
            let _t5 = SteadRecords._PredicateNodes.containsWhere(_t2, { (_v1) in
                let _t3 = SteadRecords._PredicateNodes.keyPath(_v1, \.rank)
                let _t4 = SteadRecords._PredicateNodes.equal(_t3, value: 1)
                return _t4
              })
            let _t6 = SteadRecords._PredicateNodes.conjunction(_t1, _t5)
            return _t6
          })
        """#)
  }

  /// The closures' own variables were renamed to the constant, too.
  @Test func `a name that a closure declares again is not the constant`() {
    expectExpansion(
      of: #"""
        #Predicate<Task> { task in
          let limit = 3
          return ranks.filter { limit in limit > 1 }.contains(task.rank)
            || task.rank == sum(limit) { [limit] in limit }
        }
        """#,
      is: #"""
        SteadRecords._Predicate({ (_v0) in
            let _c0 = 3
            let _t1 = SteadRecords._PredicateNodes.keyPath(_v0, \.rank)
            let _t2 = SteadRecords._PredicateNodes.contains(value: ranks.filter { limit in
                limit > 1
              }, _t1)
            let _t3 = SteadRecords._PredicateNodes.equal(_t1, value: sum(_c0) { [limit = _c0] in
                limit
              })
            let _t4 = SteadRecords._PredicateNodes.disjunction(_t2, _t3)
            return _t4
          })
        """#)
  }

  /// The value was copied as it is written, with a variable that the expansion lacks.
  @Test func `a capture may be of the variable of the closure around it`() {
    expectExpansion(
      of: #"""
        #Predicate<Task> { $0.steps.contains { [rank = $0.rank] step in step.rank > rank } }
        """#,
      is: #"""
        SteadRecords._Predicate({ (_v0) in
            let _t0 = SteadRecords._PredicateNodes.keyPath(_v0, \.steps)
            let _t4 = SteadRecords._PredicateNodes.containsWhere(_t0, { (_v1) in
                let _t1 = SteadRecords._PredicateNodes.keyPath(_v0, \.rank)
                let _t2 = SteadRecords._PredicateNodes.keyPath(_v1, \.rank)
                let _t3 = SteadRecords._PredicateNodes.comparison(_t2, _t1, .greaterThan)
                return _t3
              })
            return _t4
          })
        """#)
  }

  @Test func `closures have constants of their own`() {
    expectExpansion(
      of: #"""
        #Predicate<Task> { task in task.steps.contains { $0.rank > task.rank && !done.evaluate($0) } }
        """#,
      is: #"""
        SteadRecords._Predicate({ (_v0) in
            let _t0 = SteadRecords._PredicateNodes.keyPath(_v0, \.steps)
            let _t7 = SteadRecords._PredicateNodes.containsWhere(_t0, { (_v1) in
                let _t1 = SteadRecords._PredicateNodes.keyPath(_v1, \.rank)
                let _t2 = SteadRecords._PredicateNodes.keyPath(_v0, \.rank)
                let _t3 = SteadRecords._PredicateNodes.comparison(_t1, _t2, .greaterThan)
                let _t4 = SteadRecords._PredicateNodes.evaluate(value: done, _v1)
                let _t5 = SteadRecords._PredicateNodes.negation(_t4)
                let _t6 = SteadRecords._PredicateNodes.conjunction(_t3, _t5)
                return _t6
              })
            return _t7
          })
        """#)
  }
}
