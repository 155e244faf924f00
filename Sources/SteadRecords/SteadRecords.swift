// SteadRecords is SwiftData off Apple's systems: models, contexts, predicates and migrations on SQLite.
// A program imports it as `SwiftData`, a module of one line.
//
// The folders, from the program down to the file. A folder uses those below it, and Foundation/.
//
//   Macros        what `@Model`, `#Predicate` and the others are, and what their expansions call
//   Results       live results: `@Query`, `ResultsObserver`, `updates(of:)`; counts, sums and extremes
//   Stores        `DefaultStore` and `JSONStore`, stores that can be used on their own
//   Exchange      rows as values, for SteadTransfer, which moves data past the objects
//   History       what a store's transactions changed, and their observers
//   Migration     a store goes through the stages of a migration plan
//   Context       `ModelContext`, and its engine `ObjectGraph`: which objects exist, what they refer to,
//                 what changed here and in other contexts; custom stores, and their mirrors
//   Snapshots     an object's values, as a custom store gets and gives them
//   Query         a fetch descriptor becomes a plan, and its predicate SQL
//   Save          pending changes become a plan, and the plan rows
//   Store         SQLite files: connections, tables, statements, and the commits of this process
//   Schema        the classes of a schema become tables and columns
//   Model         what an object consists of: its state, and a slot for each property
//   Row           a slot reads and writes a column
//   Foundation    what Foundation lacks off Apple's systems
//
// The way of the data, and where to start reading:
//
// - A fetch is `FetchRunner.fetch`. `PredicateTranslation` writes the SQL, `ReaderPool` provides a connection, and
//   `ObjectLoader` makes objects from the rows.
// - A change is `_willWrite` and `_didWrite` in Model/ModelAccess.swift. For a relationship it continues in
//   `RelationshipEditor`, where `Inverses` derives its effects. `PendingChanges` notes it.
// - A save is `Saver.save`, and each attempt a `SaveRun`. `SavePlan` determines what to write, `SaveWriter` writes it in
//   a transaction of `StoreWriter` and returns a `SaveResult`, and `CommitLog` passes it to other contexts.
// - A store is opened in `RecordStore.init`: `StoreFile` checks the file, `StorePreparation` its tables.
//
// ARCHITECTURE.md explains why it is built this way, and Documentation/RecordStore.md what the file contains.
