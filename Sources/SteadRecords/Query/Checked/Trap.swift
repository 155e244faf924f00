/// Thrown where Swift would trap: by the nodes of predicates that are evaluated in memory.
struct Trap: Error {}
