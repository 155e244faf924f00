import ExampleSupport
import Foundation
import ShelfKit
import SwiftData

/// The main job, step by step: import, query, search, change, delete, reopen.
struct Tour {
  let report = Report()
  let url: URL

  private func open() throws -> ModelContainer {
    try ModelContainer(
      for: Package.self, Maintainer.self, Section.self, Dependency.self,
      configurations: ModelConfiguration(url: url))
  }

  func run(_ records: [PackageRecord]) throws {
    report.title("Import")
    do {
      let context = ModelContext(try open())
      let shelf = Shelf(context)
      try report.show("insert and save") {
        // Inserts each package with its maintainer, section and dependencies.
        try shelf.add(records)
      } giving: {
        try counts(context)
      }
      try query(context)
      try search(context)
      try change(context)
    }
    report.title("Reopen")
    let container = try report.show("open") {
      try ModelContainer(
        for: Package.self, Maintainer.self, Section.self, Dependency.self,
        configurations: ModelConfiguration(url: url))
    } giving: {
      "\($0.schema.entities.count) classes"
    }
    let context = ModelContext(container)
    try report.step("all objects") { ((), try counts(context)) }
  }

  private func counts(_ context: ModelContext) throws -> String {
    let packages = try context.fetchCount(FetchDescriptor<Package>())
    let dependencies = try context.fetchCount(FetchDescriptor<Dependency>())
    let maintainers = try context.fetchCount(FetchDescriptor<Maintainer>())
    let sections = try context.fetchCount(FetchDescriptor<Section>())
    return "\(packages) packages, \(dependencies) dependencies, \(maintainers) maintainers, "
      + "\(sections) sections"
  }

  // MARK: Queries

  private func query(_ context: ModelContext) throws {
    report.title("Queries")
    let section = try mostUsedSection(context)
    var largest = FetchDescriptor<Package>()
    let found = try report.show("largest of section \(section)") {
      largest.predicate = #Predicate { $0.section?.name == section && $0.installedSize > 100 }
      largest.sortBy = [SortDescriptor(\.installedSize, order: .reverse), SortDescriptor(\.name)]
      largest.fetchLimit = 5
      return try context.fetch(largest)
    } giving: {
      "\($0.count) packages"
    }
    for package in found {
      report.row(package.installedSize, "\(package.name): \(package.summary)")
    }
    try report.show("SQL") {
      try context.sql(for: largest)
    } giving: {
      $0
    }

    let needed = try mostNeeded(context)
    try report.show("packages that need \(needed)") {
      let users = FetchDescriptor<Package>(
        predicate: #Predicate { package in
          package.dependencies.contains { need in need.alternatives.contains { $0.name == needed } }
        })
      return try context.fetchCount(users)
    } giving: {
      "\($0)"
    }
    try report.show("required or important, not of section \(section)") {
      let required = Priority.required
      let others = FetchDescriptor<Package>(
        predicate: #Predicate {
          ($0.priority == required || $0.priority == .important) && $0.section?.name != section
        })
      return try context.fetchCount(others)
    } giving: {
      "\($0) packages"
    }
  }

  private func mostUsedSection(_ context: ModelContext) throws -> String {
    let largest = try report.show("the section with the most packages") {
      let sections = try context.fetch(FetchDescriptor<Section>())
      return sections.max { $0.packages.count < $1.packages.count }
    } giving: { (section: Section?) in
      section?.name ?? "none"
    }
    return largest?.name ?? ""
  }

  private func mostNeeded(_ context: ModelContext) throws -> String {
    let packages = try context.fetch(FetchDescriptor<Package>())
    return packages.max { $0.satisfies.count < $1.satisfies.count }?.name ?? ""
  }

  private func search(_ context: ModelContext) throws {
    report.title("Full text")
    for words in ["compress*", "shared library", "test"] {
      let found = try report.show("\"\(words)\"") {
        try context.search(Package.self, for: words, limit: 3)
      } giving: {
        "best \($0.count)"
      }
      for result in found {
        let snippet = result.snippet.replacing("\n", with: " ")
        report.row("", "\(result.model.name): \(snippet)")
      }
    }
  }

  // MARK: Changes

  private func change(_ context: ModelContext) throws {
    report.title("Changes")
    try report.show("rename every maintainer") {
      let maintainers = try context.fetch(FetchDescriptor<Maintainer>())
      for maintainer in maintainers { maintainer.name = maintainer.name.uppercased() }
      try context.save()
      return maintainers
    } giving: {
      "\($0.count) rows updated"
    }
    try deletePackage(context)
    try deleteMaintainer(context)
    try report.step("left") { ((), try counts(context)) }
  }

  private func deletePackage(_ context: ModelContext) throws {
    let packages = try context.fetch(FetchDescriptor<Package>())
    guard let package = packages.max(by: { $0.dependencies.count < $1.dependencies.count }) else {
      return
    }
    let (name, count) = (package.name, package.dependencies.count)
    try report.show("delete a package, which cascades to its dependencies") {
      context.delete(package)
      try context.save()
    } giving: {
      "\(name), and with it \(count) dependencies"
    }
  }

  private func deleteMaintainer(_ context: ModelContext) throws {
    let maintainers = try context.fetch(FetchDescriptor<Maintainer>())
    guard let busiest = maintainers.max(by: { $0.packages.count < $1.packages.count }) else {
      return
    }
    let (name, packages) = (busiest.name, busiest.packages)
    try report.show("delete a maintainer, whose packages lose theirs") {
      context.delete(busiest)
      try context.save()
    } giving: {
      "\(name), the maintainer of \(packages.count { $0.maintainer == nil }) packages"
    }
  }
}
